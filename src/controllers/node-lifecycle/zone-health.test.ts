import { describe, expect, test } from "vitest";
import type { Node } from "../../api/generated/types/core-v1.ts";
import { zoneHealth } from "./zone-health.ts";

describe("the health of a zone", () => {
  test.each([
    [10, 0, "Normal", 0.1],
    [10, 2, "Normal", 0.1],
    [1, 2, "Normal", 0.1],
    [4, 6, "PartialDisruption", 0],
    [30, 60, "PartialDisruption", 0.01],
  ] as const)("with %s ready and %s not is %s", (...row) => {
    const [ready, notReady, state, perSecond] = row;
    const { zones, isAllDark } = zoneHealth(nodes("a", ready, notReady));

    expect(zones.get("region:a")).toEqual({ state, perSecond });
    expect(isAllDark).toBe(false);
  });

  test("that is wholly gone beside others does not stop", () => {
    const { zones, isAllDark } = zoneHealth([...nodes("a", 3, 0), ...nodes("b", 0, 3)]);

    expect(zones.get("region:b")).toEqual({ state: "FullDisruption", perSecond: 0.1 });
    expect(isAllDark).toBe(false);
  });

  test("is nothing to act upon when all zones are dark", () => {
    const { zones, isAllDark } = zoneHealth([...nodes("a", 0, 2), ...nodes("b", 0, 3)]);

    expect([...zones.values()].map(({ perSecond }) => perSecond)).toEqual([0, 0]);
    expect(isAllDark).toBe(true);
  });

  test("is told by nodes alone that are not excluded from it", () => {
    const excluded = nodes("a", 0, 9).map(exclude);

    expect(zoneHealth([...nodes("a", 3, 1), ...excluded]).zones.get("region:a")).toEqual({
      state: "Normal",
      perSecond: 0.1,
    });
    expect(zoneHealth([...nodes("b", 0, 2), ...nodes("a", 1, 0).map(exclude)]).isAllDark).toBe(true);
    expect(zoneHealth(excluded)).toEqual({
      isAllDark: false,
      zones: new Map([["region:a", { state: "Normal", perSecond: 0.1 }]]),
    });
  });
});

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
    status: { conditions: [{ type: "Ready", status }] } as unknown as Node["status"],
  };
}
