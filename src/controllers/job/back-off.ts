/** Delay before a Job replaces a failed pod: 10 s, doubled after each further failure, at most 10 min. */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { endOf, hasFailed } from "./job-pods.ts";
import { totalFailures } from "./observation.ts";
import type { Observation } from "./observation.ts";

const FIRST_MS = 10_000;
const MAX_MS = 10 * 60_000;

/** Counts consecutive failures after the last success. Pods that no longer exist do not count. */
export function waitMs({ job, pods, now }: Observation): number {
  let lastSuccess = Number.NEGATIVE_INFINITY;
  for (const pod of pods)
    if (pod.status.phase === "Succeeded") lastSuccess = Math.max(lastSuccess, endOf(pod));
  let failures = 0;
  let lastFailure = 0;
  for (const pod of pods) {
    const end = hasFailed(pod, job) ? endOf(pod) : Number.NEGATIVE_INFINITY;
    if (end <= lastSuccess) continue;
    failures++;
    lastFailure = Math.max(lastFailure, end);
  }
  return remaining(failures, lastFailure, now);
}

/** `failed` is the pod to replace. */
export function waitOfIndexMs(failed: Pod | undefined, now: number): number {
  return failed === undefined ? 0 : remaining(totalFailures(failed) + 1, endOf(failed), now);
}

function remaining(failures: number, lastFailure: number, now: number): number {
  if (failures === 0) return 0;
  const backOff = Math.min(MAX_MS, FIRST_MS * 2 ** Math.min(failures - 1, 30));
  return Math.max(0, lastFailure + backOff - now);
}
