import { expect, test } from "vitest";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { stateOf } from "./replica-state.ts";

const READY = [{ type: "Ready", status: "True" }];

function pod(status: Pod["status"], deletionTimestamp?: string): Pod {
  const metadata = { name: "a", uid: "a", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...metadata, ...(deletionTimestamp !== undefined && { deletionTimestamp }) },
    spec: { containers: [] },
    status,
  };
}

test("a pod is ended, terminating, ready or unready, checked in this order", () => {
  const deletedAt = "2026-01-01T00:00:01Z";

  expect(stateOf(pod({ phase: "Failed", conditions: READY }, deletedAt))).toBe("ended");
  expect(stateOf(pod({ phase: "Succeeded" }))).toBe("ended");
  expect(stateOf(pod({ phase: "Running", conditions: READY }, deletedAt))).toBe("terminating");
  expect(stateOf(pod({ phase: "Running", conditions: READY }))).toBe("ready");
  expect(stateOf(pod({ phase: "Running", conditions: [{ type: "Ready", status: "False" }] }))).toBe(
    "unready",
  );
  expect(stateOf(pod({}))).toBe("unready");
});

test("a new version of a pod gets its own state", () => {
  const running = pod({ phase: "Running" });

  expect([stateOf(running), stateOf({ ...running, status: { conditions: READY } })]).toEqual([
    "unready",
    "ready",
  ]);
  expect(stateOf(running)).toBe("unready");
});
