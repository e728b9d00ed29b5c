/** The object is being deleted and waits until its finalizers are removed. */
import type { ApiObject } from "../../api/api-object.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import { isJsonObject } from "../../api/json/json-object.ts";
import { conditionsOf } from "../state/conditions.ts";
import { durationText } from "../text/duration-text.ts";
import type { Remedy, Situation, StuckRule } from "./situation.ts";
import { kubectlName } from "./situation.ts";

/** Controllers that remove the finalizers of Kubernetes, and when. */
const KNOWN: ReadonlyMap<string, string> = new Map([
  ["foregroundDeletion", "the garbage collector, once all dependents are gone"],
  ["orphan", "the garbage collector, once it has released the dependents"],
  ["kubernetes.io/pvc-protection", "pvc-protection-controller, once no pod uses the claim"],
  ["kubernetes.io/pv-protection", "pv-protection-controller, once the volume is not bound"],
  ["batch.kubernetes.io/job-tracking", "job-controller, once it has counted the pod"],
  ["service.kubernetes.io/load-balancer-cleanup", "the controller of the load balancer"],
  ["kubernetes", "namespace-controller, once the namespace is empty"],
]);

/** Conditions of a namespace that tell what is left in it. */
const LEFT = new Set(["NamespaceContentRemaining", "NamespaceFinalizersRemaining"]);

export const finalizerRule: StuckRule = (situation) => {
  const { object, now } = situation;
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  const [finalizer] = [...finalizers, ...finalizersOfSpec(object)];
  if (deletionTimestamp === undefined || finalizer === undefined) return undefined;
  const since = durationText(now - Date.parse(deletionTimestamp));
  const remover = KNOWN.get(finalizer) ?? adderOf(object, finalizer);
  return {
    blockedBy: `finalizer ${finalizer}, for ${since}; to be removed by ${remover}${leftText(situation)}`,
    unblock: remedies(situation, finalizer),
  };
};

/** A namespace has finalizers in its spec too. */
function finalizersOfSpec(object: ApiObject): readonly string[] {
  if (object.kind !== "Namespace") return [];
  const { spec } = object as { readonly spec?: { readonly finalizers?: readonly string[] } };
  return spec?.finalizers ?? [];
}

/** The field manager that added the finalizer. */
function adderOf({ metadata }: ApiObject, finalizer: string): string {
  const entry = metadata.managedFields?.find(({ fieldsV1 }) => {
    const fields = isJsonObject(fieldsV1) ? fieldsV1["f:metadata"] : undefined;
    const added = isJsonObject(fields) ? fields["f:finalizers"] : undefined;
    return isJsonObject(added) && `v:${JSON.stringify(finalizer)}` in added;
  });
  return entry === undefined ? "the controller that added it" : `${entry.manager}, which added it`;
}

function leftText({ object, pods }: Situation): string {
  if (isUsedClaim(object, pods))
    return `; used by pod ${pods.map(({ metadata }) => metadata.name).join(", ")}`;
  const left = conditionsOf(object).find(({ type, status }) => status === "True" && LEFT.has(type));
  return left?.message === undefined ? "" : `; ${left.message}`;
}

function isUsedClaim(object: ApiObject, pods: readonly Pod[]): boolean {
  return object.kind === "PersistentVolumeClaim" && pods.length > 0;
}

function remedies(situation: Situation, finalizer: string): readonly Remedy[] {
  const { object, pods } = situation;
  const [pod] = pods;
  if (pod !== undefined && isUsedClaim(object, pods)) {
    const command = `kubectl delete ${kubectlName({ type: Pod, object: pod })}`;
    return [{ command, effect: "end the use of the claim" }];
  }
  if (object.kind === "Namespace")
    return [
      { command: `kubectl get all -n ${object.metadata.name ?? ""}`, effect: "see the objects left in it" },
    ];
  const name = kubectlName(situation);
  if (KNOWN.has(finalizer)) return [{ command: `kubectl describe ${name}`, effect: "see its Events" }];
  const patch = `[{"op":"remove","path":"/metadata/finalizers"}]`;
  return [
    {
      command: `kubectl describe ${name}`,
      effect: "start the controller of the finalizer, if it does not run",
    },
    { command: `kubectl patch ${name} --type=json -p='${patch}'`, effect: "skip its clean-up for good" },
  ];
}
