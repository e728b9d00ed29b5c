/** Creates and deletes pods on behalf of their owner, and records Events on the owner. */
import type { ApiObject, Manifest } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import { errorText } from "../../base/error-text.ts";
import type { ReconcileContext } from "../../runtime/controller/controller.ts";
import { slowStart } from "../../runtime/controller/slow-start.ts";
import { isNamespaceTerminating } from "../terminating-namespace.ts";

/** Upper bound of requests in flight per owner. */
const AT_ONCE_MAX = 100;

export interface PodChanges<T> {
  /** Items changed successfully. */
  readonly done: readonly T[];
  readonly errors: readonly unknown[];
}

export interface CreatedPods extends PodChanges<Pod> {
  /** The namespace accepts no new objects. */
  readonly isNamespaceTerminating: boolean;
}

/** Creates in batches of growing size; stops after a batch with a failure. A terminating namespace is no error. */
export async function createPods(
  owner: ApiObject,
  manifests: readonly Manifest<Pod>[],
  context: ReconcileContext,
): Promise<CreatedPods> {
  const created: Pod[] = [];
  const { errors } = await slowStart(manifests.length, async (at) => {
    try {
      const pod = await context.client(Pod).create(manifests[at] ?? {});
      created.push(pod);
      const message = `Created pod: ${pod.metadata.name}`;
      context.event(owner, { type: "Normal", reason: "SuccessfulCreate", message });
    } catch (error) {
      if (isNamespaceTerminating(error)) throw error;
      const message = `Error creating: ${textOf(error)}`;
      context.event(owner, { type: "Warning", reason: "FailedCreate", message });
      throw error;
    }
  });
  const failures = errors.filter((error) => !isNamespaceTerminating(error));
  return { done: created, errors: failures, isNamespaceTerminating: failures.length < errors.length };
}

/** A pod that no longer exists counts as deleted. */
export async function deletePods(
  owner: ApiObject,
  pods: readonly Pod[],
  context: ReconcileContext,
): Promise<PodChanges<Pod>> {
  return await changeEach(pods, (pod) => deletePod(owner, pod, context));
}

/** Runs a bounded number of changes concurrently. A failure does not stop the others. */
export async function changeEach<T>(
  items: readonly T[],
  change: (item: T) => Promise<unknown>,
): Promise<PodChanges<T>> {
  const done: T[] = [];
  const errors: unknown[] = [];
  for (let first = 0; first < items.length; first += AT_ONCE_MAX) {
    const batch = items.slice(first, first + AT_ONCE_MAX);
    const results = await Promise.allSettled(batch.map((item) => change(item)));
    for (const [at, result] of results.entries()) {
      if (result.status === "rejected") errors.push(result.reason);
      else done.push(...batch.slice(at, at + 1));
    }
  }
  return { done, errors };
}

async function deletePod(owner: ApiObject, pod: Pod, context: ReconcileContext): Promise<void> {
  try {
    await context.client(Pod).delete(pod);
    const message = `Deleted pod: ${pod.metadata.name}`;
    context.event(owner, { type: "Normal", reason: "SuccessfulDelete", message });
  } catch (error) {
    if (isApiError(error, "NotFound")) return;
    const message = `Error deleting: ${textOf(error)}`;
    context.event(owner, { type: "Warning", reason: "FailedDelete", message });
    throw error;
  }
}

export function textOf(error: unknown): string {
  return errorText(error);
}
