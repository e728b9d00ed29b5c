/**
 * Tracks the heartbeats of nodes by the controller's own clock. Machines' clocks may differ or be reset, so the time since the last change
 * counts.
 */
import type { Lease } from "../../api/generated/types/coordination-v1.ts";
import type { Node, NodeCondition } from "../../api/generated/types/core-v1.ts";

/** Upstream's defaults: 50 s for a known node, one minute for a new one. */
const GRACE_MS = 50_000;
const STARTUP_GRACE_MS = 60_000;

const STOPPED = { reason: "NodeStatusUnknown", message: "Kubelet stopped posting node status." };
const NEVER = { reason: "NodeStatusNeverUpdated", message: "Kubelet never posted node status." };
const TYPES = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

export interface NodeHealth {
  /** Time of the last observed heartbeat (Loop.elapsed). */
  readonly lastHeartbeatAt: number;
  readonly heartbeat: string | undefined;
  readonly renewTime: string | undefined;
}

/** Returns the same object if there is no new heartbeat. */
export function observeHeartbeat(
  health: NodeHealth | undefined,
  signals: { readonly node?: Node | undefined; readonly lease?: Lease | undefined },
  elapsed: number,
): NodeHealth {
  const { node, lease } = signals;
  const heartbeat = node === undefined ? health?.heartbeat : readyOf(node)?.lastHeartbeatTime;
  const renewTime = lease === undefined ? health?.renewTime : lease.spec.renewTime;
  if (health === undefined) return { lastHeartbeatAt: elapsed, heartbeat, renewTime };
  if (heartbeat === health.heartbeat && renewTime === health.renewTime) return health;
  return { lastHeartbeatAt: elapsed, heartbeat, renewTime };
}

/** Time at which a silent node counts as lost (Loop.elapsed). */
export function graceEndsAt({ lastHeartbeatAt }: NodeHealth, node: Node): number {
  return lastHeartbeatAt + (readyOf(node) === undefined ? STARTUP_GRACE_MS : GRACE_MS);
}

/** Conditions to set to Unknown for a silent node; empty if they already are. */
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

/** The node was ready once and is not now. A node without any heartbeat is not lost. */
export function isLost(node: Node): boolean {
  const ready = readyOf(node);
  return ready !== undefined && ready.status !== "True" && ready.reason !== NEVER.reason;
}

export function isNodeReady(node: Node): boolean {
  return readyOf(node)?.status === "True";
}

/** The node reports to be unready. Without a Ready condition nothing is known. */
export function isUnready(node: Node): boolean {
  return readyOf(node) !== undefined && !isNodeReady(node);
}
