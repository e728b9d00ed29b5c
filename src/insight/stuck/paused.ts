/** The rollout of a Deployment is paused before its newest template reached all pods. */
import { Deployment } from "../../api/generated/types/apps-v1.ts";
import type { StuckRule } from "./situation.ts";
import { asKind, inNamespace } from "./situation.ts";

export const pausedRule: StuckRule = (situation) => {
  const deployment = asKind(situation, Deployment);
  if (deployment?.spec.paused !== true) return undefined;
  const { updatedReplicas = 0 } = deployment.status;
  const { replicas = 1 } = deployment.spec;
  if (updatedReplicas >= replicas) return undefined;
  const { name, namespace } = deployment.metadata;
  const command = `kubectl rollout resume deployment ${name}${inNamespace(namespace)}`;
  const share = `${String(updatedReplicas)} of ${String(replicas)} pods`;
  return {
    blockedBy: `the rollout is paused (spec.paused), with ${share} on the newest template`,
    unblock: [{ command, effect: "go on with it" }],
  };
};
