/** A PersistentVolumeClaim of the pod is missing or not bound, or the claim itself waits. */
import { PersistentVolumeClaim, Pod } from "../../api/generated/types/core-v1.ts";
import { findCondition } from "../state/conditions.ts";
import type { Finding, Situation, StuckRule } from "./situation.ts";
import { asKind, inNamespace } from "./situation.ts";

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
  if (!message.includes("unbound immediate PersistentVolumeClaims")) return undefined;
  const name = claims.find(({ status }) => status.phase !== "Bound")?.metadata.name ?? "of the pod";
  return {
    blockedBy: `PersistentVolumeClaim ${namespace}/${name} is not bound to a volume`,
    unblock: [{ command: `setpoint why pvc/${name}${place}`, effect: "see what the claim waits for" }],
  };
}

function pendingClaim({ events }: Situation, { metadata, spec }: PersistentVolumeClaim): Finding {
  const told = events[0]?.message;
  if (told?.includes("first consumer") === true) {
    return {
      blockedBy: "no pod uses the claim yet, and its StorageClass binds with the first one",
      unblock: [
        {
          command: "kubectl apply -f POD.yaml",
          effect: `create a pod that mounts the claim ${metadata.name}`,
        },
      ],
    };
  }
  const { storageClassName: className } = spec;
  const guess =
    className === undefined ? "no StorageClass is the default" : `StorageClass ${className} made no volume`;
  return {
    blockedBy: `no volume for the claim: ${told ?? guess}`,
    unblock: [
      { command: "kubectl get storageclass", effect: "name a class that exists, or make one the default" },
    ],
  };
}
