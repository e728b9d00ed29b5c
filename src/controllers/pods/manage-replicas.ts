/** Carries out a ReplicaPlan and records Events on the owner. */
import type { ApiObject } from "../../api/api-object.ts";
import type { PodTemplateSpec } from "../../api/generated/types/core-v1.ts";
import type { ReconcileContext } from "../../runtime/controller/controller.ts";
import type { ReplicaPlan } from "./plan-replicas.ts";
import { createPods, deletePods, textOf } from "./pod-changes.ts";
import { podFromTemplate } from "./pod-from-template.ts";
import type { ReplicaFailure } from "./replica-failure.ts";

export async function manageReplicas(
  owner: ApiObject,
  template: PodTemplateSpec,
  { plan, context }: { readonly plan: ReplicaPlan; readonly context: ReconcileContext },
): Promise<ReplicaFailure | undefined> {
  const { missing, victims, counts } = plan;
  const { replicas } = counts;
  context.because(`wants ${String(replicas + missing - victims.length)} pods, has ${String(replicas)}`);
  if (missing > 0) {
    const pod = podFromTemplate(owner, template);
    const manifests = Array.from({ length: missing }, () => pod);
    return failureOf("FailedCreate", (await createPods(owner, manifests, context)).errors);
  }
  return failureOf("FailedDelete", (await deletePods(owner, victims, context)).errors);
}

function failureOf(
  reason: ReplicaFailure["reason"],
  [error]: readonly unknown[],
): ReplicaFailure | undefined {
  return error === undefined ? undefined : { reason, message: textOf(error), error };
}
