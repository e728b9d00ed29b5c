import { describe, expect, test } from "vitest";
import type { Node } from "../../../api/generated/types/core-v1.ts";
import type {
  AllocationResult,
  Device,
  DeviceClass,
  DeviceClassSpec,
  ExactDeviceRequest,
  ResourceClaim,
  ResourceClaimSpec,
  ResourceSlice,
  ResourceSliceSpec,
} from "../../../api/generated/types/resource-v1.ts";
import { incomplete } from "../../../api/object-fixture.ts";
import { apiInteger } from "../../../api/values/plain-number.ts";
import { ClaimAllocator } from "./claim-allocator.ts";
import { readClaimRequests } from "./claim-requests.ts";
import { DevicePools } from "./device-pools.ts";
import { DeviceSelectors } from "./device-selectors.ts";
import { DevicesInUse } from "./devices-in-use.ts";

const DRIVER = "gpu.example.com";

interface World {
  readonly claims: readonly ResourceClaim[];
  readonly slices: readonly ResourceSlice[];
  readonly classes?: readonly DeviceClass[];
  readonly used?: readonly AllocationResult[];
}

function allocator(
  { claims, slices, classes = [gpus()], used = [] }: World,
  selectors = new DeviceSelectors(),
): ClaimAllocator {
  const read = readClaimRequests(claims, (name) => classes.find(({ metadata }) => metadata.name === name));
  if (read.type === "missing") throw new Error(read.reason);
  const { requests } = read;
  return new ClaimAllocator({
    claims,
    requests,
    pools: new DevicePools(slices),
    inUse: new DevicesInUse(used),
    selectors,
  });
}

/** Request and device of each result of the first claim on node `a`, or the reason why there are none. */
function allocated(world: World, nodeName = "a"): readonly string[] | string {
  const made = allocator(world);
  const reason = made.tryNode(node(nodeName));
  if (reason !== undefined) return reason;
  const results = made.resultsOn(nodeName, () => "share");
  return results.flatMap(({ devices }) => (devices.results ?? []).map((it) => `${it.request} ${it.device}`));
}

function resultOf(world: World): AllocationResult | undefined {
  const made = allocator(world);
  expect(made.tryNode(node("a"))).toBeUndefined();
  return made.resultsOn("a", () => "share")[0];
}

const meta = (name: string) => ({ name, uid: name, resourceVersion: "1", creationTimestamp: "" }) as never;

function node(name: string, labels: Record<string, string> = { zone: "z1" }): Node {
  return { metadata: { name, labels }, spec: {}, status: {} } as Node;
}

function gpus(spec: DeviceClassSpec = {}, name = "gpu"): DeviceClass {
  return { apiVersion: "resource.k8s.io/v1", kind: "DeviceClass", metadata: meta(name), spec };
}

function slice(spec: Partial<ResourceSliceSpec>, name = "s"): ResourceSlice {
  const pool = { name: "pool", generation: 1, resourceSliceCount: 1, ...spec.pool };
  const where = spec.allNodes || spec.nodeSelector || spec.perDeviceNodeSelection ? {} : { nodeName: "a" };
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceSlice",
    metadata: meta(name),
    spec: { driver: DRIVER, ...where, ...spec, pool },
  };
}

function devices(count: number, change: (at: number) => Partial<Device> = () => ({})): Device[] {
  return Array.from({ length: count }, (_, at) => ({ name: `gpu-${String(at)}`, ...change(at) }));
}

function claim(spec: ResourceClaimSpec["devices"], name = "c"): ResourceClaim {
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    metadata: { ...(meta(name) as object), namespace: "default" } as never,
    spec: { devices: spec },
    status: {},
  };
}

function exactly(
  change: Partial<ExactDeviceRequest> = {},
  name = "r",
): ResourceClaimSpec["devices"]["requests"][0] {
  return { name, exactly: { deviceClassName: "gpu", allocationMode: "ExactCount", count: 1, ...change } };
}

const cel = (expression: string) => ({ cel: { expression } });
const one = claim({ requests: [exactly()] });
const four = slice({ devices: devices(4) });
const all = incomplete<Partial<ExactDeviceRequest>>({ allocationMode: "All", count: undefined });

function using(device: string, change = {}): AllocationResult {
  return { devices: { results: [{ request: "r", driver: DRIVER, pool: "pool", device, ...change }] } };
}

describe("devices for a claim", () => {
  test.each<readonly [string, World, readonly string[] | string]>([
    ["the first free one", { claims: [one], slices: [four], used: [using("gpu-0")] }, ["r gpu-1"]],
    [
      "the requested number",
      { claims: [claim({ requests: [exactly({ count: 3 })] })], slices: [four] },
      ["r gpu-0", "r gpu-1", "r gpu-2"],
    ],
    [
      "none if there are too few",
      { claims: [claim({ requests: [exactly({ count: 5 })] })], slices: [four] },
      "cannot allocate all claims",
    ],
    [
      "all devices with mode All",
      { claims: [claim({ requests: [exactly(all)] })], slices: [four] },
      ["r gpu-0", "r gpu-1", "r gpu-2", "r gpu-3"],
    ],
    [
      "none with mode All if one is in use",
      { claims: [claim({ requests: [exactly(all)] })], slices: [four], used: [using("gpu-3")] },
      "cannot allocate all claims",
    ],
    [
      "none with mode All if there is none",
      { claims: [claim({ requests: [exactly(all)] })], slices: [] },
      "cannot allocate all claims",
    ],
    [
      "different ones for two claims",
      { claims: [one, claim({ requests: [exactly()] }, "d")], slices: [four] },
      ["r gpu-0", "r gpu-1"],
    ],
    [
      "those its selector matches",
      {
        claims: [
          claim({ requests: [exactly({ selectors: [cel(`device.attributes["${DRIVER}"].index == 2`)] })] }),
        ],
        slices: [slice({ devices: devices(4, (int) => ({ attributes: { index: { int } } })) })],
      },
      ["r gpu-2"],
    ],
    [
      "those its class matches",
      { claims: [one], slices: [four], classes: [gpus({ selectors: [cel(`device.driver == "other"`)] })] },
      "cannot allocate all claims",
    ],
    [
      "devices in use, for admin access",
      {
        claims: [claim({ requests: [exactly({ adminAccess: true })] })],
        slices: [four],
        used: [using("gpu-0")],
      },
      ["r gpu-0"],
    ],
    [
      "devices with admin access by others",
      { claims: [one], slices: [four], used: [using("gpu-0", { adminAccess: true })] },
      ["r gpu-0"],
    ],
  ])("%s", (_, world, expected) => {
    expect(allocated(world)).toEqual(expected);
  });

  test("are the first available alternative", () => {
    const firstAvailable = [
      { name: "two", deviceClassName: "gpu", allocationMode: "ExactCount", count: 2 },
      { name: "one", deviceClassName: "gpu", allocationMode: "ExactCount", count: 1 },
    ];
    const claims = [claim({ requests: [{ name: "r", firstAvailable }] })];

    expect(allocated({ claims, slices: [four] })).toEqual(["r/two gpu-0", "r/two gpu-1"]);
    expect(allocated({ claims, slices: [slice({ devices: devices(1) })] })).toEqual(["r/one gpu-0"]);
    const best = allocator({ claims, slices: [four] });
    const second = allocator({ claims, slices: [slice({ devices: devices(1) })] });
    best.tryNode(node("a"));
    second.tryNode(node("a"));
    expect([best.score("a"), second.score("a")]).toEqual([8, 7]);
  });

  test("are found by backtracking", () => {
    const wide = exactly({}, "any");
    const narrow = exactly({ selectors: [cel(`device.attributes["${DRIVER}"].index == 0`)] }, "first");
    const slices = [slice({ devices: devices(2, (int) => ({ attributes: { index: { int } } })) })];

    expect(allocated({ claims: [claim({ requests: [wide, narrow] })], slices })).toEqual([
      "any gpu-1",
      "first gpu-0",
    ]);
  });

  test("share or differ in an attribute as a constraint demands", () => {
    const slices = [slice({ devices: devices(4, (at) => ({ attributes: { numa: { int: at % 3 } } })) })];
    const requests = [exactly({ count: 2 })];
    const constrained = (constraint: object) => claim({ requests, constraints: [constraint] });

    expect(allocated({ claims: [constrained({ matchAttribute: `${DRIVER}/numa` })], slices })).toEqual([
      "r gpu-0",
      "r gpu-3",
    ]);
    expect(allocated({ claims: [constrained({ distinctAttribute: `${DRIVER}/numa` })], slices })).toEqual([
      "r gpu-0",
      "r gpu-1",
    ]);
    expect(allocated({ claims: [constrained({ matchAttribute: `${DRIVER}/nothing` })], slices })).toBe(
      "cannot allocate all claims",
    );
    expect(
      allocated({
        claims: [constrained({ matchAttribute: `${DRIVER}/nothing`, requests: ["other"] })],
        slices,
      }),
    ).toEqual(["r gpu-0", "r gpu-1"]);
  });

  test("are untainted, unless the request tolerates the taint", () => {
    const taints = [{ key: "broken", value: "yes", effect: "NoSchedule" as const }];
    const slices = [slice({ devices: devices(1, () => ({ taints })) })];
    const tolerant = exactly({ tolerations: [{ key: "broken", operator: "Exists" }] });

    expect(allocated({ claims: [one], slices })).toBe("cannot allocate all claims");
    expect(allocated({ claims: [claim({ requests: [tolerant] })], slices })).toEqual(["r gpu-0"]);
    const noted = [
      slice({ devices: devices(1, () => ({ taints: [{ key: "x", effect: "None" as const }] })) }),
    ];
    expect(allocated({ claims: [one], slices: noted })).toEqual(["r gpu-0"]);
  });
});

describe("pools", () => {
  const pool = (generation: number, resourceSliceCount: number) => ({
    name: "pool",
    generation,
    resourceSliceCount,
  });

  test("count in their newest generation only", () => {
    const old = slice({ devices: devices(4), pool: pool(1, 1) }, "old");
    const fresh = slice({ devices: [{ name: "fresh" }], pool: pool(2, 1) }, "fresh");

    expect(allocated({ claims: [one], slices: [old, fresh] })).toEqual(["r fresh"]);
  });

  test("count in their newest generation, even beyond 2^53", () => {
    const large = apiInteger(2n ** 60n);
    const old = slice({ devices: devices(4), pool: pool(1, 1) }, "old");
    const fresh = slice({ devices: [{ name: "fresh" }], pool: pool(large, 1) }, "fresh");

    expect(allocated({ claims: [one], slices: [old, fresh] })).toEqual(["r fresh"]);
    expect(allocated({ claims: [one], slices: [fresh, old] })).toEqual(["r fresh"]);
  });

  test("with missing slices offer no devices", () => {
    const half = slice({ devices: devices(1), pool: pool(1, 2) });

    expect(allocated({ claims: [one], slices: [half] })).toBe("cannot allocate all claims");
    expect(() => allocated({ claims: [claim({ requests: [exactly(all)] })], slices: [half] })).toThrow(
      "claim default/c, request r: asks for all devices, but resource pool gpu.example.com/pool is currently being updated",
    );
  });

  test("with duplicate device names are invalid", () => {
    const twice = slice({ devices: [{ name: "gpu" }, { name: "gpu" }] });

    expect(allocated({ claims: [one], slices: [twice] })).toBe("invalid resource pools were encountered");
  });

  test("are tried by name", () => {
    const second = slice({ devices: [{ name: "second" }], pool: { ...pool(1, 1), name: "b" } }, "x");
    const first = slice({ devices: [{ name: "first" }], pool: { ...pool(1, 1), name: "a" } }, "y");

    expect(allocated({ claims: [one], slices: [second, first] })).toEqual(["r first"]);
  });

  test("offer devices to their own nodes only", () => {
    const inZone = {
      nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In" as const, values: ["z1"] }] }],
    };
    const zonal = slice({ devices: devices(1), nodeSelector: inZone });
    const perDevice = slice({
      perDeviceNodeSelection: true,
      devices: [
        { name: "there", nodeName: "b" },
        { name: "here", nodeName: "a" },
      ],
    });

    expect(allocated({ claims: [one], slices: [four] }, "b")).toBe("cannot allocate all claims");
    expect(
      allocated({ claims: [one], slices: [slice({ allNodes: true, devices: devices(1) })] }, "b"),
    ).toEqual(["r gpu-0"]);
    expect(allocated({ claims: [one], slices: [perDevice] })).toEqual(["r here"]);
    expect(allocator({ claims: [one], slices: [zonal] }).tryNode(node("z", { zone: "z2" }))).toBe(
      "cannot allocate all claims",
    );
    expect(resultOf({ claims: [one], slices: [zonal] })?.nodeSelector).toEqual(inZone);
  });
});

describe("parts of devices", () => {
  const counters = (value: string) => ({ memory: { value } });

  test("are exclusive by counters", () => {
    const sets = slice(
      {
        sharedCounters: [{ name: "card", counters: counters("40Gi") }],
        pool: { name: "pool", generation: 1, resourceSliceCount: 2 },
      },
      "sets",
    );
    const parts = slice(
      {
        devices: devices(3, () => ({
          consumesCounters: [{ counterSet: "card", counters: counters("20Gi") }],
        })),
        pool: { name: "pool", generation: 1, resourceSliceCount: 2 },
      },
      "parts",
    );
    const two = claim({ requests: [exactly({ count: 2 })] });

    expect(allocated({ claims: [two], slices: [sets, parts] })).toEqual(["r gpu-0", "r gpu-1"]);
    expect(allocated({ claims: [two], slices: [sets, parts], used: [using("gpu-2")] })).toBe(
      "cannot allocate all claims",
    );
    expect(allocated({ claims: [one], slices: [sets, parts], used: [using("gpu-2")] })).toEqual(["r gpu-0"]);
  });

  test("are shared by capacity", () => {
    const capacity = {
      memory: { value: "10Gi", requestPolicy: { default: "1Gi", validRange: { min: "1Gi", step: "2Gi" } } },
    };
    const slices = [slice({ devices: [{ name: "nic", allowMultipleAllocations: true, capacity }] })];
    const wants = (memory: string) => claim({ requests: [exactly({ capacity: { requests: { memory } } })] });
    const used = [using("nic", { shareID: "x", consumedCapacity: { memory: "5Gi" } })];

    expect(resultOf({ claims: [wants("4Gi")], slices, used })?.devices.results).toEqual([
      {
        request: "r",
        driver: DRIVER,
        pool: "pool",
        device: "nic",
        shareID: "share",
        consumedCapacity: { memory: "5Gi" },
      },
    ]);
    expect(allocated({ claims: [wants("6Gi")], slices, used })).toBe("cannot allocate all claims");
    expect(
      allocated({
        claims: [claim({ requests: [exactly({ capacity: { requests: { speed: "1" } } })] })],
        slices,
      }),
    ).toBe("cannot allocate all claims");
    expect(resultOf({ claims: [one], slices })?.devices.results?.[0]?.consumedCapacity).toEqual({
      memory: "1Gi",
    });
  });

  test("with mode All include every device with enough capacity", () => {
    const capacity = { memory: { value: "10Gi" } };
    const slices = [slice({ devices: devices(3, () => ({ allowMultipleAllocations: true, capacity })) })];
    const every = claim({ requests: [exactly({ ...all, capacity: { requests: { memory: "6Gi" } } })] });
    const used = [using("gpu-1", { shareID: "x", consumedCapacity: { memory: "5Gi" } })];

    expect(allocated({ claims: [every], slices, used })).toEqual(["r gpu-0", "r gpu-2"]);
  });
});

describe("the result", () => {
  const opaque = (value: string) => ({ opaque: { driver: DRIVER, parameters: { value } } });

  test("names the node of local devices", () => {
    expect(resultOf({ claims: [one], slices: [four] })).toEqual({
      devices: { results: [{ request: "r", driver: DRIVER, pool: "pool", device: "gpu-0" }] },
      nodeSelector: {
        nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["a"] }] }],
      },
    });
  });

  test("names no node for devices that every node can use", () => {
    expect(
      resultOf({ claims: [one], slices: [slice({ allNodes: true, devices: devices(1) })] })?.nodeSelector,
    ).toBeUndefined();
  });

  test("contains the configuration of class and claim", () => {
    const requests = [exactly({}, "x"), exactly({}, "y"), exactly({ deviceClassName: "other" }, "z")];
    const made = claim({
      requests,
      config: [
        { ...opaque("every") },
        { ...opaque("y"), requests: ["y"] },
        { ...opaque("none"), requests: ["y/not"] },
      ],
    });
    const classes = [gpus({ config: [opaque("class")] }), gpus({}, "other")];

    expect(resultOf({ claims: [made], slices: [four], classes })?.devices.config).toEqual([
      { ...opaque("class"), source: "FromClass", requests: ["x", "y"] },
      { ...opaque("every"), source: "FromClaim" },
      { ...opaque("y"), source: "FromClaim", requests: ["y"] },
    ]);
  });

  test("contains a configuration for several requests once per request", () => {
    const requests = [exactly({}, "x"), exactly({}, "y"), exactly({}, "z")];
    const both = { ...opaque("both"), requests: ["y", "x"] };
    const made = claim({ requests, config: [both] });

    expect(resultOf({ claims: [made], slices: [four] })?.devices.config).toEqual([
      { ...both, source: "FromClaim" },
      { ...both, source: "FromClaim" },
    ]);
  });

  test("names the requests of each configuration, even if there is only one", () => {
    const made = claim({
      requests: [exactly({}, "x")],
      config: [{ ...opaque("every") }, { ...opaque("x"), requests: ["x"] }],
    });
    const classes = [gpus({ config: [opaque("class")] })];

    expect(resultOf({ claims: [made], slices: [four], classes })?.devices.config).toEqual([
      { ...opaque("class"), source: "FromClass", requests: ["x"] },
      { ...opaque("every"), source: "FromClaim" },
      { ...opaque("x"), source: "FromClaim", requests: ["x"] },
    ]);
  });
});

describe("the error message", () => {
  test.each<readonly [string, World, string]>([
    [
      "a selector that fails",
      {
        claims: [
          claim({ requests: [exactly({ selectors: [cel(`device.attributes["${DRIVER}"].x == 1`)] })] }),
        ],
        slices: [four],
      },
      "claim default/c: selector #0 on device gpu.example.com/pool/gpu-0: CEL runtime error: no such key: x",
    ],
    [
      "a selector of a class that fails",
      {
        claims: [one],
        slices: [four],
        classes: [gpus({ selectors: [cel(`device.attributes["${DRIVER}"].x == 1`)] })],
      },
      "class gpu: selector #0 on device gpu.example.com/pool/gpu-0: CEL runtime error: no such key: x",
    ],
    [
      "too many devices",
      { claims: [claim({ requests: [exactly({ count: 33 })] })], slices: [four] },
      "claim default/c: number of requested devices 33 exceeds the claim limit of 32",
    ],
    [
      "a missing class",
      { claims: [one], slices: [four], classes: [] },
      "request r: device class gpu does not exist",
    ],
    [
      "a constraint against all devices",
      {
        claims: [claim({ requests: [exactly(all)], constraints: [{ matchAttribute: `${DRIVER}/x` }] })],
        slices: [four],
      },
      "claim default/c, request r: cannot add device gpu.example.com/pool/gpu-0 because a claim constraint would not be satisfied",
    ],
  ])("%s is said", (_, world, message) => {
    expect(() => allocated(world)).toThrow(message);
  });

  test("expensive expressions time out and continue at the next attempt", () => {
    const range = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]";
    const loops = `${range}.all(a, ${range}.all(b, ${range}.all(c, true)))`;
    const last = cel(`${loops} && device.attributes["${DRIVER}"].at == 99`);
    const attributes = (at: number): Partial<Device> => ({ attributes: { at: { int: at } } });
    const world = {
      claims: [claim({ requests: [exactly({ selectors: [last] })] })],
      slices: [slice({ devices: devices(100, attributes) })],
    };
    const selectors = new DeviceSelectors();
    const tries = Array.from({ length: 8 }, () => allocator(world, selectors).tryNode(node("a")));

    expect(tries[0]).toBe("timed out trying to allocate devices");
    expect(tries.at(-1)).toBeUndefined();
  });

  test("too much expression text to compile times out", () => {
    const long = (at: number): ReturnType<typeof cel> =>
      cel(`${"true && ".repeat(1200)}${String(at)} == ${String(at)}`);
    const requests = Array.from({ length: 20 }, (_, at) =>
      exactly({ selectors: [long(at)] }, `r${String(at)}`),
    );
    const world = { claims: [claim({ requests })], slices: [slice({ devices: devices(20) })] };

    expect(allocated(world)).toBe("timed out trying to allocate devices");
  });

  test("a long search times out", () => {
    const slices = [slice({ devices: devices(40, () => ({ attributes: { numa: { int: 1 } } })) })];
    const hopeless = claim({
      requests: [exactly({ count: 20 }), exactly({ count: 12, selectors: [cel("false")] }, "no")],
    });

    expect(allocated({ claims: [hopeless], slices })).toBe("timed out trying to allocate devices");
  });

  test("a search for all devices counts towards the budget", () => {
    const many = Array.from({ length: 10 }, (_, at) =>
      slice(
        { devices: devices(128), pool: { name: `pool-${String(at)}`, generation: 1, resourceSliceCount: 1 } },
        `s-${String(at)}`,
      ),
    );
    const none = { ...all, selectors: [cel("false")] };
    const requests = Array.from({ length: 32 }, (_, at) => exactly(none, `r-${String(at)}`));

    expect(allocated({ claims: [claim({ requests })], slices: many })).toBe(
      "timed out trying to allocate devices",
    );
  });
});
