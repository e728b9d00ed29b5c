import { describe, expect, test } from "vitest";
import { isDialable } from "./address-check.ts";

describe("an address", () => {
  test.each(["10.1.2.3", "192.168.1.1", "2001:db8::1", "fd00::2", "::ffff:10.1.2.3"])(
    "%s may be dialled",
    (ip) => {
      expect(isDialable(ip, "configured")).toBe(true);
      expect(isDialable(ip, "reported")).toBe(true);
    },
  );

  test.each(["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1"])(
    "%s may be dialled only where somebody has configured it",
    (ip) => {
      expect(isDialable(ip, "configured")).toBe(true);
      expect(isDialable(ip, "reported")).toBe(false);
    },
  );

  test.each([
    "169.254.169.254",
    "::ffff:169.254.169.254",
    "fe80::1",
    "0.0.0.0",
    "::",
    "224.0.0.1",
    "ff02::1",
    "localhost",
    "127.1",
    "",
  ])("%j is never dialled", (ip) => {
    expect(isDialable(ip, "configured")).toBe(false);
  });
});
