import { describe, expect, test } from "vitest";
import { KindProbe } from "../rules/kind-probe.ts";
import { node } from "./node.ts";

const probe = new KindProbe(node);

describe("a Node", () => {
  test("keeps podCIDR and podCIDRs consistent", () => {
    expect(probe.created({ spec: { podCIDR: "10.0.0.0/24" } })).toMatchObject({
      spec: { podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.0.0/24"] },
    });
    expect(probe.created({ spec: { podCIDRs: ["10.0.0.0/24", "fd00::/64"] } })).toMatchObject({
      spec: { podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.0.0/24", "fd00::/64"] },
    });
  });

  test("has its capacity as allocatable resources by default", () => {
    expect(probe.created({ status: { capacity: { cpu: "4" } } })).toMatchObject({
      status: { allocatable: { cpu: "4" } },
    });
  });

  test.each([
    [
      {
        taints: [
          { key: "a", effect: "NoSchedule" },
          { key: "a", effect: "NoExecute" },
        ],
      },
      [],
    ],
    [{ taints: [{ key: "a" }] }, ["metadata.taints[0].effect: Required value"]],
    [
      { taints: [{ key: "a", effect: "Never" }] },
      [
        'metadata.taints[0].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      ],
    ],
    [
      {
        taints: [
          { key: "a", effect: "NoSchedule" },
          { key: "a", value: "b", effect: "NoSchedule" },
        ],
      },
      [
        'metadata.taints[1]: Duplicate value: {"Key":"a","Value":"b","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair',
      ],
    ],
    [{ podCIDRs: ["10.0.0.0/24", "fd00::/64"] }, []],
    [
      { podCIDRs: ["10.0.0.0/24", "10.0.0.0/24"] },
      [
        'spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.0.0/24"]: may specify no more than one CIDR for each IP family',
      ],
    ],
    [
      { podCIDRs: ["10.0.0.0/24", "10.0.1.0/24"] },
      [
        'spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one CIDR for each IP family',
      ],
    ],
    [
      { podCIDR: "x" },
      [
        'spec.podCIDRs[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      ],
    ],
  ])("has valid taints and pod CIDRs: %#", (spec, problems) => {
    expect(probe.problems({ spec })).toEqual(problems);
  });

  test("has no negative amounts and no fractions of devices", () => {
    const status = { capacity: { cpu: "-1", "example.com/gpu": "500m" }, allocatable: { cpu: "500m" } };

    expect(probe.problems({ status })).toEqual([
      'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
      'status.capacity.example.com/gpu: Invalid value: "500m": must be an integer',
    ]);
  });

  test.each([
    [{ podCIDR: "10.0.0.0/24" }, {}, []],
    [
      { podCIDR: "10.0.1.0/24" },
      { podCIDR: "10.0.0.0/24" },
      ['spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid'],
    ],
    [
      {},
      { podCIDR: "10.0.0.0/24" },
      ['spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid'],
    ],
    [
      { providerID: "b" },
      { providerID: "a" },
      ['spec.providerID: Forbidden: node updates may not change providerID except from "" to valid'],
    ],
    [{ providerID: "b", unschedulable: true }, {}, []],
  ])("keeps its pod CIDRs and provider ID: %#", (next, previous, problems) => {
    expect(probe.updateProblems({ spec: next }, { spec: previous })).toEqual(problems);
  });

  test("has unique addresses", () => {
    const addresses = [{ type: "InternalIP", address: "10.0.0.1" }];

    expect(probe.statusProblems({ status: { addresses } })).toEqual([]);
    expect(probe.statusProblems({ status: { addresses: [...addresses, ...addresses] } })).toEqual([
      'status.addresses[1]: Duplicate value: {"Type":"InternalIP","Address":"10.0.0.1"}',
    ]);
  });

  test("shows its state, roles and machine", () => {
    const manifest = {
      metadata: { labels: { "node-role.kubernetes.io/worker": "", "kubernetes.io/role": "edge" } },
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: "Ready", status: "True" }],
        addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
        nodeInfo: { kubeletVersion: "v1.36.0", osImage: "Linux" },
      },
    };

    expect(probe.cells(manifest)).toEqual([
      "it",
      "Ready,SchedulingDisabled",
      "edge,worker",
      "2m5s",
      "v1.36.0",
      "10.0.0.1",
      "<none>",
      "Linux",
      "<unknown>",
      "<unknown>",
    ]);
    expect(probe.cells({})).toMatchObject({ 1: "Unknown", 2: "<none>" });
    expect(probe.fields(manifest)).toEqual({ "spec.unschedulable": "true" });
  });

  test("warns about deprecated and malformed fields", () => {
    expect(probe.warnings({ spec: { externalID: "x", podCIDR: "FD00::/64" } })).toEqual([
      "spec.externalID: this field is deprecated, and is unused by Kubernetes",
      'spec.podCIDRs[0]: IPv6 CIDR value "FD00::/64" should be in RFC 5952 canonical format ("fd00::/64")',
    ]);
  });

  test("has a positive swap capacity, or none", () => {
    const swap = (capacity: number): readonly string[] =>
      probe.problems({ status: { nodeInfo: { swap: { capacity } } } });

    expect(swap(1)).toEqual([]);
    expect(swap(0)).toEqual([
      "metadata.nodeSwapStatus.capacity: Invalid value: 0: must be greater than zero",
    ]);
  });

  test("declares features sorted and unique", () => {
    const problems = (...declaredFeatures: readonly string[]): readonly string[] =>
      probe.statusProblems({ status: { declaredFeatures } });

    expect(problems("A", "B/c")).toEqual([]);
    expect(problems("B", "A", "A")).toEqual([
      'status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically',
      'status.declaredFeatures[2]: Duplicate value: "A"',
    ]);
    expect(problems("A".repeat(254))).toEqual([
      expect.stringMatching(/: must be no more than 253 characters$/),
    ]);
    expect(problems("a")).toEqual([
      expect.stringMatching(
        /^status\.declaredFeatures\[0\]: Invalid value: "a": invalid feature name "a": must /,
      ),
    ]);
  });
});
