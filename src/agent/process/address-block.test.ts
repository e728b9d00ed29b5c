import { describe, expect, test } from "vitest";
import { blocksFrom, overlaps, rolesIn } from "./address-block.ts";

describe("a block of pod addresses", () => {
  test.each([
    ["10.1.2.0/24", { gateway: "10.1.2.1", machine: "10.1.2.2", prefixLength: 24 }],
    ["fd00::/64", { gateway: "fd00::1", machine: "fd00::2", prefixLength: 64 }],
  ])("%s has fixed addresses for its bridge and the machine", (block, roles) => {
    expect(rolesIn(block)).toEqual(roles);
  });

  test.each([
    ["10.1.0.0/16", "10.1.2.0/24", true],
    ["10.1.2.0/24", "10.1.0.0/16", true],
    ["10.1.2.0/24", "10.1.3.0/24", false],
    ["0.0.0.0/0", "10.1.3.0/24", true],
    ["10.1.2.0/24", "fd00::/64", false],
  ])("%s and %s overlap: %s", (one, other, expected) => {
    expect(overlaps(one, other)).toBe(expected);
  });

  test("is the one of a key first, then each other one", () => {
    expect([...blocksFrom("10.64.0.0/14", 16, 6)]).toEqual([
      "10.66.0.0/16",
      "10.67.0.0/16",
      "10.64.0.0/16",
      "10.65.0.0/16",
    ]);
  });
});
