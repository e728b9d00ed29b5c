/**
 * Decides whether a running pod's memory limits can be lowered. A container above its new limit would be
 * killed, so the resize waits until usage falls. Error texts equal the kubelet's.
 */
import type { Container } from "../../api/generated/types/core-v1.ts";
import { resourceNumber } from "../../resources/pod/resource-number.ts";
import type { Limits } from "./container-record.ts";
import { compareSize } from "./container-size.ts";
import { recordOf, type PodFacts } from "./pod-facts.ts";
import { containersOf, type RoleContainer } from "./restart-policy.ts";

interface Shrinking {
  /** Bytes; undefined without a limit. */
  readonly limit: number | undefined;
  readonly before: number | undefined;
  readonly used: number;
}

/** Error text; undefined when the running containers can be resized. */
export function findShrinkProblem(facts: PodFacts): string | undefined {
  const sized = containersOf(facts.pod).filter(({ container }) => isSized(facts, container));
  if (sized.length === 0) return undefined;
  const problems = [
    ...tooSmall("pod", wholeOf(facts)),
    ...sized.flatMap(({ container }) =>
      tooSmall(`container "${container.name}"`, memoryOf(facts, container)),
    ),
  ];
  const [first, ...others] = problems;
  if (first === undefined) return undefined;
  const text = others.length === 0 ? first : `[${problems.join(", ")}]`;
  return `cannot decrease memory limits: ${text}`;
}

/** Pod-level limits in effect: the new ones, or the earlier ones while memory usage blocks the resize. */
export function wholeLimits(facts: PodFacts): Limits {
  const { limits } = facts.pod.spec.resources ?? {};
  return findShrinkProblem(facts) === undefined ? limits : limitsBefore(facts);
}

/** True for a resize without a restart. */
function isSized(facts: PodFacts, container: Container): boolean {
  const record = recordOf(facts, container.name);
  const { phase } = record;
  if (phase.type !== "running" || phase.killAt !== undefined) return false;
  return compareSize(container, record, facts.pod.spec.resources?.limits) === "other";
}

function tooSmall(what: string, { limit, before = Infinity, used }: Shrinking): readonly string[] {
  if (limit === undefined || limit >= before || used < limit) return [];
  return [`attempting to set ${what} memory limit (${limit}) below current usage (${used})`];
}

/** The pod's limit is its pod-level limit, or the sum when all lasting containers have one. */
function wholeOf(facts: PodFacts): Shrinking {
  const all = stayingIn(facts).map(({ container }) => memoryOf(facts, container));
  return {
    limit: memoryIn(facts.pod.spec.resources?.limits) ?? sumOf(all.map(({ limit }) => limit)),
    before: memoryIn(limitsBefore(facts)) ?? sumOf(all.map(({ before }) => before)),
    used: sumOf(all.map(({ used }) => used)) ?? 0,
  };
}

function memoryOf(facts: PodFacts, container: Container): Shrinking {
  const { resources } = container;
  const given = recordOf(facts, container.name).resources ?? resources;
  return {
    limit: memoryIn(resources.limits),
    before: memoryIn(given.limits),
    used: facts.memoryUsedBy(container),
  };
}

function stayingIn({ pod }: PodFacts): readonly RoleContainer[] {
  return containersOf(pod).filter(({ role }) => role === "main" || role === "sidecar");
}

/** Pod-level limits at the last start or resize of its containers. */
function limitsBefore(facts: PodFacts): Limits {
  const [first] = stayingIn(facts);
  return first && recordOf(facts, first.container.name).podLimits;
}

function memoryIn(limits: Limits): number | undefined {
  const text = limits?.["memory"];
  return text === undefined ? undefined : resourceNumber("memory", text);
}

function sumOf(amounts: readonly (number | undefined)[]): number | undefined {
  let sum = 0;
  for (const amount of amounts) {
    if (amount === undefined) return undefined;
    sum += amount;
  }
  return sum;
}
