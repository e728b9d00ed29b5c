import { describe, expect, test } from "vitest";
import { KindProbe, type Manifest } from "../rules/kind-probe.ts";
import { resourceClaim } from "./resource-claim.ts";

const probe = new KindProbe(resourceClaim);
const spec = {
  devices: {
    requests: [
      { name: "gpu", exactly: { deviceClassName: "c" } },
      { name: "net", firstAvailable: [{ name: "fast", deviceClassName: "c" }] },
    ],
  },
};
const result = { request: "gpu", driver: "d", pool: "p", device: "x" };
const place = { driver: "d", pool: "p", device: "x" };
const allocation = { devices: { results: [result] } };
const pod = { resource: "pods", name: "a", uid: "u" };

/** Errors of a claim whose status gets this allocation. */
function allocationProblems(devices: Manifest): readonly string[] {
  return probe.statusProblems({ spec, status: { allocation: { devices } } }, { spec });
}

function deviceProblems(...devices: readonly Manifest[]): readonly string[] {
  const status = { allocation, devices: devices.map((device) => ({ ...place, ...device })) };
  return probe.statusProblems({ spec, status }, { spec, status: { allocation } });
}

describe("the allocation of a claim", () => {
  test.each<[string, Manifest, readonly string[]]>([
    ["accepts a result for an alternative", { results: [{ ...result, request: "net/fast" }] }, []],
    [
      "refuses a result for an unknown request",
      { results: [{ ...result, request: "disk" }] },
      [
        "status.allocation.devices.results[0].request: Invalid value: \"disk\": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
      ],
    ],
    [
      "refuses a device without a name",
      { results: [{ ...result, device: "" }] },
      [
        expect.stringMatching(
          /^status.allocation.devices.results\[0\].device: Invalid value: "": a lowercase RFC 1123 label/,
        ) as string,
      ],
    ],
    [
      "refuses an invalid share id",
      { results: [{ ...result, shareID: "me" }] },
      [
        'status.allocation.devices.results[0].shareID: Invalid value: "me": error validating uid: invalid UUID length: 2',
      ],
    ],
    [
      "refuses configuration without a source",
      { config: [{ opaque: { driver: "d", parameters: { a: 1 } } }] },
      ["status.allocation.devices.config[0].source: Required value"],
    ],
    [
      "refuses duplicate requests and invalid parameters",
      {
        config: [{ source: "FromClass", requests: ["gpu", "gpu"], opaque: { driver: "d", parameters: [] } }],
      },
      [
        'status.allocation.devices.config[0].requests[1]: Duplicate value: "gpu"',
        'status.allocation.devices.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object',
      ],
    ],
    [
      "refuses too many results",
      { results: Array.from({ length: 33 }, () => result) },
      ["status.allocation.devices.results: Too many: 33: must have at most 32 items"],
    ],
  ])("%s", (_, devices, expected) => {
    expect(allocationProblems(devices)).toEqual(expected);
  });

  test("is not validated again and cannot change", () => {
    const old = { devices: { results: [{ ...result, request: "gone" }] } };

    expect(probe.statusProblems({ spec, status: { allocation: old } })).toEqual([]);
    expect(
      probe.statusProblems({ spec, status: { allocation } }, { spec, status: { allocation: old } }),
    ).toEqual([expect.stringMatching(/^status.allocation: Invalid value: .*: field is immutable$/)]);
  });

  test("gets no further consumers once the claim is deleted", () => {
    const metadata = { deletionTimestamp: "2026-01-02T03:04:05Z" };
    const used = { metadata, spec, status: { allocation, reservedFor: [pod] } };
    const other = { ...used, status: { allocation, reservedFor: [{ ...pod, uid: "v" }] } };

    expect(probe.statusProblems(used)).toEqual([]);
    expect(probe.statusProblems(other, used)).toEqual([
      "status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set",
    ]);
  });
});

describe("the device statuses that drivers report", () => {
  const condition = {
    type: "Ready",
    status: "True",
    reason: "Up",
    message: "",
    lastTransitionTime: "2026-01-02T03:04:05Z",
  };

  test.each<[string, readonly Manifest[], readonly string[]]>([
    [
      "may have conditions and network data",
      [{ conditions: [condition], networkData: { ips: ["10.0.0.1/24"] } }],
      [],
    ],
    ["are unique", [{}, {}], ['status.devices[1]: Duplicate value: "d/p/x"']],
    [
      "belong to allocated devices",
      [{ device: "y" }],
      ["status.devices[0]: Invalid value: d/p/y: must be an allocated device in the claim"],
    ],
    [
      "need a reason in each condition",
      [{ conditions: [{ ...condition, reason: "" }] }],
      ["status.devices[0].conditions[0].reason: Required value: must be set"],
    ],
    [
      "need an object as data",
      [{ data: [1] }],
      ['status.devices[0].data: Invalid value: "<value omitted>": must be a valid JSON object'],
    ],
    [
      "have limited data",
      [{ data: { a: "x".repeat(10 * 1024) } }],
      ["status.devices[0].data: Too long: may not be more than 10240 bytes"],
    ],
    [
      "need addresses with a prefix length",
      [{ networkData: { ips: ["10.0.0.1"] } }],
      [
        'status.devices[0].networkData.ips[0]: Invalid value: "10.0.0.1": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)',
      ],
    ],
  ])("%s", (_, devices, expected) => {
    expect(deviceProblems(...devices)).toEqual(expected);
  });

  test("are deleted with the allocation of their devices", () => {
    const devices = [{ ...place, conditions: [condition] }];
    const before = { spec, status: { allocation, devices } };

    expect(probe.statusUpdated({ spec, status: { devices } }, before)["status"]).toEqual({});
    expect(probe.statusUpdated(before, before)).toMatchObject({ status: { devices } });
  });
});
