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
]);

/** Conditions of a namespace that tell what is left in it. */
const LEFT = new Set([
  "NamespaceDeletionDiscoveryFailure",
  "NamespaceDeletionGroupVersionParsingFailure",
  "NamespaceDeletionContentFailure",
  "NamespaceContentRemaining",
  "NamespaceFinalizersRemaining",
]);

const NAMESPACE_FINALIZER = "kubernetes";

/** Objects left in a namespace that are named. */
const NAMED_MAX = 3;

export const finalizerRule: StuckRule = (situation) => {
  const { object, now } = situation;
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  const [finalizer, ...others] = [...finalizers, ...finalizersOfSpec(object)];
  if (deletionTimestamp === undefined || finalizer === undefined) return undefined;
  const since = durationText(now - Date.parse(deletionTimestamp));
  if (object.kind === "Namespace" && finalizer === NAMESPACE_FINALIZER)
    return { blockedBy: namespaceText(situation), unblock: namespaceRemedies(situation) };
  const more = others.length === 0 ? "" : `; then ${others.join(", ")}`;
  const remover = KNOWN.get(finalizer) ?? adderOf(object, finalizer);
  return {
    blockedBy: `finalizer ${finalizer}, for ${since}; to be removed by ${remover}${leftText(situation)}${more}`,
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
  const { manager = "kubectl" } = entry ?? {};
  // A person added it by hand: its controller is not known.
  return manager.startsWith("kubectl") ? "its controller" : `${manager}, which added it`;
}

function leftText({ object, pods }: Situation): string {
  if (!isUsedClaim(object, pods)) return "";
  return `; used by pod ${pods.map(({ metadata }) => metadata.name).join(", ")}`;
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
  const name = kubectlName(situation);
  if (KNOWN.has(finalizer)) return [{ command: `kubectl describe ${name}`, effect: "see its Events" }];
  const at = String(object.metadata.finalizers?.indexOf(finalizer) ?? 0);
  const patch = `[{"op":"remove","path":"/metadata/finalizers/${at}"}]`;
  return [
    {
      command: "kubectl get pods -A",
      effect: "find its controller, and start it if it does not run",
    },
    { command: `kubectl patch ${name} --type=json -p='${patch}'`, effect: "skip its clean-up for good" },
  ];
}

/** The objects that are left by name; the server's conditions when they cannot be listed. */
function namespaceText({ object, remaining }: Situation): string {
  const left = conditionsOf(object).filter(({ type, status }) => status === "True" && LEFT.has(type));
  const isListed = remaining.length > 0;
  const told = left
    .filter(({ type }) => !isListed || type.startsWith("NamespaceDeletion"))
    .flatMap(({ message }) => message ?? []);
  const named = remaining.map(({ resource, objects }) => {
    const names = objects.slice(0, NAMED_MAX).map(({ metadata }) => `${resource}/${metadata.name ?? ""}`);
    const rest = objects.length - names.length;
    return `${names.join(", ")}${rest > 0 ? ` and ${String(rest)} more` : ""}`;
  });
  const holds = isListed ? [`it still holds ${named.join(", ")}`] : [];
  const parts = [...holds, ...told];
  return parts.length === 0 ? "namespace-controller is deleting the objects in it" : parts.join("; ");
}

/** The objects that are left, and the APIs whose objects cannot be listed. */
function namespaceRemedies({ object, remaining }: Situation): readonly Remedy[] {
  const { name = "" } = object.metadata;
  const apis = conditionsOf(object).filter(
    ({ type, status }) => status === "True" && type === "NamespaceDeletionDiscoveryFailure",
  );
  const broken = apis.map(() => ({
    command: "kubectl get apiservices | grep False",
    effect: "repair or delete these: their objects cannot be listed",
  }));
  const left = remaining.flatMap(({ resource, objects }) =>
    objects.slice(0, NAMED_MAX).map((each) => ({
      command: `setpoint why ${resource}/${each.metadata.name ?? ""} -n ${name}`,
      effect: "see what it waits for",
    })),
  );
  if (broken.length + left.length > 0) return [...broken, ...left];
  return [{ command: `kubectl get all -n ${name}`, effect: "see the objects left in it" }];
}
