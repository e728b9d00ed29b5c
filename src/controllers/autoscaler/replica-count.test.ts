import { describe, expect, test } from "vitest";
import type { PodStatus } from "../../api/generated/types/core-v1.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import type { PodMetrics } from "./pod-metric.ts";
import { countForAverage, countForShare, countForUtilization, countForValue } from "./replica-count.ts";

const NOW = Date.parse("2026-01-01T01:00:00Z");
const TOLERANCES = { down: 0.1, up: 0.1 };
const CPU_50 = { resource: "cpu", container: "", utilization: 50 };

interface PodOptions {
  readonly phase?: PodStatus["phase"];
  readonly ready?: boolean;
  readonly startedSecondsAgo?: number;
  readonly changedSecondsAgo?: number;
  readonly deleted?: boolean;
  readonly request?: string;
}

const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString();

function pod(name: string, options: PodOptions = {}): Pod {
  const { phase = "Running", ready = true, startedSecondsAgo = 3600, request = "100m" } = options;
  const { changedSecondsAgo = startedSecondsAgo - 10, deleted = false } = options;
  return incomplete<Pod>({
    metadata: { name, ...(deleted && { deletionTimestamp: ago(1) }) },
    spec: { containers: [{ name: "app", resources: { requests: { cpu: request } } }] },
    status: {
      phase,
      startTime: ago(startedSecondsAgo),
      conditions: [
        { type: "Ready", status: ready ? "True" : "False", lastTransitionTime: ago(changedSecondsAgo) },
      ],
    },
  });
}

function metrics(values: Readonly<Record<string, number>>): PodMetrics {
  const entries = Object.entries(values);
  return new Map(entries.map(([name, milli]) => [name, { milli, at: NOW, windowMs: 15_000 }]));
}

const sizing = (pods: readonly Pod[], currentReplicas = pods.length) => ({
  pods,
  currentReplicas,
  tolerances: TOLERANCES,
  now: NOW,
});

describe("the size for a utilization of 50 %", () => {
  test.each<[string, readonly Pod[], Readonly<Record<string, number>>, number]>([
    ["is the same within a tenth", [pod("a"), pod("b")], { a: 54, b: 55 }, 2],
    ["grows in proportion", [pod("a"), pod("b")], { a: 80, b: 80 }, 4],
    ["shrinks in proportion", [pod("a"), pod("b"), pod("c"), pod("d")], { a: 10, b: 10, c: 10, d: 10 }, 1],
    ["is rounded up", [pod("a"), pod("b")], { a: 60, b: 60 }, 3],
    [
      "counts pods without metrics as idle on a scale-up",
      [pod("a"), pod("b"), pod("c")],
      { a: 100, b: 100 },
      4,
    ],
    [
      "counts pods without metrics as fully used on a scale-down",
      [pod("a"), pod("b"), pod("c")],
      { a: 5, b: 5 },
      3,
    ],
    ["counts pending pods as idle on a scale-up", [pod("a"), pod("b", { phase: "Pending" })], { a: 150 }, 3],
    ["leaves out pending pods on a scale-down", [pod("a"), pod("b", { phase: "Pending" })], { a: 10 }, 1],
    [
      "leaves out pods that are being deleted",
      [pod("a"), pod("b", { deleted: true })],
      { a: 100, b: 900 },
      2,
    ],
    [
      "does not reverse its direction for starting pods",
      [pod("a"), pod("b", { phase: "Pending" })],
      { a: 60 },
      2,
    ],
    [
      "leaves out the load of a pod that has just become ready",
      [pod("a"), pod("b", { startedSecondsAgo: 60, changedSecondsAgo: 5 })],
      { a: 50, b: 900 },
      2,
    ],
    [
      "counts a pod that was ready for a whole measurement",
      [pod("a"), pod("b", { startedSecondsAgo: 60, changedSecondsAgo: 20 })],
      { a: 50, b: 150 },
      4,
    ],
    [
      "leaves out a pod that was never ready",
      [pod("a"), pod("b", { ready: false, startedSecondsAgo: 3600, changedSecondsAgo: 3590 })],
      { a: 50, b: 900 },
      2,
    ],
    [
      "counts a pod that was ready once",
      [pod("a"), pod("b", { ready: false, startedSecondsAgo: 3600, changedSecondsAgo: 60 })],
      { a: 50, b: 150 },
      4,
    ],
  ])("%s", (_, ...[pods, values, replicas]) => {
    expect(countForUtilization(metrics(values), CPU_50, sizing(pods)).replicas).toBe(replicas);
  });

  test("comes with the measured utilization", () => {
    expect(countForUtilization(metrics({ a: 33, b: 34 }), CPU_50, sizing([pod("a"), pod("b")]))).toEqual({
      replicas: 2,
      utilization: 33,
      averageMilli: 33,
    });
  });

  test.each<[string, readonly Pod[], Readonly<Record<string, number>>]>([
    ["no pods returned by selector while calculating replica count", [], {}],
    [
      "did not receive metrics for targeted pods (pods might be unready)",
      [pod("a", { phase: "Pending" })],
      { a: 1 },
    ],
    ["no metrics returned matched known pods", [pod("a", { request: "0" })], { a: 1 }],
  ])("cannot be found: %s", (message, pods, values) => {
    expect(() => countForUtilization(metrics(values), CPU_50, sizing(pods))).toThrow(message);
  });

  test("has a tolerance for each direction", () => {
    const pods = [pod("a"), pod("b")];
    const strict = { ...sizing(pods), tolerances: { down: 0.5, up: 0 } };
    expect(countForUtilization(metrics({ a: 51, b: 51 }), CPU_50, strict).replicas).toBe(3);
    expect(countForUtilization(metrics({ a: 26, b: 26 }), CPU_50, strict).replicas).toBe(2);
  });
});

describe("the size for other targets", () => {
  test("follows the average of the pods", () => {
    const goal = { resource: "", averageMilli: 1000 };
    const pods = [pod("a"), pod("b")];
    expect(countForAverage(metrics({ a: 3000, b: 1000 }), goal, sizing(pods))).toEqual({
      replicas: 4,
      averageMilli: 2000,
    });
  });

  test.each([
    [2000, 1000, 3, 4],
    [1050, 1000, 3, 3],
    [2500, 1000, 0, 3],
  ])("follows a value of %d for a target of %d", (milli, target, ...[current, replicas]) => {
    expect(countForValue(milli, target, sizing([pod("a"), pod("b")], current))).toBe(replicas);
  });

  test.each([
    [9000, 3, { replicas: 9, averageMilli: 3000 }],
    [3100, 3, { replicas: 3, averageMilli: 1034 }],
    [2000, 0, { replicas: 2, averageMilli: 2000 }],
  ])("shares %d among %d replicas", (milli, currentReplicas, expected) => {
    expect(countForShare(milli, 1000, { currentReplicas, tolerances: TOLERANCES })).toEqual(expected);
  });
});
