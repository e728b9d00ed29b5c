import { describe, expect, test } from "vitest";
import type { Job, JobSpec, JobStatus } from "../../api/generated/types/batch-v1.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { findOutcome } from "./job-outcome.ts";
import { COMPLETION_INDEX, INDEX_FAILURES, TRACKING } from "./job-pods.ts";
import { observe } from "./observation.ts";
import { planPods } from "./plan-job-pods.ts";

const NOW = Date.UTC(2026, 0, 1, 12);

function ago(seconds: number): string {
  return new Date(NOW - seconds * 1000).toISOString();
}

function jobOf(spec: Partial<JobSpec>, status: JobStatus = {}): Job {
  const metadata = { name: "work", uid: "job", resourceVersion: "1", creationTimestamp: ago(3600) };
  const template = { metadata: {}, spec: { containers: [], restartPolicy: "Never" as const } };
  return { apiVersion: "batch/v1", kind: "Job", metadata, spec: { template, ...spec }, status };
}

interface PodOptions {
  readonly phase?: "Failed" | "Pending" | "Running" | "Succeeded";
  readonly index?: number;
  readonly failures?: number;
  /** Seconds before now. */
  readonly endedFor?: number;
  readonly isBeingDeleted?: boolean;
  readonly age?: number;
  readonly cost?: string;
}

let pods = 0;

function podOf(options: PodOptions = {}): Pod {
  const { phase = "Running", index, failures, endedFor, isBeingDeleted = false, age = 3600, cost } = options;
  const name = `pod-${String(pods++)}`;
  const annotations = {
    ...(cost !== undefined && { "controller.kubernetes.io/pod-deletion-cost": cost }),
    ...(index !== undefined && { [COMPLETION_INDEX]: String(index) }),
    ...(failures !== undefined && { [INDEX_FAILURES]: String(failures) }),
  };
  const container = { name: "c", image: "", imageID: "", ready: false, restartCount: 0, lastState: {} };
  const terminated = { exitCode: 1, finishedAt: ago(endedFor ?? 0) };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      uid: name,
      resourceVersion: "1",
      creationTimestamp: ago(age),
      finalizers: [TRACKING],
      annotations,
      ...(isBeingDeleted && { deletionTimestamp: ago(0) }),
    },
    spec: { containers: [] },
    status: {
      phase,
      ...(endedFor !== undefined && { containerStatuses: [{ ...container, state: { terminated } }] }),
    },
  };
}

function plan(spec: Partial<JobSpec>, found: readonly Pod[], status: JobStatus = {}) {
  const { surplus, missing, waitMs } = planPods(observe(jobOf(spec, status), found, NOW));
  return { surplus: surplus.length, missing, waitMs };
}

const INDEXED = { completionMode: "Indexed", completions: 5, parallelism: 5 } as const;

describe("the pods that a Job creates", () => {
  test.each<[string, Partial<JobSpec>, readonly PodOptions[], number]>([
    ["as many as may run", { completions: 9, parallelism: 4 }, [{}], 3],
    [
      "no more than the remaining completions",
      { completions: 3, parallelism: 4 },
      [{ phase: "Succeeded" }],
      2,
    ],
    ["none beside enough active ones", { completions: 1, parallelism: 4 }, [{}], 0],
    ["workers for a queue", { parallelism: 3 }, [{}], 2],
    ["no worker for an empty queue", { parallelism: 3 }, [{}, { phase: "Succeeded" }], 0],
    ["none while suspended", { completions: 3, parallelism: 3, suspend: true }, [], 0],
    ["one in place of a deleted one", { completions: 1 }, [{ isBeingDeleted: true, endedFor: 60 }], 1],
    [
      "none before a deleted one has ended",
      { completions: 1, podReplacementPolicy: "Failed" },
      [{ isBeingDeleted: true }],
      0,
    ],
    ["at most 500 per pass", { completions: 2000, parallelism: 2000 }, [], 500],
  ])("are %s", (_, spec, ...[found, count]) => {
    expect(plan(spec, found.map(podOf)).missing).toHaveLength(count);
  });

  test("wait twice as long after each failure in a row, up to ten minutes", () => {
    const failed = (count: number): readonly Pod[] =>
      Array.from({ length: count }, () => podOf({ phase: "Failed", endedFor: 0 }));
    const waits = [1, 2, 3, 4, 5, 6, 7, 8].map((count) => plan({ completions: 1 }, failed(count)).waitMs);

    expect(waits).toEqual([10, 20, 40, 80, 160, 320, 600, 600].map((seconds) => seconds * 1000));
  });

  test("do not wait for failures before the last success", () => {
    const found = [podOf({ phase: "Failed", endedFor: 3 }), podOf({ phase: "Succeeded", endedFor: 2 })];

    expect(plan({ completions: 2 }, found)).toMatchObject({ missing: [undefined], waitMs: undefined });
  });

  test("get the lowest indexes that are neither done nor active", () => {
    const found = [podOf({ index: 0 }), podOf({ index: 2, phase: "Succeeded" })];

    expect(plan({ ...INDEXED, parallelism: 3 }, found, { completedIndexes: "1" }).missing).toEqual([3, 4]);
  });

  test("wait for their own index only with backoffLimitPerIndex", () => {
    const failed = podOf({ index: 1, phase: "Failed", failures: 1, endedFor: 5 });

    expect(plan({ ...INDEXED, backoffLimitPerIndex: 3 }, [failed])).toMatchObject({
      missing: [0, 2, 3, 4],
      waitMs: 15_000,
    });
  });
});

describe("the pods that a Job deletes", () => {
  test.each<[string, Partial<JobSpec>, readonly PodOptions[], number]>([
    ["all when it is suspended", { completions: 3, suspend: true }, [{}, {}], 2],
    ["pods beyond its parallelism", { completions: 9, parallelism: 1 }, [{}, {}, {}], 2],
    [
      "pods beyond the remaining completions",
      { completions: 1, parallelism: 2 },
      [{}, { phase: "Succeeded" }],
      1,
    ],
    ["duplicates of an index", INDEXED, [{ index: 1 }, { index: 1 }, { index: 2 }], 1],
    ["indexes that it no longer has", INDEXED, [{ index: 7 }, { index: 2 }], 1],
    ["pods without an index", INDEXED, [{}, { index: 2 }], 1],
  ])("are %s", (_, spec, ...[found, count]) => {
    expect(plan(spec, found.map(podOf))).toMatchObject({ surplus: count, missing: [] });
  });

  test("are the youngest first, regardless of their deletion cost", () => {
    const found = [podOf({ age: 1000, cost: "-5" }), podOf({ age: 999, cost: "9" }), podOf({ age: 1001 })];
    const { surplus } = planPods(observe(jobOf({ completions: 3, parallelism: 1 }), found, NOW));

    expect(surplus).toEqual([found[1], found[0]]);
  });
});

describe("the end of a Job", () => {
  test.each<[string, Partial<JobSpec>, readonly PodOptions[], string | undefined]>([
    ["goes on within its limit", { backoffLimit: 1 }, [{ phase: "Failed" }], undefined],
    ["fails beyond its limit", { backoffLimit: 0 }, [{ phase: "Failed" }], "BackoffLimitExceeded"],
    [
      "counts deleted pods as failed",
      { backoffLimit: 0 },
      [{ isBeingDeleted: true }],
      "BackoffLimitExceeded",
    ],
    [
      "counts terminating pods only once they have ended with podReplacementPolicy Failed",
      { backoffLimit: 0, podReplacementPolicy: "Failed" },
      [{ isBeingDeleted: true }],
      undefined,
    ],
    [
      "fails when too many indexes have failed",
      { ...INDEXED, backoffLimit: 9, backoffLimitPerIndex: 0, maxFailedIndexes: 1 },
      [
        { index: 0, phase: "Failed" },
        { index: 1, phase: "Failed" },
      ],
      "MaxFailedIndexesExceeded",
    ],
    [
      "succeeds by the count of its policy",
      { ...INDEXED, successPolicy: { rules: [{ succeededCount: 1 }] } },
      [{ index: 4, phase: "Succeeded" }],
      "SuccessPolicy",
    ],
    [
      "does not succeed by indexes that its policy does not name",
      { ...INDEXED, successPolicy: { rules: [{ succeededIndexes: "0-1" }] } },
      [
        { index: 0, phase: "Succeeded" },
        { index: 4, phase: "Succeeded" },
      ],
      undefined,
    ],
  ])("%s", (_, spec, ...[found, reason]) => {
    expect(findOutcome(observe(jobOf(spec), found.map(podOf), NOW))?.reason).toBe(reason);
  });

  test("comes at the deadline, counted from the start", () => {
    const status = { startTime: ago(60) };
    const reason = (activeDeadlineSeconds: number): string | undefined =>
      findOutcome(observe(jobOf({ activeDeadlineSeconds }, status), [], NOW))?.reason;

    expect([reason(61), reason(60)]).toEqual([undefined, "DeadlineExceeded"]);
  });
});
