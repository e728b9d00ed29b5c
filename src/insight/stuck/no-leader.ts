/** The loop that should act does not run: no process holds its lease. */
import { Job } from "../../api/generated/types/batch-v1.ts";
import type { Lease } from "../../api/generated/types/coordination-v1.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import { findCondition } from "../state/conditions.ts";
import { durationText } from "../text/duration-text.ts";
import type { Situation, StuckRule } from "./situation.ts";
import { asKind } from "./situation.ts";

const COMMANDS: Readonly<Record<string, string>> = {
  "kube-scheduler": "setpoint scheduler",
  "kube-controller-manager": "setpoint controllers",
};

export const noLeaderRule: StuckRule = (situation) => {
  const name = awaitedLease(situation);
  if (name === undefined) return undefined;
  const lease = situation.leases.find(({ metadata }) => metadata.name === name);
  const problem = findProblem(lease, situation.now);
  if (problem === undefined) return undefined;
  const effect = "start the loops (setpoint up runs them with the server)";
  return {
    blockedBy: `nothing acts on it: the lease kube-system/${name} ${problem}`,
    unblock: [{ command: COMMANDS[name] ?? "", effect }],
  };
};

/** Lease of the loop that has not noticed the state of the object yet. */
function awaitedLease(situation: Situation): string | undefined {
  const pod = asKind(situation, Pod);
  if (pod !== undefined) {
    const isSeen = pod.spec.nodeName !== undefined || findCondition(pod, "PodScheduled") !== undefined;
    return isSeen ? undefined : "kube-scheduler";
  }
  const job = asKind(situation, Job);
  if (job !== undefined && job.spec.suspend !== true)
    return Object.keys(job.status).length === 0 ? "kube-controller-manager" : undefined;
  if (!situation.type.apiVersion.startsWith("apps/")) return undefined;
  const { metadata, status } = situation.object as Situation["object"] & {
    readonly status?: { readonly observedGeneration?: number };
  };
  const isBehind = (status?.observedGeneration ?? 0) < (metadata.generation ?? 0);
  return isBehind ? "kube-controller-manager" : undefined;
}

function findProblem(lease: Lease | undefined, now: number): string | undefined {
  if (lease === undefined) return "does not exist: the loops have never run";
  const { holderIdentity = "", renewTime = "", leaseDurationSeconds = 15 } = lease.spec;
  if (holderIdentity === "") return "has no holder";
  const silentMs = now - Date.parse(renewTime);
  return silentMs <= leaseDurationSeconds * 1000
    ? undefined
    : `was last renewed ${durationText(silentMs)} ago, by ${holderIdentity}`;
}
