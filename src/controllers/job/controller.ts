/**
 * Runs the pods of each Job until enough have succeeded or the Job has failed.
 *
 * Reads Jobs and their Pods. Creates and deletes a Job's Pods, removes its finalizer from counted ones, adopts and releases Pods by
 * selector. Writes Job status. It ignores finished Jobs and Jobs with another `managedBy`.
 */
import { Job } from "../../api/generated/types/batch-v1.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import type { LabelSelector } from "../../api/generated/types/meta-v1.ts";
import { defineController } from "../../runtime/controller/controller.ts";
import type { Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import { removeFinalizer } from "../../runtime/controller/finalizer.ts";
import { orphanedPods } from "../pods/orphaned-pods.ts";
import { changeEach, createPods, deletePods } from "../pods/pod-changes.ts";
import type { PodChanges } from "../pods/pod-changes.ts";
import {
  COMPLETIONS_REACHED,
  deadlineOf,
  findTrue,
  isComplete,
  isFinished,
  isManagedHere,
  findOutcome,
} from "./job-outcome.ts";
import type { JobOutcome } from "./job-outcome.ts";
import { isTracked, TRACKING } from "./job-pods.ts";
import { endedStatus, hasEnded, statusOf } from "./job-status.ts";
import type { JobFindings } from "./job-status.ts";
import { newPod } from "./new-job-pod.ts";
import { observe } from "./observation.ts";
import type { Observation } from "./observation.ts";
import { planPods } from "./plan-job-pods.ts";
import type { PodPlan } from "./plan-job-pods.ts";
import { countReleased, planPodCounts, uidsOf } from "./pod-counts.ts";

/** Matches no pod. The server sets a selector on every Job; an empty one would match all pods. */
const CHOOSES_NOTHING: LabelSelector = { matchExpressions: [{ key: TRACKING, operator: "In", values: [] }] };
const NO_PODS: PodPlan = { surplus: [], missing: [], waitMs: undefined };

export const jobController = defineController({
  name: "job-controller",
  for: Job,
  owns: [Pod],
  watches: [orphanedPods(Job, ({ spec }) => spec.selector ?? CHOOSES_NOTHING)],
  reconcile,
});

async function reconcile(job: Job, context: ReconcileContext): Promise<Outcome> {
  const { selector } = job.spec;
  if (isFinished(job) || !isManagedHere(job) || selector === undefined) return;
  const seen = observe(job, await context.claim(Pod, job, selector), context.clock.now());
  const decided = findOutcome(seen);
  const mayPlan = decided === undefined && job.metadata.deletionTimestamp === undefined;
  const plan = mayPlan ? planPods(seen) : NO_PODS;

  const acted = decided === undefined ? await carryOut(seen, plan, context) : await stopAll(seen, context);
  const reached = isComplete(seen, acted.active.length) ? COMPLETIONS_REACHED : undefined;
  const outcome = acted.errors.length === 0 ? (decided ?? reached) : undefined;
  const written = await report(seen, { acted, outcome, context });
  if (acted.errors.length > 0) throw acted.errors[0];
  return recheckOf(written, plan.waitMs, seen.now);
}

const NOTHING: PodChanges<Pod> = { done: [], errors: [] };

/** State of the pods after the actions of this pass. */
interface Acted {
  readonly active: readonly Pod[];
  readonly terminating: number;
  readonly errors: readonly unknown[];
}

/** Surplus pods lose their finalizer before the deletion, so that they do not count. */
async function carryOut(seen: Observation, plan: PodPlan, context: ReconcileContext): Promise<Acted> {
  const { job, active, terminating, toReplace } = seen;
  const released = await release(plan.surplus, context);
  const deleted = await deletePods(job, released.done, context);
  const manifests = plan.missing.map((index) =>
    newPod(job, { index, replaces: index === undefined ? undefined : toReplace.get(index) }),
  );
  const created = await createPods(job, manifests, context);
  // Failed pods get no replacement in a namespace that is being deleted. Their finalizers would block it.
  const unreplaced = created.isNamespaceTerminating
    ? await release([...toReplace.values()], context)
    : NOTHING;
  const gone = new Set(deleted.done);
  return {
    active: [...active.filter((pod) => !gone.has(pod)), ...created.done],
    terminating: terminating.length + gone.size,
    errors: [...released.errors, ...deleted.errors, ...created.errors, ...unreplaced.errors],
  };
}

/** Ends the Job: running pods are deleted and counted with the others. */
async function stopAll({ job, active, terminating }: Observation, context: ReconcileContext): Promise<Acted> {
  const deleted = await deletePods(job, active, context);
  const gone = new Set(deleted.done);
  return {
    active: active.filter((pod) => !gone.has(pod)),
    terminating: terminating.length + gone.size,
    errors: deleted.errors,
  };
}

function release(pods: readonly Pod[], context: ReconcileContext): Promise<PodChanges<Pod>> {
  return changeEach(pods, (pod) => removeFinalizer(context.client(Pod), pod, TRACKING));
}

/** Writes uids first, then removes finalizers, then writes numbers; see pod-counts.ts. Returns the newest Job. */
async function report(
  seen: Observation,
  {
    acted,
    outcome,
    context,
  }: { readonly acted: Acted; readonly outcome: JobOutcome | undefined; readonly context: ReconcileContext },
): Promise<Job> {
  const { active, terminating } = acted;
  const plan = planPodCounts(seen, outcome);
  const listed: JobFindings = { seen, outcome, counts: plan.counts, active, terminating };
  const written = await context.updateStatus(seen.job, statusOf(listed));
  reportSuspension(seen.job, written, context);

  const released = await release(plan.toRelease, context);
  const done = new Set(released.done);
  const left = seen.pods.filter((pod) => isTracked(pod) && !done.has(pod));
  const counted = { ...listed, counts: countReleased(plan.counts, uidsOf(left)) };
  const isEnd = hasEnded(counted) && !plan.isPartial && released.errors.length === 0;
  const status = isEnd && outcome !== undefined ? endedStatus(counted, outcome) : statusOf(counted);
  const ended = await context.updateStatus(written, status);
  if (isEnd && outcome !== undefined) reportEnd(ended, outcome, context);
  if (released.errors.length > 0) throw released.errors[0];
  return ended;
}

function reportSuspension(before: Job, after: Job, context: ReconcileContext): void {
  const was = findTrue(before, "Suspended") !== undefined;
  const is = findTrue(after, "Suspended") !== undefined;
  if (was === is) return;
  const [reason, message] = is ? ["Suspended", "Job suspended"] : ["Resumed", "Job resumed"];
  context.event(after, { type: "Normal", reason, message });
}

function reportEnd(job: Job, outcome: JobOutcome, context: ReconcileContext): void {
  if (outcome.type === "FailureTarget") {
    context.event(job, { type: "Warning", reason: outcome.reason, message: outcome.message });
    return;
  }
  const { completions = Number.POSITIVE_INFINITY } = job.spec;
  if ((job.status.succeeded ?? 0) > completions) {
    const message = "Too many succeeded pods running after completion count reached";
    context.event(job, { type: "Warning", reason: "TooManySucceededPods", message });
  }
  context.event(job, { type: "Normal", reason: "Completed", message: "Job completed" });
}

/** A deadline gets a periodic timer: waiting for it does not count as pending work. A back-off does. */
function recheckOf(job: Job, backOffMs: number | undefined, now: number): Outcome {
  const deadline = isFinished(job) ? undefined : deadlineOf(job);
  const deadlineMs = deadline === undefined ? Number.POSITIVE_INFINITY : Math.max(0, deadline - now);
  if (backOffMs !== undefined) return { recheckAfterMs: Math.min(backOffMs, deadlineMs) };
  return deadline === undefined ? undefined : { recheckAfterMs: deadlineMs, timer: "periodic" };
}
