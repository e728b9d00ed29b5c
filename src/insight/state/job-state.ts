/** States of Job and CronJob. Pure. */
import type { ApiObject } from "../../api/api-object.ts";
import type { CronJob, Job } from "../../api/generated/types/batch-v1.ts";
import { durationText } from "../text/duration-text.ts";
import { findCondition, sinceOf } from "./conditions.ts";
import type { ObjectState } from "./state.ts";

export function jobState(object: ApiObject): ObjectState | undefined {
  if (object.kind !== "Job" || !object.apiVersion.startsWith("batch/")) return undefined;
  const complete = findCondition(object, "Complete");
  if (complete?.status === "True") return { text: "complete", isSettled: true, since: sinceOf(complete) };
  const failed = findCondition(object, "Failed");
  if (failed?.status === "True") {
    const reason = failed.reason === undefined ? "" : ` (${failed.reason})`;
    return { text: `failed${reason}`, isSettled: false, isFinal: true, since: sinceOf(failed) };
  }
  return (object as Job).spec.suspend === true
    ? { text: "suspended", isSettled: true, since: undefined }
    : workState(object as Job);
}

/** A Job at work is as desired while its pods are ready. */
function workState({ metadata, spec: { completions }, status }: Job): ObjectState {
  const { succeeded = 0, failed = 0, active = 0, ready = active } = status;
  const wanted = completions === undefined ? "" : ` of ${String(completions)}`;
  const failures = failed > 0 ? `, ${String(failed)} failed` : "";
  const text = `${String(succeeded)}${wanted} completed, ${String(active)} active${failures}`;
  const since = Date.parse(status.startTime ?? metadata.creationTimestamp);
  return { text, isSettled: active > 0 && ready >= active, since };
}

export function cronJobState(object: ApiObject, now: number): ObjectState | undefined {
  if (object.kind !== "CronJob" || !object.apiVersion.startsWith("batch/")) return undefined;
  const { spec, status } = object as CronJob;
  if (spec.suspend === true) return { text: "suspended", isSettled: true, since: undefined };
  const last = Date.parse(status.lastScheduleTime ?? "");
  const text = Number.isNaN(last) ? "has not run yet" : `last run ${durationText(now - last)} ago`;
  return { text: `${text} (schedule ${spec.schedule})`, isSettled: true, since: undefined };
}
