import { describe, expect, test } from "vitest";
import type { Node } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import { ZoneCounts, type ZoneHealth } from "./zone-health.ts";

describe("the health of a zone", () => {
  test.each([
    [10, 0, "Normal", 0.1],
    [10, 2, "Normal", 0.1],
    [1, 2, "Normal", 0.1],
    [4, 6, "PartialDisruption", 0],
    [30, 60, "PartialDisruption", 0.01],
  ] as const)("with %s ready and %s not is %s", (...row) => {
    const [ready, notReady, state, perSecond] = row;
    const { zones, isFullOutage } = healthOf(nodes("a", ready, notReady));

    expect(zones.get("region:a")).toEqual({ state, perSecond });
    expect(isFullOutage).toBe(false);
  });

  test("continues evictions if only this zone is fully unready", () => {
    const { zones, isFullOutage } = healthOf([...nodes("a", 3, 0), ...nodes("b", 0, 3)]);

    expect(zones.get("region:b")).toEqual({ state: "FullDisruption", perSecond: 0.1 });
    expect(isFullOutage).toBe(false);
  });

  test("stops evictions if all zones are fully unready", () => {
    const { zones, isFullOutage } = healthOf([...nodes("a", 0, 2), ...nodes("b", 0, 3)]);

    expect([...zones.values()].map(({ perSecond }) => perSecond)).toEqual([0, 0]);
    expect(isFullOutage).toBe(true);
  });

  test("forgets the former state of a node, and removed nodes", () => {
    const counts = new ZoneCounts();
    for (const status of ["True", "Unknown"]) counts.put(node("a", status));
    const moved = counts.health();
    counts.put(node("b", "Unknown"));
    const left = counts.health();
    counts.remove("node");

    expect(moved.isFullOutage).toBe(true);
    expect([...left.zones.keys()]).toEqual(["region:b"]);
    expect(counts.health()).toEqual({ isFullOutage: false, zones: new Map() });
  });

  test("ignores excluded nodes", () => {
    const excluded = nodes("a", 0, 9).map(exclude);

    expect(healthOf([...nodes("a", 3, 1), ...excluded]).zones.get("region:a")).toEqual({
      state: "Normal",
      perSecond: 0.1,
    });
    expect(healthOf([...nodes("b", 0, 2), ...nodes("a", 1, 0).map(exclude)]).isFullOutage).toBe(true);
    expect(healthOf(excluded)).toEqual({
      isFullOutage: false,
      zones: new Map([["region:a", { state: "Normal", perSecond: 0.1 }]]),
    });
  });
});

function healthOf(all: readonly Node[]): ZoneHealth {
  const counts = new ZoneCounts();
  for (const [at, each] of all.entries())
    counts.put({ ...each, metadata: { ...each.metadata, name: String(at) } });
  return counts.health();
}

function nodes(zone: string, ready: number, notReady: number): readonly Node[] {
  return Array.from({ length: ready + notReady }, (_, i) => node(zone, i < ready ? "True" : "Unknown"));
}

function exclude({ metadata, ...rest }: Node): Node {
  const labels = { ...metadata.labels, "node.kubernetes.io/exclude-disruption": "" };
  return { ...rest, metadata: { ...metadata, labels } };
}

function node(zone: string, status: string): Node {
  const labels = { "topology.kubernetes.io/region": "region", "topology.kubernetes.io/zone": zone };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "node", uid: "1", resourceVersion: "1", creationTimestamp: "", labels },
    spec: {},
    status: incomplete<Node["status"]>({ conditions: [{ type: "Ready", status }] }),
  };
}
