import { beforeEach, describe, expect, test } from "vitest";
import type { AllocationResult, ResourceClaim } from "../../../api/generated/types/resource-v1.ts";
import { incomplete } from "../../../api/object-fixture.ts";
import type { CacheView } from "../../../runtime/cache/cache-view.ts";
import type { CacheReader } from "../../../runtime/controller/controller.ts";
import { AssumedClaims } from "./assumed-claims.ts";

/** Claims in the cache. */
let claims: readonly ResourceClaim[];
let assumed: AssumedClaims;

beforeEach(() => {
  claims = [];
  const reader = incomplete<CacheView<ResourceClaim>>({
    list: () => claims,
    find: ({ name }: { readonly name: string }) => claims.find(({ metadata }) => metadata.name === name),
  });
  assumed = new AssumedClaims((() => reader) as CacheReader);
});

function claim(name: string, resourceVersion: string, allocation?: AllocationResult): ResourceClaim {
  const metadata = { namespace: "default", name, uid: name, resourceVersion };
  return { metadata, status: allocation === undefined ? {} : { allocation } } as ResourceClaim;
}

function whole(device: string): AllocationResult {
  return { devices: { results: [{ request: "r", driver: "d", pool: "p", device }] } };
}

function share(device: string, memory: string): AllocationResult {
  const [result] = whole(device).devices.results ?? [];
  if (result === undefined) throw new Error("the claim has no result");
  return { devices: { results: [{ ...result, shareID: "x", consumedCapacity: { memory } }] } };
}

const taken = (...devices: readonly string[]): readonly string[] => {
  const inUse = assumed.devicesInUse();
  return devices.filter((device) => inUse.isTaken(`d/p/${device}`));
};

describe("devices in use", () => {
  test("are cached, promised, or written but not cached yet", () => {
    claims = [claim("a", "1", whole("one")), claim("b", "1"), claim("c", "1")];
    assumed.promise(claim("b", "1"), whole("two"));
    assumed.settle(claim("c", "1"), claim("c", "2", whole("three")));

    expect(taken("one", "two", "three", "four")).toEqual(["one", "two", "three"]);
  });

  test("exclude cancelled promises and devices freed in the cache", () => {
    claims = [claim("a", "1", whole("one")), claim("b", "1")];
    assumed.promise(claim("b", "1"), whole("two"));
    expect(taken("one", "two")).toEqual(["one", "two"]);

    assumed.settle(claim("b", "1"));
    claims = [claim("a", "2"), claim("b", "1")];

    expect(taken("one", "two")).toEqual([]);
  });

  test("include a claim's new devices while the cache shows its old ones", () => {
    claims = [claim("a", "1", whole("one"))];
    assumed.settle(claim("a", "1"), claim("a", "2"));
    assumed.settle(claim("a", "2"), claim("a", "3", whole("two")));

    expect(taken("one", "two")).toEqual(["one", "two"]);
  });

  test("count a share once, from whichever source", () => {
    claims = [claim("a", "1", share("nic", "2")), claim("b", "1")];
    // Another user was written into the claim.
    assumed.settle(claim("a", "1"), claim("a", "2", share("nic", "2")));
    assumed.promise(claim("b", "1"), share("nic", "3"));
    const memory = (): bigint | undefined => assumed.devicesInUse().capacityOf("d/p/nic")?.get("memory");
    expect(memory()).toBe(5_000_000_000n);

    assumed.settle(claim("b", "1"), claim("b", "2", share("nic", "3")));
    expect(memory()).toBe(5_000_000_000n);
    claims = [claim("a", "2", share("nic", "2")), claim("b", "2", share("nic", "3"))];

    expect(memory()).toBe(5_000_000_000n);
  });
});
