/** Creates and deletes pods on behalf of their owner, and says in Events of the owner what was done. */
import type { ApiObject, Manifest } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import { errorText } from "../../base/error-text.ts";
import type { ReconcileContext } from "../../runtime/controller/controller.ts";
import { slowStart } from "../../runtime/controller/slow-start.ts";
import { isNamespaceEnding } from "../ending-namespace.ts";

/** Requests of one owner that are under way at a time. */
const AT_ONCE_MAX = 100;

export interface PodChanges<T> {
  /** What was done before something failed, or all of it. */
  readonly done: readonly T[];
  readonly errors: readonly unknown[];
}

export interface CreatedPods extends PodChanges<Pod> {
  /** Nothing can be made any more. */
  readonly isNamespaceEnding: boolean;
}

/** In batches that grow; nothing is tried after a batch in which something failed. */
export async function createPods(
  owner: ApiObject,
  manifests: readonly Manifest<Pod>[],
  context: ReconcileContext,
): Promise<CreatedPods> {
  const created: Pod[] = [];
  let isEnding = false;
  const { errors } = await slowStart(manifests.length, async (at) => {
    try {
      const pod = await context.client(Pod).create(manifests[at] ?? {});
      created.push(pod);
      const message = `Created pod: ${pod.metadata.name}`;
      context.event(owner, { type: "Normal", reason: "SuccessfulCreate", message });
    } catch (error) {
      if (isNamespaceEnding(error)) {
        isEnding = true;
        return;
      }
      const message = `Error creating: ${textOf(error)}`;
      context.event(owner, { type: "Warning", reason: "FailedCreate", message });
      throw error;
    }
  });
  return { done: created, errors, isNamespaceEnding: isEnding };
}

/** A pod that is gone already is as good as deleted. */
export async function deletePods(
  owner: ApiObject,
  pods: readonly Pod[],
  context: ReconcileContext,
): Promise<PodChanges<Pod>> {
  return await changeEach(pods, (pod) => deletePod(owner, pod, context));
}

/** A bounded number at a time. All are tried, also when one of them fails. */
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
