import { describe, expect, test } from "vitest";
import type { Node, Service } from "../../api/generated/types/core-v1.ts";
import type { Endpoint, EndpointSlice } from "../../api/generated/types/discovery-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import type { EndpointGroup } from "./plan-slices.ts";
import { isOverloaded, planHintedSlices, wantsHints, zoneShares } from "./topology-hints.ts";

const READY = [{ type: "Ready", status: "True" }];

function node(zone: string | undefined, cpu: string, change: object = {}): Node {
  const labels = zone === undefined ? {} : { "topology.kubernetes.io/zone": zone };
  const status = { allocatable: { cpu }, conditions: READY };
  return incomplete<Node>({ metadata: { name: "n", labels }, spec: {}, status, ...change });
}

/** One endpoint per letter, which is its zone. */
function endpoints(zones: string, hints = ""): readonly Endpoint[] {
  return Array.from(zones).map((zone, i) => ({
    addresses: [`10.0.0.${i}`],
    conditions: { ready: zone !== "-" },
    ...(zone !== "-" && zone !== "?" && { zone }),
    ...(hints[i] !== undefined && { hints: { forZones: [{ name: hints[i] }] } }),
  }));
}

function group(zones: string): EndpointGroup {
  return { addressType: "IPv4", ports: [], endpoints: endpoints(zones) };
}

function slice(zones: string, hints: string): EndpointSlice {
  const all = { addressType: "IPv4", ports: [], endpoints: endpoints(zones, hints) };
  return incomplete<EndpointSlice>({ ...all, metadata: { name: "s" } });
}

function hintText(all: readonly Endpoint[] | undefined): string {
  return (all ?? []).map(({ hints }) => hints?.forZones?.[0]?.name ?? "-").join("");
}

const HALVES = zoneShares([node("a", "2"), node("b", "2")]);
const THIRDS = zoneShares([node("a", "2"), node("b", "1")]);

describe("the share of a zone", () => {
  test("counts the CPUs of its ready worker nodes", () => {
    const master = { metadata: { name: "m", labels: { "node-role.kubernetes.io/master": "" } } };
    const broken = node("c", "9", { status: { conditions: [{ type: "Ready", status: "False" }] } });

    const shares = zoneShares([
      node("a", "1"),
      node("b", "500m"),
      node("a", "500m"),
      broken,
      node("", "1", master),
    ]);

    expect([...(shares ?? [])]).toEqual([
      ["a", 0.75],
      ["b", 0.25],
    ]);
  });

  test.each([
    ["a node without a zone", [node("a", "1"), node("b", "1"), node(undefined, "1")]],
    ["a node without CPUs", [node("a", "1"), node("b", "0")]],
    ["one zone only", [node("a", "1"), node("a", "1")]],
  ])("is unknown with %s", (_, nodes) => {
    expect(zoneShares(nodes)).toBeUndefined();
  });
});

describe("hints", () => {
  test.each([
    ["name the endpoint's own zone if that is balanced", "aabb", "aabb"],
    ["leave out unready endpoints", "ab-ab", "ab-ab"],
    ["reassign endpoints to a zone with too few", "aaab", "baab"],
  ])("%s", (_, zones, hints) => {
    const { plan, fault } = planHintedSlices([group(zones)], [], HALVES);

    expect(fault).toBeUndefined();
    expect(hintText(plan.creates[0]?.endpoints)).toBe(hints);
  });

  test.each([
    ["Insufficient number of endpoints (1 endpoints, 2 zones)", "a", HALVES],
    ["One or more endpoints do not have a zone specified", "abb?", HALVES],
    [
      "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (2 endpoints, 2 zones)",
      "ab",
      zoneShares([node("a", "9"), node("b", "1")]),
    ],
    [
      "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes",
      "ab",
      undefined,
    ],
  ])("are missing: %s", (why, zones, shares) => {
    const { plan, fault } = planHintedSlices([group(zones)], [slice(zones, zones)], shares);

    expect(fault).toBe(why);
    expect(hintText(plan.updates[0]?.endpoints)).toBe("-".repeat(zones.length));
  });

  test("stay while they fit, and are recomputed once they do not", () => {
    const stays = planHintedSlices([group("aabb")], [slice("aabb", "abab")], HALVES);
    const made = planHintedSlices([group("aabb")], [slice("aabb", "aaab")], HALVES);

    expect(stays.plan).toEqual({ creates: [], updates: [], deletes: [] });
    expect(hintText(made.plan.updates[0]?.endpoints)).toBe("aabb");
  });
});

test("a Service with hints is overloaded if a zone has too few endpoints", () => {
  expect(isOverloaded([slice("aabb", "aabb")], HALVES)).toBe(false);
  expect(isOverloaded([slice("aabb", "abbb")], HALVES)).toBe(true);
  expect(isOverloaded([slice("aabb", "aabb")], undefined)).toBe(true);
  expect(isOverloaded([slice("aabbcc", "aabbcc")], THIRDS)).toBe(true);
  expect(isOverloaded([slice("aabb", "")], undefined)).toBe(false);
});

test.each([
  [{ "service.kubernetes.io/topology-mode": "Auto" }, true],
  [{ "service.kubernetes.io/topology-mode": "auto" }, true],
  [{ "service.kubernetes.io/topology-mode": "Disabled" }, false],
  [
    { "service.kubernetes.io/topology-aware-hints": "Off", "service.kubernetes.io/topology-mode": "Auto" },
    false,
  ],
])("the annotations %j ask for hints: %j", (annotations, wanted) => {
  expect(wantsHints(incomplete<Service>({ metadata: { name: "web", annotations } }))).toBe(wanted);
});
