/** Creates and deletes pods on behalf of their owner, and says in Events of the owner what was done. */
import { isApiError } from "../../api/api-error.ts";
import type { ApiObject, Manifest } from "../../api/api-object.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import { slowStart } from "../../runtime/slow-start.ts";

export interface PodChanges<T> {
  /** What was done before something failed, or all of it. */
  readonly done: readonly T[];
  readonly errors: readonly unknown[];
}

/** In batches that grow; nothing is tried after a batch in which something failed. */
export async function createPods(
  owner: ApiObject,
  manifests: readonly Manifest<Pod>[],
  context: ReconcileContext,
): Promise<PodChanges<Pod>> {
  const created: Pod[] = [];
  const { errors } = await slowStart(manifests.length, async (at) => {
    try {
      const pod = await context.client(Pod).create(manifests[at] ?? {});
      created.push(pod);
      const message = `Created pod: ${pod.metadata.name}`;
      context.event(owner, { type: "Normal", reason: "SuccessfulCreate", message });
    } catch (error) {
      if (isNamespaceEnding(error)) return;
      const message = `Error creating: ${textOf(error)}`;
      context.event(owner, { type: "Warning", reason: "FailedCreate", message });
      throw error;
    }
  });
  return { done: created, errors };
}

/** All of them at once: callers bound how many. A pod that is gone already is as good as deleted. */
export async function deletePods(
  owner: ApiObject,
  pods: readonly Pod[],
  context: ReconcileContext,
): Promise<PodChanges<Pod>> {
  const deleted: Pod[] = [];
  const results = await Promise.allSettled(
    pods.map(async (pod) => {
      await deletePod(owner, pod, context);
      deleted.push(pod);
    }),
  );
  return { done: deleted, errors: failuresOf(results) };
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

/** Nothing can be made there any more, and nothing is wrong with that. */
export function isNamespaceEnding(error: unknown): boolean {
  return isApiError(error, "Forbidden") && error.message.includes("because it is being terminated");
}

export function failuresOf(results: readonly PromiseSettledResult<unknown>[]): readonly unknown[] {
  return results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
