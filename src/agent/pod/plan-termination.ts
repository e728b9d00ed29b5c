/** Decides how the containers of an ending pod stop. */
import { plainNumber } from "../../api/values/plain-number.ts";
import { hasNoRun, type ContainerRecord } from "./container-record.ts";
import { findDeadline, recordOf, type PodFacts, type PodTermination } from "./pod-facts.ts";
import { LAST_GRACE_MS, stopAction, type PodAction, type PodPlan, type StopAction } from "./pod-plan.ts";
import { containersOf } from "./restart-policy.ts";

/** Sidecars end after the other containers, in reverse order, within the rest of the pod's grace period. */
export function planTermination(facts: PodFacts, termination: PodTermination, now: number): PodPlan {
  const graceMs = graceOf(facts, termination);
  const passedMs = passedOf(facts, termination, now);
  const actions: PodAction[] = [];
  let isQuiet = true;
  for (const { role, container } of containersOf(facts.pod).toReversed()) {
    const record = recordOf(facts, container.name);
    if (hasNoRun(record)) continue;
    const mayStop = role !== "sidecar" || isQuiet;
    isQuiet = false;
    const stop = stopAction(container, graceMs, `Stopping container ${container.name}`);
    const action = role === "sidecar" ? laterStop(stop, passedMs) : stop;
    if (mayStop && shortensKill(record, now + action.graceMs)) actions.push(action);
  }
  return { actions, recheck: undefined, termination, hasEnded: isQuiet };
}

/** Whether the kill at that time would come before the one that is planned. */
export function shortensKill({ phase }: ContainerRecord, killAt: number): boolean {
  return phase.type !== "running" || phase.killAt === undefined || killAt < phase.killAt;
}

function graceOf({ pod }: PodFacts, termination: PodTermination): number {
  if (termination.type === "deleted") return termination.graceMs;
  return plainNumber(pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
}

/** Time since the request to end. */
function passedOf(facts: PodFacts, termination: PodTermination, now: number): number {
  const { deletionTimestamp } = facts.pod.metadata;
  const graceMs = graceOf(facts, termination);
  if (termination.type === "deleted" && deletionTimestamp !== undefined) {
    return Math.max(0, now - (Date.parse(deletionTimestamp) - graceMs));
  }
  return termination.type === "deadline" ? now - (findDeadline(facts) ?? now) : 0;
}

/** The preStop hook of a waiting sidecar counts as run. */
function laterStop(stop: StopAction, passedMs: number): StopAction {
  const delayMs = Math.max(0, stop.delayMs - passedMs);
  return { ...stop, delayMs, graceMs: Math.max(delayMs + LAST_GRACE_MS, stop.graceMs - passedMs) };
}
