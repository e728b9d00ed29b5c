import { describe, expect, test } from "vitest";
import type { Lease } from "../../api/generated/types/coordination-v1.ts";
import type { Node, NodeCondition } from "../../api/generated/types/core-v1.ts";
import { observeHeartbeat, isLost, graceEndsAt, unknownConditions } from "./node-health.ts";

const TIME = "2026-01-01T00:10:00Z";
const READY: NodeCondition = { type: "Ready", status: "True", lastHeartbeatTime: "2026-01-01T00:00:00Z" };

describe("the health of a node", () => {
  test("counts from the last observed change, regardless of the node's clock", () => {
    const first = observeHeartbeat(
      undefined,
      { node: node([READY]), lease: lease("1999-01-01T00:00:00.000000Z") },
      1000,
    );
    const same = observeHeartbeat(first, { lease: lease("1999-01-01T00:00:00.000000Z") }, 5000);
    const renewed = observeHeartbeat(first, { lease: lease("1999-01-01T00:00:10.000000Z") }, 9000);

    expect(same).toBe(first);
    expect(graceEndsAt(first, node([READY]))).toBe(51_000);
    expect(graceEndsAt(renewed, node([READY]))).toBe(59_000);
  });

  test("gives a node without any heartbeat one minute", () => {
    expect(graceEndsAt(observeHeartbeat(undefined, { node: node([]) }, 0), node([]))).toBe(60_000);
  });

  test("sets all conditions to Unknown and keeps the last heartbeat", () => {
    const conditions = unknownConditions(node([READY]), TIME);

    expect(conditions.map(({ type, reason }) => `${type} ${reason ?? ""}`)).toEqual([
      "Ready NodeStatusUnknown",
      "MemoryPressure NodeStatusNeverUpdated",
      "DiskPressure NodeStatusNeverUpdated",
      "PIDPressure NodeStatusNeverUpdated",
    ]);
    expect(conditions[0]).toMatchObject({
      status: "Unknown",
      lastHeartbeatTime: READY.lastHeartbeatTime,
      lastTransitionTime: TIME,
    });
    expect(unknownConditions(node(conditions), TIME)).toEqual([]);
  });

  test("is lost only if it was ready once", () => {
    const unknown = { type: "Ready", status: "Unknown" };

    expect(isLost(node([]))).toBe(false);
    expect(isLost(node([READY]))).toBe(false);
    expect(isLost(node([{ ...unknown, reason: "NodeStatusNeverUpdated" }]))).toBe(false);
    expect(isLost(node([{ ...unknown, reason: "NodeStatusUnknown" }]))).toBe(true);
  });
});

function node(conditions: readonly NodeCondition[]): Node {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "node", uid: "1", resourceVersion: "1", creationTimestamp: "2025-01-01T00:00:00Z" },
    spec: {},
    status: { conditions } as Node["status"],
  };
}

function lease(renewTime: string): Lease {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: "node", uid: "2", resourceVersion: "1", creationTimestamp: "2025-01-01T00:00:00Z" },
    spec: { renewTime },
  };
}
