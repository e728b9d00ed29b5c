/** A PersistentVolumeClaim of the pod is missing or not bound, or the claim itself waits. */
import { PersistentVolumeClaim, Pod } from "../../api/generated/types/core-v1.ts";
import type { StorageClass } from "../../api/generated/types/storage-v1.ts";
import { compareQuantities, parseQuantity } from "../../api/values/quantity.ts";
import { findCondition } from "../state/conditions.ts";
import type { Finding, Remedy, Situation, StuckRule } from "./situation.ts";
import { asKind, inNamespace } from "./situation.ts";

const NO_PROVISIONER = "kubernetes.io/no-provisioner";
const VOLUMES_SHOWN = 3;

export const claimRule: StuckRule = (situation) => {
  const own = asKind(situation, PersistentVolumeClaim);
  if (own !== undefined) return own.status.phase === "Pending" ? pendingClaim(situation, own) : undefined;
  const pod = asKind(situation, Pod);
  return pod === undefined || pod.spec.nodeName !== undefined ? undefined : waitingPod(situation, pod);
};

function waitingPod({ claims }: Situation, pod: Pod): Finding | undefined {
  const message = findCondition(pod, "PodScheduled")?.message ?? "";
  const { namespace = "" } = pod.metadata;
  const place = inNamespace(namespace);
  const [, missing] = /persistentvolumeclaim "([^"]+)" not found/.exec(message) ?? [];
  if (missing !== undefined) {
    return {
      blockedBy: `PersistentVolumeClaim ${namespace}/${missing} does not exist, and the pod mounts it`,
      unblock: [{ command: `kubectl apply -f CLAIM.yaml${place}`, effect: `create the claim ${missing}` }],
    };
  }
  if (!/unbound immediate PersistentVolumeClaims|available persistent volumes to bind/.test(message))
    return undefined;
  const name = claims.find(({ status }) => status.phase !== "Bound")?.metadata.name ?? "of the pod";
  return {
    blockedBy: `PersistentVolumeClaim ${namespace}/${name} is not bound to a volume`,
    unblock: [{ command: `setpoint why pvc/${name}${place}`, effect: "see what the claim waits for" }],
  };
}

function pendingClaim(situation: Situation, claim: PersistentVolumeClaim): Finding {
  const { classes, pods, events } = situation;
  const { metadata, spec } = claim;
  const { storageClassName: className } = spec;
  const storageClass = classes.find((each) => each.metadata.name === className);
  const misfits = misfitTexts(situation, claim);
  const isLate = storageClass?.volumeBindingMode === "WaitForFirstConsumer";
  if (isLate && pods.length === 0) {
    const effect = `create a pod that mounts the claim ${metadata.name}`;
    return {
      blockedBy: "no pod uses the claim yet, and its StorageClass binds with the first one",
      unblock: [{ command: "kubectl apply -f POD.yaml", effect }],
    };
  }
  const told = events.find(({ type }) => type === "Warning")?.message ?? events[0]?.message;
  const why = misfits.length > 0 ? misfits.join("; ") : whyNoVolume(className, storageClass, told);
  return { blockedBy: `no volume for the claim: ${why}`, unblock: remedies(claim, storageClass) };
}

function whyNoVolume(
  className: string | undefined,
  storageClass: StorageClass | undefined,
  told: string | undefined,
): string {
  if (className === undefined || className === "")
    return className === "" ? "it asks for none of a StorageClass" : "no StorageClass is the default";
  if (storageClass === undefined) return `StorageClass ${className} does not exist`;
  if (storageClass.provisioner === NO_PROVISIONER)
    return `StorageClass ${className} makes no volumes (${NO_PROVISIONER}), and none is free`;
  return told ?? `StorageClass ${className} made no volume`;
}

/** Volumes of its class that are free, but do not fit. */
function misfitTexts({ volumes }: Situation, { spec }: PersistentVolumeClaim): readonly string[] {
  const free = volumes.filter(
    (each) =>
      each.status.phase === "Available" &&
      (each.spec.storageClassName ?? "") === (spec.storageClassName ?? ""),
  );
  return free.slice(0, VOLUMES_SHOWN).flatMap(({ metadata, spec: offer }) => {
    const name = `PersistentVolume ${metadata.name}`;
    const modes = (spec.accessModes ?? []).filter((mode) => offer.accessModes?.includes(mode) !== true);
    if (modes.length > 0)
      return [
        `${name} offers ${(offer.accessModes ?? []).join(", ")}, the claim asks for ${modes.join(", ")}`,
      ];
    const asked = spec.resources?.requests?.["storage"] ?? "0";
    const size = offer.capacity?.["storage"] ?? "0";
    const isSmall = compareQuantities(parseQuantity(size), parseQuantity(asked)) < 0;
    return isSmall ? [`${name} has ${size}, the claim asks for ${asked}`] : [];
  });
}

function remedies(
  { metadata }: PersistentVolumeClaim,
  storageClass: StorageClass | undefined,
): readonly Remedy[] {
  const place = inNamespace(metadata.namespace);
  const volume = { command: "kubectl apply -f VOLUME.yaml", effect: "create a volume that fits" };
  if (storageClass !== undefined) return [volume];
  return [
    { command: "kubectl get storageclass", effect: "see the classes that exist" },
    {
      command: `kubectl delete pvc ${metadata.name}${place}`,
      effect: "then create it with another class: a claim keeps its class",
    },
  ];
}
