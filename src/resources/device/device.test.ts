import { describe, expect, test } from "vitest";
import { KindProbe, type Manifest } from "../rules/kind-probe.ts";
import { deviceClass } from "./device-class.ts";
import { deviceTaintRule } from "./device-taint-rule.ts";
import { resourceClaimTemplate } from "./resource-claim-template.ts";
import { resourceClaim } from "./resource-claim.ts";
import { resourceSlice } from "./resource-slice.ts";

const gpu = { name: "gpu", exactly: { deviceClassName: "gpu.example.com" } };

describe("a ResourceClaim", () => {
  const probe = new KindProbe(resourceClaim);
  const spec = { devices: { requests: [gpu] } };

  test("loses the device status of each deallocated device", () => {
    const [one, two] = ["one", "two"].map((device) => ({ driver: "gpu.example.com", pool: "p", device }));
    const given = (...devices: readonly unknown[]): object => ({ devices: { results: devices } });
    const status = { allocation: given(one, two), devices: [one, two] };

    const kept = probe.statusUpdated(
      { spec, status: { ...status, allocation: given(two) } },
      { spec, status },
    );
    const none = probe.statusUpdated({ spec, status: { devices: [one, two] } }, { spec, status });

    expect(kept["status"]).toMatchObject({ devices: [two] });
    expect(none["status"]).not.toHaveProperty("devices");
  });

  test("requests one device by default", () => {
    expect(probe.created({ spec })).toMatchObject({
      spec: { devices: { requests: [{ exactly: { allocationMode: "ExactCount", count: 1 } }] } },
    });
  });

  test.each([
    [[gpu], []],
    [
      [{ name: "gpu" }],
      ["spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required"],
    ],
    [[gpu, gpu], ['spec.devices.requests[1]: Duplicate value: "gpu"']],
    [[{ name: "gpu", exactly: {} }], ["spec.devices.requests[0].exactly.deviceClassName: Required value"]],
    [
      [{ name: "gpu", exactly: { deviceClassName: "a", count: -1 } }],
      ["spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero"],
    ],
    [[{ name: "gpu", firstAvailable: [{ name: "big", deviceClassName: "a" }] }], []],
  ])("has valid requests: %#", (requests, problems) => {
    expect(probe.problems({ spec: { devices: { requests } } })).toEqual(problems);
  });

  test.each<[string, Manifest, readonly string[]]>([
    ["a matching attribute", { constraints: [{ matchAttribute: "d.example/numa" }] }, []],
    [
      "a constraint without an attribute",
      { constraints: [{ requests: ["gpu"] }] },
      [
        'spec.devices.constraints[0]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
      ],
    ],
    [
      "an attribute without a domain",
      { constraints: [{ matchAttribute: "numa" }] },
      [
        'spec.devices.constraints[0].matchAttribute: Invalid value: "numa": a fully qualified name must be a domain and a name separated by a slash',
      ],
    ],
    [
      "unknown requests",
      { constraints: [{ requests: ["Disk"], distinctAttribute: "d/a" }] },
      [
        expect.stringMatching(
          /^spec.devices.constraints\[0\].requests\[0\]: Invalid value: "Disk": a lowercase RFC 1123 label/,
        ) as string,
        "spec.devices.constraints[0].requests[0]: Invalid value: \"Disk\": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
      ],
    ],
    [
      "a parameter above 2^53",
      { config: [{ opaque: { driver: "d", parameters: { a: 2n ** 53n + 1n } } }] },
      [],
    ],
    [
      "parameters above the size limit",
      {
        config: [{ opaque: { driver: "d", parameters: { a: "x".repeat(10 * 1024) } } }],
      },
      ["spec.devices.config[0].opaque.parameters: Too long: may not be more than 10240 bytes"],
    ],
    [
      "an expression above the size limit",
      {
        requests: [
          {
            name: "gpu",
            exactly: { deviceClassName: "a", selectors: [{ cel: { expression: "x".repeat(10241) } }] },
          },
        ],
      },
      [
        "spec.devices.requests[0].exactly.selectors[0].cel.expression: Too long: may not be more than 10240 bytes",
      ],
    ],
    [
      "invalid tolerations",
      {
        requests: [
          { name: "gpu", exactly: { deviceClassName: "a", tolerations: [{ key: "a", value: "b c" }] } },
        ],
      },
      [
        expect.stringMatching(
          /^spec.devices.requests\[0\].exactly.tolerations\[0\].value: Invalid value: "b c"/,
        ) as string,
      ],
    ],
  ])("is validated: %s", (_, devices, problems) => {
    expect(probe.problems({ spec: { devices: { requests: [gpu], ...devices } } })).toEqual(problems);
  });

  test("has an immutable spec and allocation", () => {
    const allocation = { devices: { results: [{ request: "gpu", driver: "d", pool: "p", device: "x" }] } };

    expect(probe.updateProblems({ spec: { devices: { requests: [] } } }, { spec })).toEqual([
      expect.stringMatching(/^spec: Invalid value: .*: field is immutable$/),
    ]);
    expect(probe.statusProblems({ spec, status: { allocation } }, { spec })).toEqual([]);
    expect(
      probe.statusProblems(
        { spec, status: { reservedFor: [{ resource: "pods", name: "a", uid: "u" }] } },
        { spec },
      ),
    ).toEqual(["status.reservedFor: Forbidden: may not be specified when `allocated` is not set"]);
  });

  test.each([
    [{}, "pending"],
    [{ allocation: {} }, "allocated"],
    [{ allocation: {}, reservedFor: [{}] }, "allocated,reserved"],
  ])("shows its state: %#", (status, text) => {
    expect(probe.cells({ spec, status })).toEqual(["it", text, "2m5s"]);
  });
});

describe("the other device kinds", () => {
  test("a ResourceClaimTemplate is immutable", () => {
    const probe = new KindProbe(resourceClaimTemplate);
    const spec = { spec: { devices: { requests: [gpu] } } };

    expect(probe.problems({ spec })).toEqual([]);
    expect(probe.problems({ spec: { ...spec, metadata: { labels: { "a b": "" } } } })).toEqual([
      expect.stringMatching(/^spec.metadata.labels: Invalid value: "a b"/),
    ]);
    expect(probe.updateProblems({}, { spec })).toEqual([expect.stringMatching(/^spec: Invalid value/)]);
    expect(probe.cells({ spec })).toEqual(["it", "2m5s"]);
  });

  test("a DeviceClass selects devices by expressions", () => {
    const probe = new KindProbe(deviceClass);

    expect(probe.problems({ spec: { selectors: [{ cel: { expression: "true" } }] } })).toEqual([]);
    expect(probe.problems({ spec: { selectors: [{}] } })).toEqual(["spec.selectors[0].cel: Required value"]);
    expect(probe.cells({})).toEqual(["it", "2m5s"]);
  });

  test("a ResourceSlice has one driver, one pool and one node selection", () => {
    const probe = new KindProbe(resourceSlice);
    const spec = {
      driver: "d.example",
      nodeName: "n",
      pool: { name: "p", resourceSliceCount: 1 },
      devices: [{ name: "x" }],
    };

    expect(probe.problems({ spec })).toEqual([]);
    expect(
      probe.problems({ spec: { ...spec, nodeName: undefined, devices: [{ name: "x" }, { name: "x" }] } }),
    ).toEqual([
      "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required",
      'spec.devices[1]: Duplicate value: "x"',
    ]);
    expect(probe.updateProblems({ spec: { ...spec, driver: "e" } }, { spec })).toEqual([
      'spec.driver: Invalid value: "e": field is immutable',
    ]);
    expect(probe.fields({ spec })).toEqual({ "spec.driver": "d.example", "spec.nodeName": "n" });
    expect(probe.cells({ spec })).toEqual(["it", "n", "d.example", "p", "2m5s"]);
    expect(probe.cells({ spec: { ...spec, nodeName: undefined } })[1]).toBe("");
  });

  test("a DeviceTaintRule shows the age of its taint", () => {
    const probe = new KindProbe(deviceTaintRule);
    const taint = { key: "k", effect: "NoExecute", timeAdded: "2026-01-02T03:03:05Z" };

    expect(probe.cells({ spec: { taint } })).toEqual(["it", "k", "", "NoExecute", "60s", "2m5s"]);
    expect(probe.cells({ spec: { taint: { key: "k", effect: "None" } } })[4]).toBe("");
  });
});
