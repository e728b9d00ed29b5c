import { describe, expect, test } from "vitest";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import type { DeviceClass, DeviceRequest, ResourceClaim } from "../../api/generated/types/resource-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import { formatQuantity } from "../../api/values/quantity.ts";
import { resourcesBehind, usageOf, type UsageFacts } from "./usage.ts";

const CLAIMS = { group: "resource.k8s.io", name: "resourceclaims" };
const SUFFIX = ".deviceclass.resource.k8s.io/devices";

/** The class of GPUs provides an extended resource. */
const FACTS: UsageFacts = {
  now: 0,
  findClass: (name) =>
    ({
      metadata: { name },
      spec: name === "gpu" ? { extendedResourceName: "example.com/gpu" } : {},
    }) as DeviceClass,
  findPod: (_, name) => {
    const asked = { cpu: "1", "example.com/gpu": "2", "deviceclass.resource.kubernetes.io/gpu": "1" };
    const containers = [{ name: "main", resources: { requests: asked } }];
    return incomplete<Pod>({ metadata: { name, uid: "1" }, spec: { containers }, status: {} });
  },
};

function usage(...requests: readonly Partial<DeviceRequest>[]): Readonly<Record<string, string>> {
  return usageOfClaim({ name: "c" }, requests);
}

function usageOfClaim(
  metadata: object,
  requests: readonly object[],
  facts = FACTS,
): Readonly<Record<string, string>> {
  const claim = { metadata, spec: { devices: { requests } } } as ResourceClaim;
  const used = usageOf(claim, CLAIMS, facts);
  return Object.fromEntries([...used].map(([name, quantity]) => [name, formatQuantity(quantity)]));
}

function wish(deviceClassName: string, count: number): NonNullable<DeviceRequest["exactly"]> {
  return { deviceClassName, allocationMode: "ExactCount", count } as NonNullable<DeviceRequest["exactly"]>;
}

describe("the usage of a claim in a device quota", () => {
  test("is the sum of its requests for each class", () => {
    expect(
      usage({ exactly: wish("gpu", 2) }, { exactly: wish("gpu", 3) }, { exactly: wish("nic", 1) }),
    ).toEqual({
      "count/resourceclaims.resource.k8s.io": "1",
      [`gpu${SUFFIX}`]: "5",
      [`nic${SUFFIX}`]: "1",
      "requests.example.com/gpu": "5",
      "requests.deviceclass.resource.kubernetes.io/gpu": "5",
      "requests.deviceclass.resource.kubernetes.io/nic": "1",
    });
  });

  test("excludes extended resources that its pod requests", () => {
    const owner = { apiVersion: "v1", kind: "Pod", name: "web", controller: true };
    const annotations = { "resource.kubernetes.io/extended-resource-claim": "true" };
    const requests = [
      { name: "container-0-request-2", exactly: wish("gpu", 2) },
      { name: "container-0-request-1", exactly: wish("gpu", 1) },
    ];

    expect(
      usageOfClaim({ name: "c", annotations, ownerReferences: [{ ...owner, uid: "1" }] }, requests),
    ).toEqual({
      "count/resourceclaims.resource.k8s.io": "1",
      [`gpu${SUFFIX}`]: "3",
      "requests.example.com/gpu": "1",
      "requests.deviceclass.resource.kubernetes.io/gpu": "2",
    });
    const left = { name: "c", annotations, ownerReferences: [{ ...owner, uid: "2" }] };
    expect(usageOfClaim(left, requests, { ...FACTS, isRemoval: true })).toEqual({
      "count/resourceclaims.resource.k8s.io": "1",
      [`gpu${SUFFIX}`]: "3",
    });
    const forged = { name: "c", annotations, ownerReferences: [{ ...owner, uid: "2" }] };
    expect(usageOfClaim(forged, requests)).toMatchObject({ "requests.example.com/gpu": "3" });
  });

  test("is the upper bound where it requests all devices", () => {
    const all = { deviceClassName: "gpu", allocationMode: "All" } as NonNullable<DeviceRequest["exactly"]>;

    expect(usage({ exactly: all })).toMatchObject({ [`gpu${SUFFIX}`]: "32" });
  });

  test("is the maximum of its alternatives for each class", () => {
    const firstAvailable = [
      { name: "a", ...wish("gpu", 1) },
      { name: "b", ...wish("gpu", 4) },
      { name: "c", ...wish("nic", 2) },
    ] as NonNullable<DeviceRequest["firstAvailable"]>;

    expect(usage({ firstAvailable }, { exactly: wish("gpu", 1) })).toMatchObject({
      [`gpu${SUFFIX}`]: "5",
      [`nic${SUFFIX}`]: "2",
    });
  });

  test("is found by the name of the quota's resource", () => {
    expect(resourcesBehind(`gpu.example.com${SUFFIX}`)).toEqual([CLAIMS]);
    expect(resourcesBehind("requests.example.com/gpu")).toEqual([{ group: "", name: "pods" }, CLAIMS]);
  });
});
