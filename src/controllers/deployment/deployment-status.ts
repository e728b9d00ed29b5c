/** Builds a Deployment's status: pod counts, availability and progress. Pure. */
import type { Deployment, DeploymentCondition, DeploymentStatus } from "../../api/generated/types/apps-v1.ts";
import type { ReplicaSet } from "../../api/generated/types/apps-v1.ts";
import { timeText } from "../../api/values/time.ts";
import { allSets, availableOf, maxUnavailable, totalOf, wantedOf } from "./rollout.ts";
import type { Rollout } from "./rollout.ts";

/** Greatest int32: upstream's value for "no deadline". */
const NO_DEADLINE = 2 ** 31 - 1;

export interface StatusPlan {
  readonly status: DeploymentStatus;
  /** Delay until the progress deadline expires. */
  readonly recheckAfterMs: number | undefined;
}

/** Reason of the condition and of the Event if the new set could not be created. */
export const CREATE_ERROR = "ReplicaSetCreateError";

/** Result of this pass for the new set; undefined if nothing happened. */
export type NewSetResult = "created" | "found" | { readonly failure: string };

export interface RolloutFindings {
  readonly news: NewSetResult | undefined;
  readonly collisionCount: number | undefined;
  readonly now: number;
}

export function planStatus(deployment: Deployment, rollout: Rollout, findings: RolloutFindings): StatusPlan {
  const counts = countPods(deployment, rollout, findings);
  const list = new Conditions(deployment.status.conditions ?? [], findings.now);
  list.set(availability(deployment, counts));
  const recheckAfterMs = judgeProgress({ deployment, rollout, counts, findings, list });
  showReplicaFailure(rollout, list);
  const { conditions } = list;
  return { status: { ...counts, ...(conditions.length > 0 && { conditions }) }, recheckAfterMs };
}

function countPods(
  deployment: Deployment,
  rollout: Rollout,
  { collisionCount }: Pick<RolloutFindings, "collisionCount">,
): DeploymentStatus {
  const sets = allSets(rollout);
  const availableReplicas = totalOf(sets, availableOf);
  const { generation: observedGeneration } = deployment.metadata;
  return {
    ...(observedGeneration !== undefined && { observedGeneration }),
    replicas: totalOf(sets, ({ status }) => status.replicas),
    updatedReplicas: rollout.newSet?.status.replicas ?? 0,
    readyReplicas: totalOf(sets, ({ status }) => status.readyReplicas ?? 0),
    availableReplicas,
    unavailableReplicas: Math.max(0, totalOf(sets, wantedOf) - availableReplicas),
    terminatingReplicas: totalOf(sets, ({ status }) => status.terminatingReplicas ?? 0),
    ...(collisionCount !== undefined && { collisionCount }),
  };
}

/** True if all pods have the current template and their number is exactly right. */
export function isComplete(deployment: Deployment, counts: DeploymentStatus): boolean {
  const wanted = wantedOf(deployment);
  const isExact = [counts.updatedReplicas, counts.replicas, counts.availableReplicas].every(
    (count) => (count ?? 0) === wanted,
  );
  return isExact && (counts.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0);
}

type Verdict = Pick<DeploymentCondition, "type" | "reason" | "message"> & {
  readonly status: "True" | "False" | "Unknown";
};

function availability(deployment: Deployment, { availableReplicas = 0 }: DeploymentStatus): Verdict {
  const isAvailable = availableReplicas >= wantedOf(deployment) - maxUnavailable(deployment);
  return isAvailable
    ? {
        type: "Available",
        status: "True",
        reason: "MinimumReplicasAvailable",
        message: "Deployment has minimum availability.",
      }
    : {
        type: "Available",
        status: "False",
        reason: "MinimumReplicasUnavailable",
        message: "Deployment does not have minimum availability.",
      };
}

interface Judgement {
  readonly deployment: Deployment;
  readonly rollout: Rollout;
  readonly counts: DeploymentStatus;
  readonly findings: RolloutFindings;
  readonly list: Conditions;
}

/** Updates the Progressing condition and returns the delay until its deadline. */
function judgeProgress(judgement: Judgement): number | undefined {
  const { deployment, list, findings } = judgement;
  const deadlineSeconds = deployment.spec.progressDeadlineSeconds ?? NO_DEADLINE;
  if (deadlineSeconds === NO_DEADLINE) {
    list.remove("Progressing");
    return undefined;
  }
  judgePause(deployment, list);
  const verdict = newsVerdict(judgement) ?? progressVerdict(judgement, deadlineSeconds);
  if (verdict !== undefined) list.set(verdict);
  const shown = list.find("Progressing");
  const isWaiting = shown !== undefined && !ENDS.has(shown.reason ?? "") && deployment.spec.paused !== true;
  if (!isWaiting) return undefined;
  // One extra second ensures that the deadline has passed.
  return Math.max(0, updatedAt(shown) + (deadlineSeconds + 1) * 1000 - findings.now);
}

const COMPLETE = "NewReplicaSetAvailable";
const TIMED_OUT = "ProgressDeadlineExceeded";
const PAUSED = "DeploymentPaused";
const ENDS: ReadonlySet<string> = new Set([COMPLETE, TIMED_OUT]);

/** Pausing stops the clock of the deadline. A deadline that expired earlier stays expired. */
function judgePause({ spec }: Deployment, list: Conditions): void {
  const shown = list.find("Progressing");
  if (shown?.reason === TIMED_OUT) return;
  if (spec.paused === true && shown?.reason !== PAUSED) {
    list.set({ type: "Progressing", status: "Unknown", reason: PAUSED, message: "Deployment is paused" });
  } else if (spec.paused !== true && shown?.reason === PAUSED) {
    const message = "Deployment is resumed";
    list.set({ type: "Progressing", status: "Unknown", reason: "DeploymentResumed", message });
  }
}

function newsVerdict({ rollout, findings, list }: Judgement): Verdict | undefined {
  const { news } = findings;
  const name = quoted(rollout.newSet);
  if (news === "created") {
    const message = `Created new replica set ${name}`;
    return { type: "Progressing", status: "True", reason: "NewReplicaSetCreated", message };
  }
  if (news === "found" && list.find("Progressing") === undefined) {
    const message = `Found new replica set ${name}`;
    return { type: "Progressing", status: "True", reason: "FoundNewReplicaSet", message };
  }
  if (typeof news !== "object") return undefined;
  return { type: "Progressing", status: "False", reason: CREATE_ERROR, message: news.failure };
}

function progressVerdict(judgement: Judgement, deadlineSeconds: number): Verdict | undefined {
  const { deployment, rollout, counts, list, findings } = judgement;
  const shown = list.find("Progressing");
  const isDone = counts.replicas === counts.updatedReplicas && shown?.reason === COMPLETE;
  if (isDone || deployment.spec.paused === true) return undefined;
  const what =
    rollout.newSet === undefined
      ? `Deployment ${JSON.stringify(deployment.metadata.name)}`
      : `ReplicaSet ${quoted(rollout.newSet)}`;
  if (isComplete(deployment, counts)) {
    const message = `${what} has successfully progressed.`;
    return { type: "Progressing", status: "True", reason: COMPLETE, message };
  }
  if (hasProgressed(deployment.status, counts)) {
    const message = `${what} is progressing.`;
    return { type: "Progressing", status: "True", reason: "ReplicaSetUpdated", message };
  }
  if (!hasTimedOut(shown, deadlineSeconds, findings.now)) return undefined;
  const message = `${what} has timed out progressing.`;
  return { type: "Progressing", status: "False", reason: TIMED_OUT, message };
}

function hasProgressed(before: DeploymentStatus, now: DeploymentStatus): boolean {
  const oldPods = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus): number =>
    replicas - updatedReplicas;
  return (
    (now.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    oldPods(now) < oldPods(before) ||
    (now.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (now.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

function hasTimedOut(shown: DeploymentCondition | undefined, deadlineSeconds: number, now: number): boolean {
  if (shown === undefined || shown.reason === COMPLETE) return false;
  if (shown.reason === TIMED_OUT) return true;
  return updatedAt(shown) + deadlineSeconds * 1000 < now;
}

/** A condition without an update time counts as infinitely old. */
function updatedAt({ lastUpdateTime }: DeploymentCondition): number {
  return lastUpdateTime === undefined ? Number.MIN_SAFE_INTEGER : Date.parse(lastUpdateTime);
}

/** A set's ReplicaFailure condition is copied to the Deployment. */
function showReplicaFailure(rollout: Rollout, list: Conditions): void {
  const newestFirst = allSets(rollout).toReversed();
  const failures = newestFirst.flatMap(({ status }) => status.conditions ?? []);
  const failure = failures.find(({ type, status }) => type === "ReplicaFailure" && status === "True");
  if (failure === undefined) return list.remove("ReplicaFailure");
  const { reason = "", message = "" } = failure;
  list.set({ type: "ReplicaFailure", status: "True", reason, message });
}

function quoted(set: ReplicaSet | undefined): string {
  return JSON.stringify(set?.metadata.name ?? "");
}

/** Conditions of the new status. An unchanged verdict keeps its condition with all times. */
class Conditions {
  #list: readonly DeploymentCondition[];
  readonly #now: string;

  constructor(list: readonly DeploymentCondition[], now: number) {
    this.#list = list;
    this.#now = timeText(now);
  }

  get conditions(): readonly DeploymentCondition[] {
    return this.#list;
  }

  find(type: string): DeploymentCondition | undefined {
    return this.#list.find((condition) => condition.type === type);
  }

  remove(type: string): void {
    this.#list = this.#list.filter((condition) => condition.type !== type);
  }

  /** Each step of progress renews the update time, even with an equal status: the deadline counts from it. */
  set(verdict: Verdict): void {
    const known = this.find(verdict.type);
    const isSame = known?.status === verdict.status && known.reason === verdict.reason;
    const isStep = verdict.reason === "ReplicaSetUpdated";
    if (isSame && !isStep) return;
    const lastTransitionTime = (known?.status === verdict.status && known.lastTransitionTime) || this.#now;
    const next = { ...verdict, lastUpdateTime: this.#now, lastTransitionTime };
    this.#list = [...this.#list.filter(({ type }) => type !== verdict.type), next];
  }
}
