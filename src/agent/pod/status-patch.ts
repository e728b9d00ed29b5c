/** Computes the strategic merge patch between a pod's status and the agent's. */
import type { Pod, PodCondition } from "../../api/generated/types/core-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { timeText } from "../../api/values/time.ts";
import { RESIZE_IN_PROGRESS, RESIZE_PENDING, type OwnStatus } from "./pod-status.ts";

const FIELDS: readonly Exclude<keyof OwnStatus, "conditions">[] = [
  "allocatedResources",
  "containerStatuses",
  "ephemeralContainerStatuses",
  "hostIP",
  "hostIPs",
  "initContainerStatuses",
  "message",
  "observedGeneration",
  "phase",
  "podIP",
  "podIPs",
  "reason",
  "resources",
  "startTime",
];

/**
 * Replaced as a whole: in a merge, old addresses would stay beside the new ones, and the server would refuse
 * that.
 */
const ADDRESSES = ["hostIPs", "podIPs"] as const;
const REPLACE = { $patch: "replace" };

/** Undefined when nothing differs. */
export function findStatusPatch(pod: Pod, wanted: OwnStatus, now: number): object | undefined {
  const status: Record<string, unknown> = {};
  for (const field of FIELDS) {
    const value = wanted[field];
    // Clears outdated fields, except addresses, which stay once set.
    if (value === undefined ? isTakenBack(field, pod) : !jsonEqual(value, pod.status[field])) {
      status[field] = value ?? null;
    }
  }
  for (const field of ADDRESSES) if (pod.status[field] !== undefined) replaceList(status, field);
  const conditions = (wanted.conditions ?? []).flatMap((condition) => {
    const change = findConditionChange(pod, condition, now);
    return change === undefined ? [] : [change];
  });
  for (const type of [RESIZE_PENDING, RESIZE_IN_PROGRESS]) {
    if (isOver(type, pod, wanted)) conditions.push({ type, $patch: "delete" });
  }
  if (conditions.length > 0) status["conditions"] = conditions;
  if (Object.keys(status).length === 0) return undefined;
  return { metadata: { uid: pod.metadata.uid }, status };
}

function replaceList(status: Record<string, unknown>, field: string): void {
  const written = status[field];
  if (Array.isArray(written)) status[field] = [REPLACE, ...(written as readonly unknown[])];
}

function isOver(condition: string, { status }: Pod, { conditions = [] }: OwnStatus): boolean {
  const isIt = ({ type }: PodCondition): boolean => type === condition;
  return (status.conditions ?? []).some(isIt) && !conditions.some(isIt);
}

function isTakenBack(field: keyof OwnStatus, { status }: Pod): boolean {
  const isText = field === "reason" || field === "message";
  return isText && status[field] !== undefined && status.phase !== "Failed" && status.phase !== "Succeeded";
}

function findConditionChange(
  { status }: Pod,
  wanted: PodCondition,
  now: number,
): Readonly<Record<string, unknown>> | undefined {
  const known = status.conditions?.find(({ type }) => type === wanted.type);
  if (known === undefined) return { ...wanted, lastTransitionTime: timeText(now) };
  const isSame =
    known.status === wanted.status &&
    known.reason === wanted.reason &&
    known.message === wanted.message &&
    known.observedGeneration === wanted.observedGeneration;
  if (isSame) return undefined;
  return {
    ...wanted,
    ...(wanted.reason === undefined && known.reason !== undefined && { reason: null }),
    ...(wanted.message === undefined && known.message !== undefined && { message: null }),
    ...(known.status !== wanted.status && { lastTransitionTime: timeText(now) }),
  };
}
