/** Events of a node that starts or recovers. Reasons and messages equal the kubelet's. */
import type { Node } from "../../api/generated/types/core-v1.ts";
import type { RecordedEvent } from "../../runtime/events/recorded-event.ts";

type EventText = Pick<RecordedEvent, "type" | "reason" | "message">;

/** Events for conditions that become healthy. */
const WELL = [
  { type: "MemoryPressure", status: "False", reason: "NodeHasSufficientMemory" },
  { type: "DiskPressure", status: "False", reason: "NodeHasNoDiskPressure" },
  { type: "PIDPressure", status: "False", reason: "NodeHasSufficientPID" },
  { type: "Ready", status: "True", reason: "NodeReady" },
] as const;

/** `before` is the Node object at the start; undefined for a new node. */
export function nodeStarted(name: string, before: Node | undefined): readonly EventText[] {
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

/** One event for each condition that was unhealthy before. */
export function nodeRecovered(name: string, before: Node | undefined): readonly EventText[] {
  const known = before?.status.conditions ?? [];
  return WELL.filter(({ type, status }) => !known.some((it) => it.type === type && it.status === status)).map(
    ({ reason }) => ({ type: "Normal", reason, message: `Node ${name} status is now: ${reason}` }),
  );
}
