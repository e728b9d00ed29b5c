/**
 * Starts a Job at each time of a CronJob's schedule, as its policies allow, and deletes old ones.
 *
 * Reads CronJobs and the Jobs they control; creates and deletes those Jobs; writes CronJob status.
 */
import type { ObjectKey } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import { CronJob, Job } from "../../api/generated/types/batch-v1.ts";
import type { CronJobStatus } from "../../api/generated/types/batch-v1.ts";
import type { ObjectReference } from "../../api/generated/types/core-v1.ts";
import { timeText } from "../../api/values/time.ts";
import type { ObjectChange } from "../../runtime/cache/object-change.ts";
import { defineController, indexing, watching } from "../../runtime/controller/controller.ts";
import type { CacheReader, Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import { isControlledBy } from "../../runtime/refs/owner-reference.ts";
import { textOf } from "../pods/pod-changes.ts";
import { isNamespaceTerminating } from "../terminating-namespace.ts";
import { finishedConditionOf, planHistory, readJobs } from "./active-jobs.ts";
import type { JobSummary } from "./active-jobs.ts";
import { isMadeFor, jobName, newJob } from "./new-job.ts";
import { planRun } from "./plan-run.ts";
import type { RunPlan } from "./plan-run.ts";

/** Index of CronJobs by the uid of the Jobs in `status.active`. */
const RECORDED = "recorded jobs";

export const cronJobController = defineController({
  name: "cronjob-controller",
  for: CronJob,
  owns: [Job],
  indexes: [
    indexing(CronJob, RECORDED, ({ status }) => (status.active ?? []).flatMap(({ uid }) => uid ?? [])),
  ],
  watches: [watching(Job, recordersOf)],
  reconcile,
});

/**
 * A finished or deleted Job triggers every CronJob with it in its status, even if the Job was orphaned. A suspended CronJob has no timer
 * that would notice.
 */
function recordersOf({ before, after }: ObjectChange<Job>, read: CacheReader): readonly ObjectKey[] {
  if (after !== undefined && finishedConditionOf(after) === undefined) return [];
  const { uid = "" } = (after ?? before)?.metadata ?? {};
  return read(CronJob)
    .indexed(RECORDED, uid)
    .map(({ metadata: { namespace, name } }) => ({ namespace, name }));
}

async function reconcile(cronJob: CronJob, context: ReconcileContext): Promise<Outcome> {
  const jobs = context.cache(Job).ownedBy(cronJob);
  const news = readJobs(cronJob, jobs);
  const active = [
    ...news.active,
    ...(await stillRunning(news.missing, cronJob, context)),
    ...news.unexpected.filter((job) => isMadeFor(cronJob, job)).map(referenceTo),
  ];
  reportJobs(cronJob, news, context);
  const plan = planRun(cronJob, context.clock.now());
  reportPlan(cronJob, plan, context);

  const started = await start(cronJob, { plan, active, context });
  await context.updateStatus(cronJob, statusOf(cronJob, news, started));
  for (const job of planHistory(cronJob, jobs)) await deleteJob(cronJob, job, context);
  if (started.error !== undefined) throw started.error;
  // Periodic timer: a schedule recurs for ever, so it does not count as pending work.
  const recheckAfterMs = plan.type === "never" ? undefined : plan.recheckAfterMs;
  return recheckAfterMs === undefined ? undefined : { recheckAfterMs, timer: "periodic" };
}

interface Started {
  readonly active: readonly ObjectReference[];
  /** Scheduled time that this pass handled. */
  readonly at?: number;
  readonly error?: Error;
}

interface StartParts {
  readonly plan: RunPlan;
  readonly active: readonly ObjectReference[];
  readonly context: ReconcileContext;
}

async function start(cronJob: CronJob, { plan, active, context }: StartParts): Promise<Started> {
  if (plan.type !== "due" || plan.isTooLate) return { active };
  const name = jobName(cronJob, plan.at);
  if (active.some((reference) => reference.name === name)) return { active, at: plan.at };
  const { concurrencyPolicy } = cronJob.spec;
  if (concurrencyPolicy === "Forbid" && active.length > 0) {
    const message = "Not starting job because prior execution is running and concurrency policy is Forbid";
    context.event(cronJob, { type: "Normal", reason: "JobAlreadyActive", message });
    return { active };
  }
  let left = active;
  try {
    if (concurrencyPolicy === "Replace") left = await replace(cronJob, active, context);
    const job = await createJob(cronJob, plan.at, context);
    return job === undefined ? { active: left } : { active: [...left, referenceTo(job)], at: plan.at };
  } catch (error) {
    return { active: left, error: error as Error };
  }
}

/** Deletes the running Jobs. */
async function replace(
  cronJob: CronJob,
  active: readonly ObjectReference[],
  context: ReconcileContext,
): Promise<readonly ObjectReference[]> {
  for (const { name = "" } of active) {
    const job = context.cache(Job).find({ namespace: cronJob.metadata.namespace, name });
    if (job !== undefined) await deleteJob(cronJob, job, context);
  }
  return [];
}

/** Undefined if another owner's Job has the name, or if the namespace is being deleted. */
async function createJob(cronJob: CronJob, at: number, context: ReconcileContext): Promise<Job | undefined> {
  try {
    const job = await context.client(Job).create(newJob(cronJob, at));
    const message = `Created job ${job.metadata.name}`;
    context.event(cronJob, { type: "Normal", reason: "SuccessfulCreate", message });
    return job;
  } catch (error) {
    if (isNamespaceTerminating(error)) return undefined;
    if (isApiError(error, "AlreadyExists")) return await findOwn(cronJob, at, context);
    const message = `Error creating job: ${textOf(error)}`;
    context.event(cronJob, { type: "Warning", reason: "FailedCreate", message });
    throw error;
  }
}

/** Finds the Job of an earlier pass that did not record it in the status. */
async function findOwn(cronJob: CronJob, at: number, context: ReconcileContext): Promise<Job | undefined> {
  const job = await findJob(cronJob, jobName(cronJob, at), context);
  return job !== undefined && isControlledBy(job, cronJob) ? job : undefined;
}

function findJob(
  { metadata }: CronJob,
  name: string,
  { client }: ReconcileContext,
): Promise<Job | undefined> {
  return client(Job).find({ namespace: metadata.namespace, name });
}

async function deleteJob(cronJob: CronJob, job: Job, context: ReconcileContext): Promise<void> {
  try {
    await context.client(Job).delete(job, { propagationPolicy: "Background" });
    const message = `Deleted job ${job.metadata.name}`;
    context.event(cronJob, { type: "Normal", reason: "SuccessfulDelete", message });
  } catch (error) {
    if (isApiError(error, "NotFound")) return;
    const message = `Deleted job: ${textOf(error)}`;
    context.event(cronJob, { type: "Warning", reason: "FailedDelete", message });
    throw error;
  }
}

/** Returns the references whose Job still runs on the server, although the cache lacks it. */
async function stillRunning(
  missing: readonly ObjectReference[],
  cronJob: CronJob,
  context: ReconcileContext,
): Promise<readonly ObjectReference[]> {
  const found: ObjectReference[] = [];
  for (const reference of missing) {
    const { name = "", uid } = reference;
    // The controller never writes a reference without a name.
    const live = name === "" ? undefined : await findJob(cronJob, name, context);
    if (live?.metadata.uid === uid && live !== undefined && finishedConditionOf(live) === undefined) {
      found.push(reference);
      continue;
    }
    const message = `Active job went missing: ${name}`;
    context.event(cronJob, { type: "Normal", reason: "MissingJob", message });
  }
  return found;
}

function reportJobs(cronJob: CronJob, { ended, unexpected }: JobSummary, context: ReconcileContext): void {
  for (const job of ended) {
    const message = `Saw completed job: ${job.metadata.name}, condition: ${finishedConditionOf(job) ?? ""}`;
    context.event(cronJob, { type: "Normal", reason: "SawCompletedJob", message });
  }
  for (const { metadata } of unexpected) {
    const message = `Saw a job that the controller did not create or forgot: ${metadata.name}`;
    context.event(cronJob, { type: "Warning", reason: "UnexpectedJob", message });
  }
}

function reportPlan(cronJob: CronJob, plan: RunPlan, context: ReconcileContext): void {
  if (plan.type === "never" && plan.problem !== undefined)
    context.event(cronJob, { type: "Warning", ...plan.problem });
  if (plan.type !== "due") return;
  if (plan.areTooManyMissed) {
    const message =
      "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";
    context.event(cronJob, { type: "Warning", reason: "TooManyMissedTimes", message });
  }
  if (plan.isTooLate) {
    const time = new Date(plan.at).toUTCString().replace("GMT", "+0000");
    const message = `Missed scheduled time to start a job: ${time}`;
    context.event(cronJob, { type: "Warning", reason: "MissSchedule", message });
  }
}

function referenceTo({ apiVersion, kind, metadata }: Job): ObjectReference {
  const { namespace, name, uid, resourceVersion } = metadata;
  return { apiVersion, kind, ...(namespace !== undefined && { namespace }), name, uid, resourceVersion };
}

function statusOf(
  { status }: CronJob,
  { lastSuccessfulTime }: JobSummary,
  { active, at }: Started,
): CronJobStatus {
  const lastScheduleTime = at === undefined ? status.lastScheduleTime : timeText(at);
  return {
    ...(active.length > 0 && { active }),
    ...(lastScheduleTime !== undefined && { lastScheduleTime }),
    ...(lastSuccessfulTime !== undefined && { lastSuccessfulTime }),
  };
}
