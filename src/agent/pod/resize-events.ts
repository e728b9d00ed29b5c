/** Events about the resize of a pod. Reasons and messages equal the kubelet's. */
import type { Container, Pod, PodCondition } from "../../api/generated/types/core-v1.ts";
import type { RecordedEvent } from "../../runtime/events/recorded-event.ts";
import type { SizeProblem } from "./granted-size.ts";
import { RESIZE_IN_PROGRESS, RESIZE_PENDING } from "./pod-status.ts";

type EventText = Pick<RecordedEvent, "type" | "reason" | "message">;

export function resizeStarted(pod: Pod): EventText {
  return { type: "Normal", reason: "ResizeStarted", message: `Pod resize started: ${sizesText(pod)}` };
}

export function resizeCompleted(pod: Pod): EventText {
  return { type: "Normal", reason: "ResizeCompleted", message: `Pod resize completed: ${sizesText(pod)}` };
}

/** Empty when the status already shows the problem. */
export function resizePending(pod: Pod, { reason, message }: SizeProblem): readonly EventText[] {
  if (isShown(pod, { type: RESIZE_PENDING, reason, message })) return [];
  const text = `Pod resize ${reason}: ${sizesText(pod, message)}`;
  return [{ type: "Warning", reason: `Resize${reason}`, message: text }];
}

/** The same for a granted resize that cannot be applied. */
export function resizeFailed(pod: Pod, message: string): readonly EventText[] {
  if (isShown(pod, { type: RESIZE_IN_PROGRESS, reason: "Error", message })) return [];
  return [
    { type: "Warning", reason: "ResizeError", message: `Pod resize error: ${sizesText(pod, message)}` },
  ];
}

function isShown(
  { metadata, status }: Pod,
  { type, reason, message }: Pick<PodCondition, "type" | "reason" | "message">,
): boolean {
  const known = status.conditions?.find((condition) => condition.type === type);
  return (
    known?.reason === reason &&
    known?.message === message &&
    known?.observedGeneration === metadata.generation
  );
}

function sizesText({ metadata, spec }: Pod, error?: string): string {
  const { containers, initContainers = [] } = spec;
  return JSON.stringify({
    ...(initContainers.length > 0 && { initContainers: initContainers.map(sizeOf) }),
    containers: containers.map(sizeOf),
    generation: metadata.generation,
    error,
  });
}

/** Field order of Go's JSON encoder. */
function sizeOf({ name, resources: { limits, requests, claims } }: Container): object {
  return { name, resources: { limits, requests, claims } };
}
