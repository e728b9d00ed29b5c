import { describe, expect, test } from "vitest";
import type { EndpointAddress, EndpointSubset } from "../../api/generated/types/core-v1.ts";
import { truncateToCapacity } from "./capacity.ts";

function addresses(count: number): readonly EndpointAddress[] {
  return Array.from({ length: count }, (_, at) => ({ ip: `10.0.${at >> 8}.${at & 255}` }));
}

function subset(ready: number, notReady: number): EndpointSubset {
  return {
    ...(ready > 0 && { addresses: addresses(ready) }),
    ...(notReady > 0 && { notReadyAddresses: addresses(notReady) }),
    ports: [{ port: ready + notReady }],
  };
}

function counts(subsets: readonly EndpointSubset[]) {
  const cut = truncateToCapacity(subsets);
  return cut.subsets.map((each) => [each.addresses?.length ?? 0, each.notReadyAddresses?.length ?? 0]);
}

describe("truncateToCapacity", () => {
  test("keeps a thousand addresses", () => {
    const subsets = [subset(500, 100), subset(400, 0)];

    expect(truncateToCapacity(subsets)).toEqual({ subsets, isCut: false });
  });

  test("keeps ready addresses of all subsets before unready ones", () => {
    expect(truncateToCapacity([subset(100, 800), subset(400, 0)]).isCut).toBe(true);
    expect(counts([subset(100, 800), subset(400, 0)])).toEqual([
      [100, 500],
      [400, 0],
    ]);
  });

  test("cuts each subset by its share", () => {
    expect(counts([subset(0, 900), subset(0, 600)])).toEqual([
      [0, 600],
      [0, 400],
    ]);
    expect(counts([subset(1000, 5), subset(500, 5)])).toEqual([
      [667, 0],
      [333, 0],
    ]);
  });

  test("leaves out a subset without remaining addresses", () => {
    expect(counts([subset(1000, 0), subset(0, 3)])).toEqual([[1000, 0]]);
  });
});
