/** Pods of each Job in a history, their outcomes, and whether each is counted once. */
import type { ApiObject } from "../../../src/api/api-object.ts";
import type { Job } from "../../../src/api/generated/types/batch-v1.ts";
import type { Pod } from "../../../src/api/generated/types/core-v1.ts";
import { isTerminal } from "../../../src/resources/pod/pod-state.ts";
import type { Change } from "./chaos-history.ts";
import { controllerOf } from "./chaos-invariants.ts";

const TRACKING = "batch.kubernetes.io/job-tracking";
/** Longer than a watch is delayed. */
const KNOWN_MS = 10_000;
const INDEX = "batch.kubernetes.io/job-completion-index";

export function hasEnded({ status }: Job): boolean {
  return (status.conditions ?? []).some(
    (condition) =>
      condition.status === "True" && (condition.type === "Complete" || condition.type === "Failed"),
  );
}

interface Tally {
  readonly pods: Set<string>;
  readonly succeeded: Set<string>;
  readonly indexes: Set<string>;
  /** Time at which each pod was first seen to have ended. */
  readonly endedAt: Map<string, number>;
  /** Pods that ended long enough ago that the controller knew and released them: pods that it deletes, and that end meanwhile, do not count. */
  readonly settled: Map<string, string>;
  /** Whether a user removed one of its pods, so that the count may miss it. */
  isMeddledWith: boolean;
}

export class JobTally {
  readonly #byJob = new Map<string, Tally>();

  take({ kind, before, after, at }: Change): void {
    const pod = (after ?? before) as Pod | undefined;
    if (kind !== "Pod" || pod === undefined) return;
    const owner = controllerOf(before ?? pod);
    const tally = this.#of(controllerOf(pod) ?? "");
    if (controllerOf(pod) !== owner) this.#of(owner ?? "").isMeddledWith = true;
    note(tally, pod);
    if (isTerminal(pod)) noteEnd(tally, pod, { at, isLetGo: isLetGo(before, after) });
  }

  wrongAfter({ kind, after }: Change): readonly string[] {
    if (kind !== "Job" || after === undefined) return [];
    const job = after as Job;
    const tally = this.#of(job.metadata.uid ?? "");
    return [...countedTooOften(job, tally), ...(tally.isMeddledWith ? [] : countedTooSeldom(job, tally))];
  }

  #of(uid: string): Tally {
    const known = this.#byJob.get(uid);
    if (known !== undefined) return known;
    const tally: Tally = {
      pods: new Set(),
      succeeded: new Set(),
      indexes: new Set(),
      endedAt: new Map(),
      settled: new Map(),
      isMeddledWith: false,
    };
    this.#byJob.set(uid, tally);
    return tally;
  }
}

function note({ pods, succeeded, indexes }: Tally, { metadata, status }: Pod): void {
  pods.add(metadata.uid);
  if (status.phase !== "Succeeded") return;
  succeeded.add(metadata.uid);
  indexes.add(metadata.annotations?.[INDEX] ?? "");
}

function noteEnd(
  { endedAt, settled }: Tally,
  { metadata: { uid }, status }: Pod,
  { at, isLetGo }: { readonly at: number; readonly isLetGo: boolean },
): void {
  const since = endedAt.get(uid) ?? at;
  endedAt.set(uid, since);
  if (isLetGo && at > since + KNOWN_MS) settled.set(uid, status.phase ?? "");
}

function uncounted({ status }: Job): readonly string[] {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  return [...succeeded, ...failed];
}

function countedTooOften(job: Job, tally: Tally): readonly string[] {
  const { succeeded = 0, failed = 0 } = job.status;
  const found: string[] = [];
  const waiting = uncounted(job);
  if (new Set(waiting).size !== waiting.length) found.push("is about to count a pod twice");
  const ended = isIndexed(job) ? tally.indexes.size : tally.succeeded.size;
  if (succeeded > ended) found.push(`has ${String(succeeded)} that succeeded, of ${String(ended)}`);
  const others = tally.pods.size - succeeded;
  if (failed > others) found.push(`has ${String(failed)} that failed, of ${String(others)}`);
  return found;
}

/** Checked once the Job has ended. */
function countedTooSeldom(job: Job, { settled }: Tally): readonly string[] {
  if (!hasEnded(job) || uncounted(job).length > 0) return [];
  const { succeeded = 0, failed = 0 } = job.status;
  const ends = [...settled.values()];
  const found: string[] = [];
  const lost = ends.filter((phase) => phase === "Failed").length - failed;
  if (lost > 0) found.push(`has lost ${String(lost)} that failed`);
  const missing = ends.filter((phase) => phase === "Succeeded").length - succeeded;
  if (!isIndexed(job) && missing > 0) found.push(`has lost ${String(missing)} that succeeded`);
  return found;
}

function isIndexed({ spec }: Job): boolean {
  return spec.completionMode === "Indexed";
}

function isLetGo(before: ApiObject | undefined, after: ApiObject | undefined): boolean {
  return before !== undefined && isTracked(before) && (after === undefined || !isTracked(after));
}

function isTracked({ metadata }: ApiObject): boolean {
  return (metadata.finalizers ?? []).includes(TRACKING);
}
