/**
 * Whether a node is heard of, by what passes for the controller: clocks of machines need not agree and may be set, so what counts is how long ago
 * something changed.
 */
import type { Lease } from "../../api/generated/types/coordination-v1.ts";
import type { Node, NodeCondition } from "../../api/generated/types/core-v1.ts";

/** As upstream's defaults: a node that was heard of before has 50 s, a new one a minute. */
const GRACE_MS = 50_000;
const STARTUP_GRACE_MS = 60_000;

const STOPPED = { reason: "NodeStatusUnknown", message: "Kubelet stopped posting node status." };
const NEVER = { reason: "NodeStatusNeverUpdated", message: "Kubelet never posted node status." };
const TYPES = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

export interface NodeHealth {
  /** When something new was last seen of the node (Loop.elapsed). */
  readonly heardAt: number;
  readonly heartbeat: string | undefined;
  readonly renewTime: string | undefined;
}

/** The same object when nothing new is seen. */
export function hear(
  health: NodeHealth | undefined,
  signs: { readonly node?: Node | undefined; readonly lease?: Lease | undefined },
  elapsed: number,
): NodeHealth {
  const { node, lease } = signs;
  const heartbeat = node === undefined ? health?.heartbeat : readyOf(node)?.lastHeartbeatTime;
  const renewTime = lease === undefined ? health?.renewTime : lease.spec.renewTime;
  if (health === undefined) return { heardAt: elapsed, heartbeat, renewTime };
  if (heartbeat === health.heartbeat && renewTime === health.renewTime) return health;
  return { heardAt: elapsed, heartbeat, renewTime };
}

/** When a node that stays silent is given up (Loop.elapsed). */
export function silentAt({ heardAt }: NodeHealth, node: Node): number {
  return heardAt + (readyOf(node) === undefined ? STARTUP_GRACE_MS : GRACE_MS);
}

/** The conditions that must be written because nobody knows better any more; empty when they are there. */
export function unknownConditions(node: Node, time: string): readonly NodeCondition[] {
  return TYPES.flatMap((type) => {
    const known = node.status.conditions?.find((condition) => condition.type === type);
    if (known?.status === "Unknown") return [];
    return [
      {
        type,
        status: "Unknown",
        ...(known === undefined ? NEVER : STOPPED),
        lastHeartbeatTime: known?.lastHeartbeatTime ?? node.metadata.creationTimestamp ?? time,
        lastTransitionTime: time,
      },
    ];
  });
}

export function readyOf({ status }: Node): NodeCondition | undefined {
  return status.conditions?.find(({ type }) => type === "Ready");
}

/** It was there, and is not any more. A node that was never heard of has lost nothing. */
export function isLost(node: Node): boolean {
  const ready = readyOf(node);
  return ready !== undefined && ready.status !== "True" && ready.reason !== NEVER.reason;
}

export function isNodeReady(node: Node): boolean {
  return readyOf(node)?.status === "True";
}

/** It is known not to be ready. Of a new node nothing is known before it has had its time. */
export function isUnready(node: Node): boolean {
  return readyOf(node) !== undefined && !isNodeReady(node);
}
