/** Deletes all objects in a namespace and reports the remaining ones. */
import type { ApiObject } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import type { Namespace, Pod } from "../../api/generated/types/core-v1.ts";
import { plainNumber } from "../../api/values/plain-number.ts";
import { inSlices } from "../../base/loop/in-slices.ts";
import type { YieldingWork } from "../../base/loop/yielding-work.ts";
import type { Client } from "../../client/client.ts";
import { isTerminal } from "../../resources/pod/pod-state.ts";
import { readServedResources } from "../served-resources.ts";
import type { ServedResource, ServedResources } from "../served-resources.ts";

export interface ContentReport {
  /** Groups whose discovery failed, with the error. */
  readonly undiscovered: ReadonlyMap<string, Error>;
  /** Failed deletions, and resources whose objects unexpectedly remain. */
  readonly failures: readonly Error[];
  /** Errors that require a retry soon. */
  readonly errors: readonly Error[];
  /** Number of remaining objects by resource, such as `pods.` or `deployments.apps`. */
  readonly remaining: ReadonlyMap<string, number>;
  readonly finalizers: ReadonlyMap<string, number>;
  /** Grace period of running pods; 0 once it has passed. */
  readonly graceSeconds: number;
  /** Estimated time until the remaining objects are gone. */
  readonly waitSeconds: number;
}

export interface ContentPlace {
  /** Name of the namespace. */
  readonly namespace: string;
  /** Grace period of running pods; 0 once it has passed. */
  readonly graceSeconds: number;
}

/** Upstream's estimate of the time that a finalizer's owner needs. */
const FINALIZER_SECONDS = 15;
/** Upper bound of resources emptied concurrently. */
const PARALLEL = 8;

export async function removeContent(
  client: Client,
  { namespace: name, graceSeconds }: ContentPlace,
): Promise<ContentReport> {
  const found = await discover(client);
  const resources = found.preferred.filter(
    ({ namespaced, verbs }) => namespaced && verbs.includes("delete") && verbs.includes("list"),
  );
  const isPods = ({ group, plural }: ServedResource): boolean => group === "" && plural === "pods";
  const outcomes = await emptyAll(client, name, resources.filter(isPods));
  // Other objects are deleted after the pods: running pods may need them.
  if (outcomes.every(({ items, error }) => items.length === 0 && error === undefined))
    outcomes.push(
      ...(await emptyAll(
        client,
        name,
        resources.filter((each) => !isPods(each)),
      )),
    );
  return reportOf({ outcomes, undiscovered: found.failures, graceSeconds, name });
}

async function discover(client: Client): Promise<Pick<ServedResources, "preferred" | "failures">> {
  try {
    return await readServedResources(client);
  } catch (error) {
    return { preferred: [], failures: new Map([["", error as Error]]) };
  }
}

/** Longest grace period of the running pods of a namespace; 0 once it has passed since the namespace's deletion. */
export function* remainingGrace(
  { metadata }: Namespace,
  pods: Iterable<Pod>,
  now: number,
): YieldingWork<number> {
  let longest = 0;
  yield* inSlices(pods, (pod) => {
    if (isTerminal(pod)) return;
    longest = Math.max(longest, plainNumber(pod.spec.terminationGracePeriodSeconds ?? 0));
  });
  const elapsedMs = now - Date.parse(metadata.deletionTimestamp ?? "");
  return elapsedMs >= longest * 1000 ? 0 : longest;
}

interface Outcome {
  readonly resource: ServedResource;
  /** Objects that remain. */
  readonly items: readonly ApiObject[];
  readonly error: Error | undefined;
}

async function emptyAll(
  client: Client,
  namespace: string,
  resources: readonly ServedResource[],
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let at = 0; at < resources.length; at += PARALLEL) {
    const batch = resources.slice(at, at + PARALLEL);
    outcomes.push(...(await Promise.all(batch.map((resource) => empty(client, namespace, resource)))));
  }
  return outcomes;
}

async function empty(client: Client, namespace: string, resource: ServedResource): Promise<Outcome> {
  const list = async (): Promise<readonly ApiObject[]> => {
    const items: ApiObject[] = [];
    for await (const page of client(resource).pages({ namespace, form: "metadata" }))
      items.push(...page.items);
    return items;
  };
  try {
    const before = await list();
    if (before.length === 0) return { resource, items: [], error: undefined };
    await deleteAll(client, resource, before);
    return { resource, items: await list(), error: undefined };
  } catch (error) {
    // A resource that is no longer served has no objects.
    if (isApiError(error, "NotFound") || isApiError(error, "MethodNotAllowed"))
      return { resource, items: [], error: undefined };
    return { resource, items: [], error: error as Error };
  }
}

async function deleteAll(
  client: Client,
  resource: ServedResource,
  items: readonly ApiObject[],
): Promise<void> {
  const { namespace = "" } = items[0]?.metadata ?? {};
  const propagationPolicy = "Background";
  if (resource.verbs.includes("deletecollection")) {
    await client(resource).deleteCollection({ namespace, propagationPolicy });
    return;
  }
  for (const { metadata } of items) {
    try {
      await client(resource).delete({ namespace, name: metadata.name ?? "" }, { propagationPolicy });
    } catch (error) {
      if (!isApiError(error, "NotFound")) throw error;
    }
  }
}

interface Findings {
  readonly outcomes: readonly Outcome[];
  readonly undiscovered: ReadonlyMap<string, Error>;
  readonly graceSeconds: number;
  readonly name: string;
}

function reportOf({ outcomes, undiscovered, graceSeconds, name }: Findings): ContentReport {
  const left = outcomes.filter(({ items }) => items.length > 0);
  const refused = outcomes.flatMap(({ error }) => error ?? []);
  const finalizers = countFinalizers(left);
  const unexpected = left
    .filter(({ resource, items }) => !(isPod(resource) && graceSeconds > 0) && !items.some(isFinalized))
    .map(({ resource }) => new Error(unexpectedText(name, resource)));
  return {
    undiscovered,
    failures: [...refused, ...unexpected],
    errors: [...undiscovered.values(), ...refused],
    remaining: new Map(left.map(({ resource, items }) => [resourceName(resource), items.length])),
    finalizers,
    graceSeconds: left.some(({ resource }) => isPod(resource)) ? graceSeconds : 0,
    waitSeconds: Math.max(graceSeconds, FINALIZER_SECONDS),
  };
}

function isPod({ group, plural }: ServedResource): boolean {
  return group === "" && plural === "pods";
}

function isFinalized({ metadata }: ApiObject): boolean {
  return (metadata.finalizers ?? []).length > 0;
}

function countFinalizers(left: readonly Outcome[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { items } of left) {
    for (const finalizer of items.flatMap(({ metadata }) => metadata.finalizers ?? []))
      counts.set(finalizer, (counts.get(finalizer) ?? 0) + 1);
  }
  return counts;
}

function resourceName({ plural, group }: ServedResource): string {
  return `${plural}.${group}`;
}

function unexpectedText(namespace: string, { apiVersion, plural }: ServedResource): string {
  const version = apiVersion.includes("/") ? apiVersion : `/${apiVersion}`;
  return `unexpected items still remain in namespace: ${namespace} for gvr: ${version}, Resource=${plural}`;
}
