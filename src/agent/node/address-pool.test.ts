import { describe, expect, test } from "vitest";
import { AddressPool } from "./address-pool.ts";

describe("a pool of addresses", () => {
  test("hands out each address once until it is freed", () => {
    const pool = new AddressPool("10.1.2.0/29");
    const taken = Array.from({ length: 5 }, () => pool.take());

    expect(taken).toEqual(["10.1.2.2", "10.1.2.3", "10.1.2.4", "10.1.2.5", "10.1.2.6"]);
    expect(pool.take()).toBeUndefined();
    pool.free("10.1.2.4");
    expect(pool.take()).toBe("10.1.2.4");
  });

  test("does not hand out an address that a pod already has", () => {
    const pool = new AddressPool("10.1.2.0/24");
    pool.keep("10.1.2.2");
    pool.keep("192.168.0.1");

    expect(pool.take()).toBe("10.1.2.3");
  });
});
