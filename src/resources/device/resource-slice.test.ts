import { describe, expect, test } from "vitest";
import { KindProbe, type Manifest } from "../rules/kind-probe.ts";
import { deviceTaintRule } from "./device-taint-rule.ts";
import { resourceSlice } from "./resource-slice.ts";

const probe = new KindProbe(resourceSlice);
const base = { driver: "d.example", nodeName: "n", pool: { name: "p", resourceSliceCount: 1 } };

function problems(spec: Manifest): readonly string[] {
  return probe.problems({ spec: { ...base, ...spec } });
}

function deviceProblems(device: Manifest): readonly string[] {
  return problems({ devices: [{ name: "x", ...device }] });
}

/** `count` items, each made from its index. */
function many<T>(count: number, make: (i: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}

describe("a ResourceSlice", () => {
  test.each<[string, Manifest, readonly string[]]>([
    [
      "an empty node name",
      { nodeName: "" },
      [
        'spec.nodeName: Invalid value: "": must be either unset or set to a non-empty string',
        "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required",
      ],
    ],
    [
      "allNodes set to false",
      { allNodes: false },
      ["spec.allNodes: Invalid value: false: must be either unset or set to true"],
    ],
    [
      "two node selections",
      { allNodes: true },
      [
        'spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set',
      ],
    ],
    [
      "counters and devices",
      { sharedCounters: [{ name: "a", counters: { b: { value: "1" } } }], devices: [{ name: "x" }] },
      ['spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed'],
    ],
    [
      "duplicate counter sets",
      { sharedCounters: many(2, () => ({ name: "a", counters: { b: { value: "1" } } })) },
      ['spec.sharedCounters[1]: Duplicate value: "a"'],
    ],
    [
      "an empty counter set",
      { sharedCounters: [{ name: "", counters: {} }] },
      ["spec.sharedCounters[0].name: Required value", "spec.sharedCounters[0].counters: Required value"],
    ],
    [
      "too many counters",
      { sharedCounters: many(9, (i) => ({ name: `a${i}`, counters: { b: { value: "1" } } })) },
      ["spec.sharedCounters: Too many: 9: must have at most 8 items"],
    ],
    ["the maximum number of devices", { devices: many(128, (i) => ({ name: `x${i}` })) }, []],
    [
      "too many devices",
      { devices: many(129, (i) => ({ name: `x${i}` })) },
      ["spec.devices: Too many: 129: must have at most 128 items"],
    ],
    [
      "too many devices when one is tainted",
      {
        devices: many(65, (i) => ({
          name: `x${i}`,
          ...(i === 3 && { taints: [{ key: "a", effect: "None" }] }),
        })),
      },
      ["spec.devices: Too many: 65: must have at most 64 items"],
    ],
  ])("with %s", (_, spec, expected) => {
    expect(problems(spec)).toEqual(expected);
  });

  test("warns about a driver with upper-case letters", () => {
    const spec = { ...base, driver: "D.example" };

    expect(probe.problems({ spec })).toEqual([]);
    expect(probe.warnings({ spec })).toEqual([
      'spec.driver: driver names should be lowercase; "D.example" contains uppercase characters',
    ]);
    expect(probe.warnings({ spec: base })).toEqual([]);
  });

  test("drops fields of disabled features, unless it already had them", () => {
    const device = {
      name: "x",
      attributes: { a: { bools: [true] } },
      nodeAllocatableResourceMappings: { cpu: { capacityKey: "c" } },
    };
    const spec = { ...base, devices: [device] };
    const without = { devices: [{ name: "x", attributes: { a: {} } }] };

    expect(probe.created({ spec })["spec"]).toEqual(expect.objectContaining(without));
    expect(probe.updated({ spec }, { spec: base })["spec"]).toEqual(expect.objectContaining(without));
  });

  test("records when a device was tainted", () => {
    const devices = [{ name: "x", taints: [{ key: "a", effect: "None" }] }];
    const timed = [{ name: "x", taints: [{ key: "a", effect: "None", timeAdded: "2025-01-01T00:00:00Z" }] }];
    const noted = { spec: { devices: [{ taints: [{ timeAdded: "2026-01-02T03:04:05Z" }] }] } };

    expect(probe.created({ spec: { ...base, devices } })).toMatchObject(noted);
    expect(probe.updated({ spec: { ...base, devices } }, { spec: base })).toMatchObject(noted);
    expect(probe.created({ spec: { ...base, devices: timed } })).toMatchObject({ spec: { devices: timed } });
  });
});

describe("a device", () => {
  test.each<[string, Manifest, readonly string[]]>([
    ["attributes", { attributes: { model: { string: "a" }, "e.example/v": { version: "1.2.3-a.1+b" } } }, []],
    [
      "an attribute without a value",
      { attributes: { a: {} } },
      ['spec.devices[0].attributes[a]: Invalid value: "": exactly one value must be specified'],
    ],
    [
      "an attribute with two values",
      { attributes: { a: { bool: true, int: 1 } } },
      [
        'spec.devices[0].attributes[a]: Invalid value: {"bool":true,"int":1}: exactly one value must be specified',
      ],
    ],
    [
      "a string above the size limit",
      { attributes: { a: { string: "x".repeat(65) } } },
      ["spec.devices[0].attributes[a].string: Too long: may not be more than 64 bytes"],
    ],
    [
      "an invalid version",
      { attributes: { a: { version: "1.02.3" } } },
      [
        'spec.devices[0].attributes[a].version: Invalid value: "1.02.3": must be a string compatible with semver.org spec 2.0.0',
      ],
    ],
    [
      "an attribute with an empty domain",
      { attributes: { "/a": { bool: true } } },
      ['spec.devices[0].attributes: Invalid value: "": the domain must not be empty'],
    ],
    [
      "an attribute with two slashes",
      { attributes: { "a/b/c": { bool: true } } },
      ['spec.devices[0].attributes: Invalid value: "a/b/c": must not contain more than one slash'],
    ],
    [
      "an attribute with a long name",
      { attributes: { ["a".repeat(33)]: { bool: true } } },
      ["spec.devices[0].attributes: Too long: may not be more than 32 bytes"],
    ],
    [
      "too many attributes and capacities",
      {
        attributes: Object.fromEntries(many(20, (i) => [`a${i}`, { bool: true }])),
        capacity: Object.fromEntries(many(13, (i) => [`c${i}`, { value: "1" }])),
      },
      [
        "spec.devices[0]: Invalid value: 33: the total number of attributes and capacities must not exceed 32",
      ],
    ],
    [
      "a node name of its own",
      { nodeName: "n" },
      [
        "spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec",
      ],
    ],
    [
      "a taint with an invalid value",
      { taints: [{ key: "a", value: "b c", effect: "None" }] },
      [
        expect.stringMatching(
          /^spec.devices\[0\].taints\[0\].value: Invalid value: "b c": a valid label must be/,
        ) as string,
      ],
    ],
    [
      "empty consumed counters",
      { consumesCounters: [{ counterSet: "a" }] },
      ["spec.devices[0].consumesCounters[0].counters: Required value"],
    ],
    ["binding conditions", { bindingConditions: ["a"], bindingFailureConditions: ["b"] }, []],
    [
      "duplicate binding conditions without failure conditions",
      { bindingConditions: ["a", "a"] },
      [
        'spec.devices[0].bindingConditions[1]: Duplicate value: "a"',
        "spec.devices[0].bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use bindingConditions",
      ],
    ],
    [
      "overlapping binding conditions",
      { bindingConditions: ["a"], bindingFailureConditions: ["a"] },
      [
        'spec.devices[0].bindingFailureConditions[0]: Invalid value: "a": bindingFailureConditions must not overlap with bindingConditions',
      ],
    ],
  ])("with %s", (_, device, expected) => {
    expect(deviceProblems(device)).toEqual(expected);
  });

  test("names its nodes when its slice does not", () => {
    const placed = (device: Manifest): readonly string[] =>
      problems({ nodeName: undefined, perDeviceNodeSelection: true, devices: [{ name: "x", ...device }] });
    const detail =
      "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec";

    expect(placed({ allNodes: true })).toEqual([]);
    expect(placed({})).toEqual([`spec.devices[0]: Required value: ${detail}`]);
    expect(placed({ nodeName: "n", allNodes: true })).toEqual([
      `spec.devices[0]: Invalid value: "{\`nodeName\`, \`allNodes\`}": ${detail}`,
    ]);
  });

  test.each<[string, Manifest, readonly string[]]>([
    ["nothing", {}, []],
    ["values", { default: "1Gi", validValues: ["1Gi", "10Gi"] }, []],
    [
      "values without a default",
      { validValues: ["1Gi"] },
      [".default: Required value: required when validValues is defined"],
    ],
    [
      "both",
      { default: "1Gi", validValues: ["1Gi"], validRange: { min: "1Gi" } },
      [
        ': Forbidden: exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time',
      ],
    ],
    [
      "a value above the capacity",
      { default: "1Gi", validValues: ["20Gi"] },
      [
        '.validValues[0]: Invalid value: "20Gi": option is larger than capacity value: 10Gi',
        '.validValues: Invalid value: "1Gi": default value is not valid according to the requestPolicy',
      ],
    ],
    [
      "duplicate values",
      { default: "1Gi", validValues: ["1Gi", "1Gi"] },
      ['.validValues[1]: Duplicate value: "1073741824"'],
    ],
    [
      "values out of order",
      { default: "1Gi", validValues: ["2Gi", "1Gi"] },
      ['.validValues[1]: Invalid value: "1Gi": values must be sorted in ascending order'],
    ],
    ["a range with steps", { default: "1Gi", validRange: { min: "1Gi", max: "10Gi", step: "1Gi" } }, []],
    [
      "a range without a minimum",
      { default: "1Gi", validRange: {} },
      [".validRange.min: Required value: required when validRange is defined"],
    ],
    [
      "a range with a minimum above its maximum",
      { default: "2Gi", validRange: { min: "20Gi", max: "1Gi" } },
      [
        '.validRange.min: Invalid value: "20Gi": min is larger than capacity value: 10Gi',
        '.validRange.default: Invalid value: "2Gi": default is less than min: 20Gi',
        '.validRange.max: Invalid value: "20Gi": min is larger than max: 1Gi',
        '.validRange.default: Invalid value: "2Gi": default is more than max: 1Gi',
      ],
    ],
    [
      "steps that miss the maximum",
      { default: "2Gi", validRange: { min: "1Gi", max: "10Gi", step: "2Gi" } },
      [
        '.validRange.step: Invalid value: "2Gi": value is not a multiple of a given step (2Gi) from (1Gi)',
        '.validRange.step: Invalid value: "10Gi": value is not a multiple of a given step (2Gi) from (1Gi)',
      ],
    ],
    [
      "steps of zero",
      { default: "1Gi", validRange: { min: "1Gi", step: "0" } },
      ['.validRange.step: Invalid value: "0": must be greater than zero'],
    ],
  ])("has a request policy with %s", (_, requestPolicy, expected) => {
    const capacity = { memory: { value: "10Gi", requestPolicy } };
    const path = "spec.devices[0].capacity[memory].requestPolicy";

    expect(deviceProblems({ allowMultipleAllocations: true, capacity })).toEqual(
      expected.map((text) => `${path}${text}`),
    );
    expect(deviceProblems({ capacity })).toEqual([
      `${path}: Forbidden: allowMultipleAllocations must be true`,
    ]);
  });
});

test("an excessive number of binding conditions is refused with one error", () => {
  const names = (prefix: string): readonly string[] =>
    Array.from({ length: 60_000 }, (_, at) => `${prefix}${at}`);

  const problems = deviceProblems({ bindingConditions: names("a"), bindingFailureConditions: names("b") });

  expect(problems).toEqual([
    "spec.devices[0].bindingConditions: Too many: 60000: must have at most 4 items",
    "spec.devices[0].bindingFailureConditions: Too many: 60000: must have at most 4 items",
  ]);
});

describe("a DeviceTaintRule", () => {
  const rules = new KindProbe(deviceTaintRule);
  const taint = { key: "a", effect: "NoSchedule" };
  const timed = { ...taint, timeAdded: "2025-01-01T00:00:00Z" };

  test("selects by valid names", () => {
    expect(
      rules.problems({ spec: { deviceSelector: { driver: "d", pool: "p", device: "x" }, taint } }),
    ).toEqual([]);
    expect(
      rules.problems({ spec: { deviceSelector: { driver: "", pool: "", device: "X" }, taint } }),
    ).toEqual([
      "spec.deviceSelector.driver: Required value",
      "spec.deviceSelector.pool: Required value",
      expect.stringMatching(/^spec.deviceSelector.device: Invalid value: "X"/),
    ]);
  });

  test("restarts the time of a taint with a new effect", () => {
    const now = "2026-01-02T03:04:05Z";
    const told = "2025-02-02T00:00:00Z";
    const updated = (next: Manifest): unknown =>
      rules.updated({ spec: { taint: next } }, { spec: { taint: timed } });

    expect(rules.created({ spec: { taint } })).toMatchObject({ spec: { taint: { timeAdded: now } } });
    expect(updated(timed)).toMatchObject({ spec: { taint: timed } });
    expect(updated({ ...timed, effect: "None" })).toMatchObject({ spec: { taint: { timeAdded: now } } });
    expect(updated({ ...timed, effect: "None", timeAdded: told })).toMatchObject({
      spec: { taint: { timeAdded: told } },
    });
  });
});
