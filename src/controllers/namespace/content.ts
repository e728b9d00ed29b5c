/** Deletes all objects in a namespace and reports the remaining ones. */
import type { ApiObject } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import type { Namespace, Pod } from "../../api/generated/types/core-v1.ts";
import { plainNumber } from "../../api/values/plain-number.ts";
import { inSlices } from "../../base/loop/in-slices.ts";
import type { YieldingWork } from "../../base/loop/yielding-work.ts";
import type { Client, ResourceClient } from "../../client/client.ts";
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
  if (outcomes.every(({ left, error }) => left.count === 0 && error === undefined))
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

/** Objects of a resource that remain. Counts only: copies of all objects of a large namespace would fill the heap. */
interface Remainder {
  readonly count: number;
  /** Objects with a finalizer, by its name. */
  readonly finalizers: ReadonlyMap<string, number>;
}

interface Outcome {
  readonly resource: ServedResource;
  readonly left: Remainder;
  readonly error: Error | undefined;
}

const NOTHING: Remainder = { count: 0, finalizers: new Map() };

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
  const objects = client(resource);
  try {
    const { items } = await objects.list({ namespace, form: "metadata", limit: 1 });
    if (items.length === 0) return { resource, left: NOTHING, error: undefined };
    if (resource.verbs.includes("deletecollection"))
      await objects.deleteCollection({ namespace, propagationPolicy: PROPAGATION });
    else await deleteOneByOne(objects, namespace);
    return { resource, left: await countLeft(objects, namespace), error: undefined };
  } catch (error) {
    // A resource that is no longer served has no objects.
    const isAbsent = isApiError(error, "NotFound") || isApiError(error, "MethodNotAllowed");
    return { resource, left: NOTHING, error: isAbsent ? undefined : (error as Error) };
  }
}

const PROPAGATION = "Background";

async function deleteOneByOne(objects: ResourceClient<ApiObject>, namespace: string): Promise<void> {
  for await (const { items } of objects.pages({ namespace, form: "metadata" }))
    for (const { metadata } of items) await deleteOne(objects, { namespace, name: metadata.name ?? "" });
}

async function deleteOne(
  objects: ResourceClient<ApiObject>,
  reference: { readonly namespace: string; readonly name: string },
): Promise<void> {
  try {
    await objects.delete(reference, { propagationPolicy: PROPAGATION });
  } catch (error) {
    if (!isApiError(error, "NotFound")) throw error;
  }
}

async function countLeft(objects: ResourceClient<ApiObject>, namespace: string): Promise<Remainder> {
  const finalizers = new Map<string, number>();
  let count = 0;
  for await (const { items } of objects.pages({ namespace, form: "metadata" })) {
    count += items.length;
    for (const finalizer of items.flatMap(({ metadata }) => metadata.finalizers ?? []))
      finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
  }
  return { count, finalizers };
}

interface Findings {
  readonly outcomes: readonly Outcome[];
  readonly undiscovered: ReadonlyMap<string, Error>;
  readonly graceSeconds: number;
  readonly name: string;
}

function reportOf({ outcomes, undiscovered, graceSeconds, name }: Findings): ContentReport {
  const remaining = outcomes.filter(({ left }) => left.count > 0);
  const refused = outcomes.flatMap(({ error }) => error ?? []);
  const unexpected = remaining
    .filter(({ resource, left }) => !(isPod(resource) && graceSeconds > 0) && left.finalizers.size === 0)
    .map(({ resource }) => new Error(unexpectedText(name, resource)));
  return {
    undiscovered,
    failures: [...refused, ...unexpected],
    errors: [...undiscovered.values(), ...refused],
    remaining: new Map(remaining.map(({ resource, left }) => [resourceName(resource), left.count])),
    finalizers: sumOfFinalizers(remaining),
    graceSeconds: remaining.some(({ resource }) => isPod(resource)) ? graceSeconds : 0,
    waitSeconds: Math.max(graceSeconds, FINALIZER_SECONDS),
  };
}

function isPod({ group, plural }: ServedResource): boolean {
  return group === "" && plural === "pods";
}

function sumOfFinalizers(outcomes: readonly Outcome[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const [finalizer, count] of outcomes.flatMap(({ left }) => [...left.finalizers]))
    sums.set(finalizer, (sums.get(finalizer) ?? 0) + count);
  return sums;
}

function resourceName({ plural, group }: ServedResource): string {
  return `${plural}.${group}`;
}

function unexpectedText(namespace: string, { apiVersion, plural }: ServedResource): string {
  const version = apiVersion.includes("/") ? apiVersion : `/${apiVersion}`;
  return `unexpected items still remain in namespace: ${namespace} for gvr: ${version}, Resource=${plural}`;
}
