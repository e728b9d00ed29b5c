import { describe, expect, test } from "vitest";
import type { DeviceRequest, ResourceClaim } from "../../api/generated/types/resource-v1.ts";
import { formatQuantity } from "../../api/quantity.ts";
import { resourceBehind, usageOf } from "./usage.ts";

const CLAIMS = { group: "resource.k8s.io", name: "resourceclaims" };
const SUFFIX = ".deviceclass.resource.k8s.io/devices";

function usage(...requests: readonly Partial<DeviceRequest>[]): Readonly<Record<string, string>> {
  const claim = { metadata: { name: "c" }, spec: { devices: { requests } } } as unknown as ResourceClaim;
  const used = usageOf(claim, CLAIMS, 0);
  return Object.fromEntries([...used].map(([name, quantity]) => [name, formatQuantity(quantity)]));
}

function wish(deviceClassName: string, count: number): NonNullable<DeviceRequest["exactly"]> {
  return { deviceClassName, allocationMode: "ExactCount", count } as NonNullable<DeviceRequest["exactly"]>;
}

describe("what a claim uses of a quota of devices", () => {
  test("is the sum of what its requests ask for, by class", () => {
    expect(
      usage({ exactly: wish("gpu", 2) }, { exactly: wish("gpu", 3) }, { exactly: wish("nic", 1) }),
    ).toEqual({
      "count/resourceclaims.resource.k8s.io": "1",
      [`gpu${SUFFIX}`]: "5",
      [`nic${SUFFIX}`]: "1",
    });
  });

  test("is all that it could get where it asks for all", () => {
    const all = { deviceClassName: "gpu", allocationMode: "All" } as NonNullable<DeviceRequest["exactly"]>;

    expect(usage({ exactly: all })).toMatchObject({ [`gpu${SUFFIX}`]: "32" });
  });

  test("is the worst of its alternatives, for each class", () => {
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

  test("is found by the name in the quota", () => {
    expect(resourceBehind(`gpu.example.com${SUFFIX}`)).toEqual(CLAIMS);
  });
});
