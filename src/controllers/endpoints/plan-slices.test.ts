import { describe, expect, test } from "vitest";
import type { Endpoint, EndpointSlice } from "../../api/generated/types/discovery-v1.ts";
import { planSlices } from "./plan-slices.ts";
import type { EndpointGroup } from "./plan-slices.ts";

const PORTS = [{ name: "", port: 80, protocol: "TCP" }] as const;

function endpoint(number: number, ready = true): Endpoint {
  return {
    addresses: [`10.0.${String(number >> 8)}.${String(number & 255)}`],
    conditions: { ready },
    targetRef: { kind: "Pod", uid: `uid-${String(number)}` },
  };
}

function range(from: number, to: number): readonly Endpoint[] {
  return Array.from({ length: to - from }, (_, at) => endpoint(from + at));
}

function group(endpoints: readonly Endpoint[]): EndpointGroup {
  return { addressType: "IPv4", ports: PORTS, endpoints };
}

function slice(
  name: string,
  endpoints: readonly Endpoint[],
  ports: EndpointSlice["ports"] = PORTS,
): EndpointSlice {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name, uid: name, resourceVersion: "1", creationTimestamp: "" },
    addressType: "IPv4",
    ports,
    endpoints,
  };
}

describe("planSlices", () => {
  test("creates one slice per hundred endpoints", () => {
    const { creates, updates, deletes } = planSlices([group(range(0, 250))], []);

    expect(creates.map(({ endpoints }) => endpoints.length)).toEqual([100, 100, 50]);
    expect([updates, deletes]).toEqual([[], []]);
  });

  test("changes no slice if every endpoint is in one", () => {
    const slices = [slice("a", range(50, 60)), slice("b", range(0, 50))];

    expect(planSlices([group(range(0, 60))], slices)).toEqual({ creates: [], updates: [], deletes: [] });
  });

  test("changes only the slice of the changed pod", () => {
    const slices = [slice("a", range(0, 100)), slice("b", range(100, 150))];
    const wanted = [...range(0, 149), endpoint(149, false)];

    const { updates, creates } = planSlices([group(wanted)], slices);

    expect(updates.map((update) => update.slice.metadata.name)).toEqual(["b"]);
    expect(creates).toEqual([]);
  });

  test("puts new endpoints into a slice that changes anyway", () => {
    const slices = [slice("a", range(0, 50)), slice("b", range(50, 90))];

    const { updates } = planSlices([group([...range(0, 89), endpoint(500)])], slices);

    expect(updates).toHaveLength(1);
    expect(updates[0]?.slice.metadata.name).toBe("b");
    expect(updates[0]?.endpoints.at(-1)).toEqual(endpoint(500));
  });

  test("fills a slice with room before it creates another", () => {
    const { updates, creates } = planSlices([group(range(0, 120))], [slice("a", range(0, 95))]);

    expect(updates[0]?.endpoints).toHaveLength(100);
    expect(creates.map(({ endpoints }) => endpoints.length)).toEqual([20]);
  });

  test("deletes slices that are empty or have other ports", () => {
    const slices = [slice("a", range(0, 5)), slice("b", range(5, 6)), slice("old", range(0, 5), [])];

    const { deletes } = planSlices([group(range(0, 5))], slices);

    expect(deletes.map(({ metadata }) => metadata.name)).toEqual(["old", "b"]);
  });

  test("reuses a slice with other ports instead of deleting it", () => {
    const slices = [slice("old", range(0, 5), [])];

    const { creates, updates, deletes } = planSlices([group(range(0, 5))], slices);

    expect(updates).toEqual([{ slice: slices[0], ports: PORTS, endpoints: range(0, 5) }]);
    expect([creates, deletes]).toEqual([[], []]);
  });

  test("never reuses a slice for another address type", () => {
    const other: EndpointGroup = { addressType: "IPv6", ports: PORTS, endpoints: [] };

    const { creates, deletes } = planSlices([other], [slice("old", range(0, 5))]);

    expect(creates).toEqual([other]);
    expect(deletes.map(({ metadata }) => metadata.name)).toEqual(["old"]);
  });

  test("keeps one empty slice for a Service without endpoints", () => {
    expect(planSlices([group([])], []).creates).toEqual([group([])]);
    expect(planSlices([group([])], [slice("a", [])])).toEqual({ creates: [], updates: [], deletes: [] });
    expect(planSlices([group([])], [slice("a", range(0, 1)), slice("b", [])])).toMatchObject({
      updates: [{ endpoints: [] }],
      deletes: [{ metadata: { name: "b" } }],
    });
  });
});
