/** States of Job and CronJob. Pure. */
import type { ApiObject } from "../../api/api-object.ts";
import type { CronJob, Job } from "../../api/generated/types/batch-v1.ts";
import { durationText } from "../text/duration-text.ts";
import { findCondition, sinceOf } from "./conditions.ts";
import type { ObjectState } from "./object-state.ts";

export function jobState(object: ApiObject): ObjectState | undefined {
  if (object.kind !== "Job" || !object.apiVersion.startsWith("batch/")) return undefined;
  const complete = findCondition(object, "Complete");
  if (complete?.status === "True") return { text: "complete", isSettled: true, since: sinceOf(complete) };
  const failed = findCondition(object, "Failed");
  if (failed?.status === "True") {
    const reason = failed.reason === undefined ? "" : ` (${failed.reason})`;
    return { text: `failed${reason}`, isSettled: false, isFinal: true, since: sinceOf(failed) };
  }
  const { spec, status } = object as Job;
  if (spec.suspend === true) return { text: "suspended", isSettled: true, since: undefined };
  const { succeeded = 0, failed: failures = 0, active = 0, ready = active } = status;
  const { completions } = spec;
  const wanted = completions === undefined ? "" : ` of ${String(completions)}`;
  const parts = [
    `${String(succeeded)}${wanted} completed`,
    `${String(active)} active`,
    ...(failures > 0 ? [`${String(failures)} failed`] : []),
  ];
  const since = Date.parse(status.startTime ?? object.metadata.creationTimestamp ?? "");
  // A Job at work is as desired while its pods are ready.
  return { text: parts.join(", "), isSettled: active > 0 && ready >= active, since };
}

export function cronJobState(object: ApiObject, now: number): ObjectState | undefined {
  if (object.kind !== "CronJob" || !object.apiVersion.startsWith("batch/")) return undefined;
  const { spec, status } = object as CronJob;
  if (spec.suspend === true) return { text: "suspended", isSettled: true, since: undefined };
  const last = Date.parse(status.lastScheduleTime ?? "");
  const text = Number.isNaN(last) ? "has not run yet" : `last run ${durationText(now - last)} ago`;
  return { text: `${text} (schedule ${spec.schedule})`, isSettled: true, since: undefined };
}
