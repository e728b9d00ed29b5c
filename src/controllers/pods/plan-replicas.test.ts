import { describe, expect, test } from "vitest";
import type { ContainerStatus, Pod } from "../../api/generated/types/core-v1.ts";
import { planReplicas } from "./plan-replicas.ts";
import type { ReplicaGoal } from "./plan-replicas.ts";

const NOW = Date.UTC(2026, 0, 1, 12);

interface PodOptions {
  readonly node?: string;
  readonly phase?: "Pending" | "Running" | "Failed" | "Succeeded";
  /** Seconds before now. */
  readonly readyFor?: number;
  readonly age?: number;
  readonly cost?: string;
  readonly restarts?: number;
  readonly sidecarRestarts?: number;
  readonly isBeingDeleted?: boolean;
  readonly labels?: Readonly<Record<string, string>>;
}

function pod(name: string, options: PodOptions = {}): Pod {
  const {
    node,
    phase = "Running",
    readyFor,
    age = 3600,
    cost,
    restarts = 0,
    isBeingDeleted = false,
  } = options;
  const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString();
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      uid: name,
      resourceVersion: "1",
      creationTimestamp: ago(age),
      labels: options.labels ?? { app: "web" },
      ...(cost !== undefined && { annotations: { "controller.kubernetes.io/pod-deletion-cost": cost } }),
      ...(isBeingDeleted && { deletionTimestamp: ago(1) }),
    },
    spec: {
      containers: [],
      initContainers: [
        { name: "s", restartPolicy: "Always", resources: {} },
        { name: "first", resources: {} },
      ],
      ...(node !== undefined && { nodeName: node }),
    },
    status: {
      phase,
      ...(readyFor !== undefined && {
        conditions: [{ type: "Ready", status: "True", lastTransitionTime: ago(readyFor) }],
      }),
      containerStatuses: [containerStatus("c", restarts)],
      initContainerStatuses: initStatuses(options),
    },
  };
}

/** Restarts of init containers do not count. */
function initStatuses({ sidecarRestarts = 0 }: PodOptions): readonly ContainerStatus[] {
  return [containerStatus("s", sidecarRestarts), containerStatus("first", 100 - sidecarRestarts)];
}

function containerStatus(name: string, restartCount: number): ContainerStatus {
  return { name, image: "i", imageID: "", ready: true, restartCount, lastState: {}, state: {} };
}

function plan(goal: Partial<ReplicaGoal>, pods: readonly Pod[], siblings: readonly Pod[] = []) {
  const template = { metadata: { labels: { app: "web" } }, spec: { containers: [] } };
  const whole = { replicas: 1, minReadySeconds: 0, selector: {}, template, isDeleted: false, ...goal };
  return planReplicas(whole, pods, { siblings, now: NOW });
}

describe("planReplicas", () => {
  test("creates missing pods, at most 500 per pass", () => {
    expect(plan({ replicas: 3 }, [pod("a")]).missing).toBe(2);
    expect(plan({ replicas: 2000 }, []).missing).toBe(500);
  });

  test("counts neither ended nor terminating pods", () => {
    const pods = [pod("a"), pod("b", { phase: "Failed" }), pod("c", { isBeingDeleted: true })];

    const { missing, counts } = plan({ replicas: 2 }, pods);

    expect(missing).toBe(1);
    expect(counts).toMatchObject({ replicas: 1, terminatingReplicas: 1 });
  });

  test("neither creates nor deletes pods of a deleted set", () => {
    expect(plan({ replicas: 3, isDeleted: true }, [])).toMatchObject({ missing: 0, victims: [] });
    expect(plan({ replicas: 0, isDeleted: true }, [pod("a")])).toMatchObject({ missing: 0, victims: [] });
  });

  const useful = { node: "n", readyFor: 1000, age: 1000 };
  test.each<[string, PodOptions, PodOptions]>([
    ["unassigned before assigned", { ...useful, node: "" }, useful],
    ["pending before running", { ...useful, phase: "Pending" }, useful],
    ["not ready before ready", { node: "n", age: 1000 }, useful],
    ["low deletion cost before high", { ...useful, cost: "-5" }, { ...useful, cost: "5" }],
    ["just ready before long ready", { ...useful, readyFor: 5 }, useful],
    ["often restarted before rarely", { ...useful, restarts: 9 }, { ...useful, restarts: 1 }],
    ["often restarted sidecars", { ...useful, sidecarRestarts: 2 }, { ...useful, sidecarRestarts: 1 }],
    [
      "often restarted before often restarted sidecars",
      { ...useful, restarts: 2 },
      { ...useful, restarts: 1, sidecarRestarts: 5 },
    ],
    [
      "the lowest possible deletion cost",
      { ...useful, cost: "-2147483648" },
      { ...useful, cost: "-2147483647" },
    ],
    ["young before old", { ...useful, age: 5, readyFor: 3 }, { ...useful, readyFor: 3 }],
  ])("deletes %s", (_, victim, survivor) => {
    // The order of names and uids alone would delete the other pod.
    const pods = [pod("survivor", survivor), pod("victim", victim)];

    expect(plan({ replicas: 1 }, pods).victims.map(({ metadata }) => metadata.name)).toEqual(["victim"]);
  });

  test("deletes pods of the most crowded node first", () => {
    const pods = [pod("a", { ...useful, node: "one" }), pod("b", { ...useful, node: "two" })];
    const siblings = [pod("c", { ...useful, node: "two" })];

    expect(plan({ replicas: 1 }, pods, siblings).victims.map(({ metadata }) => metadata.name)).toEqual(["b"]);
  });

  test("ignores a deletion cost that is not a number", () => {
    const pods = [pod("a", { ...useful, cost: "much" }), pod("b", { ...useful, cost: "1" })];

    expect(plan({ replicas: 1 }, pods).victims.map(({ metadata }) => metadata.name)).toEqual(["a"]);
  });

  test("counts pods as available after minReadySeconds, and rechecks at the next one's time", () => {
    const pods = [pod("a", { readyFor: 60 }), pod("b", { readyFor: 10 }), pod("c")];

    const { counts, recheckAfterMs } = plan({ replicas: 3, minReadySeconds: 30 }, pods);

    expect(counts).toMatchObject({ replicas: 3, readyReplicas: 2, availableReplicas: 1 });
    expect(recheckAfterMs).toBe(20_000);
  });

  test("returns the counts after the deletion of surplus pods", () => {
    const pods = [pod("a", { readyFor: 60 }), pod("b", { readyFor: 10 }), pod("c", { isBeingDeleted: true })];

    const { countsAfter } = plan({ replicas: 1 }, pods);

    expect(countsAfter).toEqual({
      replicas: 1,
      fullyLabeledReplicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
      terminatingReplicas: 2,
    });
  });

  test("counts pods that lack template labels separately", () => {
    const pods = [pod("a"), pod("b", { labels: { other: "x" } })];

    expect(plan({ replicas: 2 }, pods).counts.fullyLabeledReplicas).toBe(1);
  });

  test("checks template labels that the selector does not cover", () => {
    const template = { metadata: { labels: { app: "web", tier: "front" } }, spec: { containers: [] } };
    const pods = [pod("a"), pod("b", { labels: { app: "web", tier: "front" } })];

    const { counts } = plan({ replicas: 2, selector: { matchLabels: { app: "web" } }, template }, pods);

    expect(counts.fullyLabeledReplicas).toBe(1);
  });
});
