import { describe, expect, test } from "vitest";
import { isDialable } from "./address-check.ts";

describe("an address", () => {
  test.each([
    "10.1.2.3",
    "192.168.1.1",
    "2001:db8::1",
    "fd00::2",
    "::ffff:10.1.2.3",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
    "64:ff9b:1::8.8.8.8",
    "2001:0:808:808::f7f7:f7f7",
    "2001:db8::5efe:10.0.0.1",
  ])("%s may be dialled", (ip) => {
    expect(isDialable(ip, "configured")).toBe(true);
    expect(isDialable(ip, "reported")).toBe(true);
  });

  test.each(["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1"])(
    "%s may be dialled only if a client configured it",
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
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "0.1.2.3",
    "169.254.170.2",
    "192.0.0.192",
    "100.100.100.200",
    "168.63.129.16",
    "fd00:ec2::254",
    "fd20:ce::254",
    "fd00:42::42",
    "fd00:a9fe:a9fe::1",
    "fd00:c1::a9fe:a9fe",
    "ff02::1",
    "localhost",
    "127.1",
    "",
  ])("%j is never dialled", (ip) => {
    expect(isDialable(ip, "configured")).toBe(false);
  });

  const METADATA = "a9fe:a9fe";

  test.each([
    ["mapped", `::ffff:${METADATA}`],
    ["translated", `::ffff:0:${METADATA}`],
    ["compatible", `::${METADATA}`],
    ["by NAT64", `64:ff9b::${METADATA}`],
    ["by NAT64 of a network, prefix of 96 bits", `64:ff9b:1:1:1:1:${METADATA}`],
    ["by NAT64 of a network, prefix of 64 bits", "64:ff9b:1:1:a9:fea9:fe00:0"],
    ["by NAT64 of a network, prefix of 56 bits", "64:ff9b:1:1a9:fe:a9fe::"],
    ["by NAT64 of a network, prefix of 48 bits", "64:ff9b:1:a9fe:a9:fe00::"],
    ["by 6to4", `2002:${METADATA}::1`],
    ["by Teredo as its server", `2001:0:${METADATA}::f7f7:f7f7`],
    ["by Teredo as its client", "2001:0:808:808::5601:5601"],
    ["by ISATAP", `2001:db8::5efe:${METADATA}`],
    ["by ISATAP of a public address", `2001:db8::200:5efe:${METADATA}`],
    ["by Alibaba's address in NAT64", "64:ff9b::100.100.100.200"],
  ])("of a metadata service is never dialled: %s", (_form, ip) => {
    expect([isDialable(ip, "configured"), isDialable(ip, "reported")]).toEqual([false, false]);
  });

  test.each(["7f00:1", "a00:1", "c0a8:1", "ac10:1", "6440:1"])(
    "of a translator or tunnel for public addresses never embeds %s",
    (embedded) => {
      const inverted = embedded
        .split(":")
        .map((part) => (0xffff ^ Number.parseInt(part, 16)).toString(16))
        .join(":");

      for (const ip of [`64:ff9b::${embedded}`, `2002:${embedded}::1`, `2001:0:808:808::${inverted}`])
        expect([ip, isDialable(ip, "configured")]).toEqual([ip, false]);
    },
  );

  test.each(["::7f00:1", "::ffff:0:7f00:1", "2001:db8::5efe:7f00:1", "64:ff9b:1::7f00:1"])(
    "that an object reports does not embed loopback: %s",
    (ip) => {
      expect(isDialable(ip, "reported")).toBe(false);
    },
  );
});
