import { describe, expect, test } from "vitest";
import type { PodStatus } from "../../api/generated/types/core-v1.ts";
import type { Node, Pod } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import { missingNodes, planPodGc } from "./plan-pod-gc.ts";

const DELETED = "2026-01-01T00:00:00Z";

describe("pods to clean up", () => {
  test("are pods of missing nodes, and deleted pods that no node will end", () => {
    const pods = [
      pod("orphan", { nodeName: "gone" }),
      pod("runs", { nodeName: "here" }),
      pod("unscheduled", { deletionTimestamp: DELETED }),
      pod("waits", {}),
      pod("stuck", { nodeName: "broken", deletionTimestamp: DELETED }),
      pod("ends", { nodeName: "here", deletionTimestamp: DELETED }),
    ];
    const nodes = new Map([
      ["here", node("True", [])],
      ["broken", node("Unknown", ["node.kubernetes.io/out-of-service"])],
    ]);
    const findNode = (name: string): Node | undefined => nodes.get(name);

    const victims = planPodGc({ pods, findNode, goneNodes: new Set(["gone"]) });

    expect(victims.map(({ pod: { metadata }, why }) => [metadata.name, why])).toEqual([
      ["orphan", "orphaned"],
      ["unscheduled", "unscheduled"],
      ["stuck", "out of service"],
    ]);
    expect([...missingNodes({ names: ["gone", "here", "", "broken"], findNode })]).toEqual(["gone"]);
  });

  test("are the evicted, then the oldest of too many ended pods", () => {
    const ended = Array.from({ length: 12_500 }, (_, at) =>
      pod(`p-${String(at).padStart(5, "0")}`, {
        phase: "Succeeded",
        creationTimestamp: `2026-01-02T00:00:00Z`,
      }),
    );
    const old = pod("old", { phase: "Failed", creationTimestamp: "2026-01-01T00:00:00Z" });
    const evicted = pod("evicted", {
      phase: "Failed",
      reason: "Evicted",
      creationTimestamp: "2026-01-03T00:00:00Z",
    });
    const all = [...ended, old, evicted];

    const victims = planPodGc({ pods: all, findNode: () => undefined, goneNodes: new Set() });

    expect(victims.map(({ pod: { metadata } }) => metadata.name)).toEqual(["evicted", "old"]);
  });
});

interface PodFacts {
  readonly nodeName?: string;
  readonly deletionTimestamp?: string;
  readonly creationTimestamp?: string;
  readonly phase?: PodStatus["phase"];
  readonly reason?: string;
}

function pod(name: string, { nodeName, phase = "Running", reason, ...metadata }: PodFacts): Pod {
  return incomplete<Pod>({ metadata: { name, ...metadata }, spec: { nodeName }, status: { phase, reason } });
}

function node(ready: string, taints: readonly string[]): Node {
  return incomplete<Node>({
    metadata: {},
    spec: { taints: taints.map((key) => ({ key })) },
    status: { conditions: [{ type: "Ready", status: ready }] },
  });
}
