import { describe, expect, test } from "vitest";
import type { Deployment, ReplicaSet } from "../../api/generated/types/apps-v1.ts";
import { planRollingUpdate } from "./plan-scales.ts";

describe("a step of a rolling update", () => {
  test("does not count pods beyond their set's size as available", () => {
    const newSet = set("a", { replicas: 0, available: 1 });
    const oldSets = [set("b", { replicas: 3, available: 3 }), set("c", { replicas: 1, available: 0 })];

    const scales = planRollingUpdate(deployment(), { newSet, oldSets });

    expect(scales.map((scale) => [scale.set.metadata.name, scale.replicas])).toEqual([["c", 0]]);
  });

  test("shrinks no old set before the new one has observed its size", () => {
    const newSet = set("a", { replicas: 1, available: 1, generation: 2 });
    const oldSets = [set("b", { replicas: 3, available: 3 })];

    expect(planRollingUpdate(deployment(), { newSet, oldSets })).toEqual([]);
  });

  test("shrinks old sets by the spare pods", () => {
    const newSet = set("a", { replicas: 1, available: 1 });
    const oldSets = [set("b", { replicas: 3, available: 3 })];

    const scales = planRollingUpdate(deployment(), { newSet, oldSets });

    expect(scales.map((scale) => [scale.set.metadata.name, scale.replicas])).toEqual([["b", 2]]);
  });
});

function deployment(): Deployment {
  const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
  return { spec: { replicas: 3, strategy } } as Deployment;
}

interface Sizes {
  readonly replicas: number;
  readonly available: number;
  /** Set whose status describes generation 1. */
  readonly generation?: number;
}

function set(name: string, { replicas, available, generation = 1 }: Sizes): ReplicaSet {
  return {
    metadata: { name, creationTimestamp: "2026-01-01T00:00:00Z", generation },
    spec: { replicas },
    status: { replicas: available, availableReplicas: available, observedGeneration: 1 },
  } as ReplicaSet;
}
