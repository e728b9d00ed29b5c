import { describe, expect, test } from "vitest";
import { CidrBlocks } from "./cidr-blocks.ts";

describe("blocks of a range", () => {
  test("are allocated once each, and again once free", () => {
    const blocks = new CidrBlocks("10.244.0.0/22", 24);
    blocks.keep("10.244.1.0/24");

    expect([blocks.take(), blocks.take(), blocks.take(), blocks.take()]).toEqual([
      "10.244.0.0/24",
      "10.244.2.0/24",
      "10.244.3.0/24",
      undefined,
    ]);
    blocks.free("10.244.1.0/24");
    expect(blocks.take()).toBe("10.244.1.0/24");
  });

  test("suffice for thousands of nodes in the default range", () => {
    const blocks = new CidrBlocks("10.128.0.0/9", 24);
    const taken = Array.from({ length: 5000 }, () => blocks.take());

    expect(new Set(taken).size).toBe(5000);
    expect(taken.at(-1)).toBe("10.147.135.0/24");
  });

  test("must fit into the range", () => {
    expect(() => new CidrBlocks("10.0.0.0/25", 24)).toThrow("holds blocks of /24");
  });
});
