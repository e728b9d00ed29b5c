/** Applies a LimitRange to a pod or a claim: sets defaults of containers and checks bounds. */
import type {
  Container,
  LimitRange,
  LimitRangeItem,
  PersistentVolumeClaim,
  Pod,
  PodSpec,
} from "../../api/generated/types/core-v1.ts";
import { compareQuantities, parseQuantity, quantityToNumber } from "../../api/values/quantity.ts";
import { podTotals } from "../pod/pod-totals.ts";
import type { Draft } from "../rules/kind-rules.ts";
import type { ResourceList } from "../rules/resource-amount.ts";

interface DefaultedSpec {
  readonly spec: Draft<PodSpec>;
  /** The defaults that were set, as the pod's annotation lists them; empty when none was. */
  readonly notes: readonly string[];
}

/**
 * A copy of the spec in which containers have the default requests and limits. The argument stays unchanged.
 */
export function withContainerDefaults(spec: Draft<PodSpec>, { spec: { limits } }: LimitRange): DefaultedSpec {
  const requests: Record<string, string> = {};
  const maxima: Record<string, string> = {};
  for (const item of limits) {
    if (item.type !== "Container") continue;
    Object.assign(requests, item.defaultRequest);
    Object.assign(maxima, item.default);
  }
  const notes: string[] = [];
  const complete = (container: Draft<Container>, title: string): Draft<Container> => {
    const { resources } = container;
    const asked = filled(resources.requests, requests);
    const bounded = filled(resources.limits, maxima);
    if (asked.added.length > 0)
      notes.push(`${asked.added.join(", ")} request for ${title} ${container.name}`);
    if (bounded.added.length > 0)
      notes.push(`${bounded.added.join(", ")} limit for ${title} ${container.name}`);
    if (asked.added.length + bounded.added.length === 0) return container;
    return {
      ...container,
      resources: { ...resources, ...named("limits", bounded), ...named("requests", asked) },
    };
  };
  const containers = spec.containers.map((container) => complete(container, "container"));
  const initContainers = spec.initContainers?.map((container) => complete(container, "init container"));
  if (notes.length === 0) return { spec, notes };
  return { spec: { ...spec, containers, ...(initContainers !== undefined && { initContainers }) }, notes };
}

interface Filled {
  readonly list: ResourceList | undefined;
  /** Names that were missing, sorted. */
  readonly added: readonly string[];
}

function filled(list: ResourceList | undefined, defaults: ResourceList): Filled {
  const added = Object.keys(defaults)
    .filter((name) => list?.[name] === undefined)
    .toSorted();
  return { list: added.length === 0 ? list : { ...defaults, ...list }, added };
}

function named(field: "limits" | "requests", { list }: Filled): { [field]?: Draft<ResourceList> } {
  return list === undefined ? {} : { [field]: { ...list } };
}

/** Upstream's texts, each with the bound and the requested amount. */
export function podLimitProblems(pod: Pod, { spec: { limits } }: LimitRange): readonly string[] {
  return limits.flatMap((item) => {
    if (item.type === "Pod") return problemsOf(item, podTotals(pod.spec));
    if (item.type !== "Container") return [];
    const all = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
    return all.flatMap(({ resources: { requests = {}, limits: maxima = {} } }) =>
      problemsOf(item, { requests, limits: maxima }),
    );
  });
}

/** Only requests are checked: limits have no meaning for a claim. */
export function claimLimitProblems(
  { spec }: PersistentVolumeClaim,
  { spec: { limits } }: LimitRange,
): readonly string[] {
  const requests = spec.resources.requests ?? {};
  return limits
    .filter(({ type }) => type === "PersistentVolumeClaim")
    .flatMap(({ type, min, max }) => [
      ...each(min, (name, bound) => below({ type, name, bound }, requests[name], undefined)),
      ...each(max, (name, bound) => claimAbove({ type, name, bound }, requests[name])),
    ]);
}

interface Amounts {
  readonly requests: ResourceList;
  readonly limits: ResourceList;
}

function problemsOf(item: LimitRangeItem, { requests, limits }: Amounts): readonly string[] {
  const { type, min, max, maxLimitRequestRatio } = item;
  return [
    ...each(min, (name, bound) => below({ type, name, bound }, requests[name], limits[name])),
    ...each(max, (name, bound) => above({ type, name, bound }, requests[name], limits[name])),
    ...each(maxLimitRequestRatio, (name, bound) =>
      disproportion({ type, name, bound }, requests[name], limits[name]),
    ),
  ];
}

function each(
  list: ResourceList | undefined,
  problemOf: (name: string, bound: string) => string | undefined,
): readonly string[] {
  return Object.entries(list ?? {}).flatMap(([name, bound]) => problemOf(name, bound) ?? []);
}

interface Bound {
  readonly type: string;
  readonly name: string;
  readonly bound: string;
}

type Amount = string | undefined;

function below({ type, name, bound }: Bound, request: Amount, limit: Amount): string | undefined {
  const rule = `minimum ${name} usage per ${type} is ${bound}`;
  if (request === undefined) return `${rule}.  No request is specified`;
  if (isGreater(bound, request)) return `${rule}, but request is ${request}`;
  return limit !== undefined && isGreater(bound, limit) ? `${rule}, but limit is ${limit}` : undefined;
}

function above({ type, name, bound }: Bound, request: Amount, limit: Amount): string | undefined {
  const rule = `maximum ${name} usage per ${type} is ${bound}`;
  if (limit === undefined) return `${rule}.  No limit is specified`;
  if (isGreater(limit, bound)) return `${rule}, but limit is ${limit}`;
  return request !== undefined && isGreater(request, bound)
    ? `${rule}, but request is ${request}`
    : undefined;
}

function claimAbove({ type, name, bound }: Bound, request: Amount): string | undefined {
  const rule = `maximum ${name} usage per ${type} is ${bound}`;
  if (request === undefined) return `${rule}.  No request is specified`;
  return isGreater(request, bound) ? `${rule}, but request is ${request}` : undefined;
}

function disproportion({ type, name, bound }: Bound, request: Amount, limit: Amount): string | undefined {
  const rule = `${name} max limit to request ratio per ${type} is ${bound}`;
  const asked = request === undefined ? 0 : quantityToNumber(parseQuantity(request));
  if (asked === 0) return `${rule}, but no request is specified or request is 0`;
  const most = limit === undefined ? 0 : quantityToNumber(parseQuantity(limit));
  if (most === 0) return `${rule}, but no limit is specified or limit is 0`;
  const ratio = most / asked;
  if (ratio <= quantityToNumber(parseQuantity(bound))) return undefined;
  return `${rule}, but provided ratio is ${ratio.toFixed(6)}`;
}

function isGreater(left: string, right: string): boolean {
  return compareQuantities(parseQuantity(left), parseQuantity(right)) > 0;
}
