import { expect, test } from "vitest";
import { addressBlock } from "./address-block.ts";

test.each([
  ["10.0.0.1", "10.0.0.1"],
  ["::ffff:10.0.0.1", "10.0.0.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::6", "2001:db8:1:2::/64"],
  ["2001:db8::6", "2001:db8:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["64:ff9b::10.0.0.1", "64:ff9b:0:0::/64"],
  [undefined, ""],
])("the block of %s is %s", (address, block) => {
  expect(addressBlock(address)).toBe(block);
});
