/** What `kubectl describe` shows of a node that starts, or is well again, in kubelet's words. */
import type { Node } from "../../api/generated/types/core-v1.ts";
import type { RecordedEvent } from "../../runtime/events/recorded-event.ts";

type Words = Pick<RecordedEvent, "type" | "reason" | "message">;

/** By the type of a condition, when it comes to be as it should be. */
const WELL = [
  { type: "MemoryPressure", status: "False", reason: "NodeHasSufficientMemory" },
  { type: "DiskPressure", status: "False", reason: "NodeHasNoDiskPressure" },
  { type: "PIDPressure", status: "False", reason: "NodeHasSufficientPID" },
  { type: "Ready", status: "True", reason: "NodeReady" },
] as const;

/** `before` is the node as it was found; undefined when it is new. */
export function nodeStarted(name: string, before: Node | undefined): readonly Words[] {
  return [
    { type: "Normal", reason: "Starting", message: "Starting kubelet." },
    {
      type: "Normal",
      reason: "NodeAllocatableEnforced",
      message: "Updated Node Allocatable limit across pods",
    },
    ...nodeRecovered(name, before),
  ];
}

/** One for each condition that was otherwise. */
export function nodeRecovered(name: string, before: Node | undefined): readonly Words[] {
  const known = before?.status.conditions ?? [];
  return WELL.filter(({ type, status }) => !known.some((it) => it.type === type && it.status === status)).map(
    ({ reason }) => ({ type: "Normal", reason, message: `Node ${name} status is now: ${reason}` }),
  );
}
