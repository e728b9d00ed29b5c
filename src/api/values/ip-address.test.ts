import { isIP } from "node:net";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as ip from "./ip-address.ts";

const IP_WRONG = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const CIDR_WRONG = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

describe("addresses", () => {
  test.each([
    ["10.0.0.1", []],
    ["2001:db8::1", []],
    ["::", []],
    ["::1", []],
    ["1::", []],
    ["2001:DB8::1", ['must be in canonical form ("2001:db8::1")']],
    ["2001:db8:0:0:1:0:0:1", ['must be in canonical form ("2001:db8::1:0:0:1")']],
    ["fe80:0:0:0:0:0:0:0abc", ['must be in canonical form ("fe80::abc")']],
    ["010.0.0.5", ["must not have leading 0s"]],
    ["::ffff:1.2.3.4", ["must not be an IPv4-mapped IPv6 address"]],
    ["::ffff:01.2.3.4", ["must not have leading 0s"]],
    ["", [IP_WRONG]],
    ["10.0.0", [IP_WRONG]],
    ["10.0.0.256", [IP_WRONG]],
    ["10.0.0.1 ", [IP_WRONG]],
    ["fe80::1%eth0", [IP_WRONG]],
    [":::", [IP_WRONG]],
    ["1::2::3", [IP_WRONG]],
    ["1:2:3:4:5:6:7:8:9", [IP_WRONG]],
    ["1:2:3:4:5:6:7::8", [IP_WRONG]],
    ["12345::", [IP_WRONG]],
    ["1".repeat(1_000_000), [IP_WRONG]],
  ])("%s", (text, problems) => {
    expect(ip.ipAddress(text)).toEqual(problems);
  });

  test("a legacy field takes other spellings", () => {
    expect(ip.legacyIpAddress("2001:DB8::1")).toEqual([]);
    expect(ip.legacyIpAddress("010.0.0.5")).toEqual(["must not have leading 0s"]);
  });

  test("every canonical text parses to the same address", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }), fc.boolean(), (bits, isShort) => {
        const address: ip.IpAddress = isShort
          ? { family: "IPv4", value: bits & 0xffffffffn }
          : { family: "IPv6", value: bits };
        const text = ip.ipAddressText(address);

        expect(ip.findIpAddress(text)).toEqual(address);
        expect(isIP(text)).toBe(isShort ? 4 : 6);
      }),
    );
  });

  test("accepts the same addresses as Node", () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.stringMatching(/^[0-9a-f:.]{0,20}$/)), (text) => {
        expect(ip.findIpAddress(text) !== undefined).toBe(isIP(text) !== 0);
      }),
    );
  });
});

describe("CIDR blocks", () => {
  test.each([
    ["10.0.0.0/8", []],
    ["2001:db8::/64", []],
    ["0.0.0.0/0", []],
    ["2001:DB8::/64", ['must be in canonical form ("2001:db8::/64")']],
    ["10.0.0.1/8", ["must not have bits set beyond the prefix length"]],
    ["10.0.0.0/08", ["must not have leading 0s in IP or prefix length"]],
    ["::ffff:10.0.0.0/104", ["must not have an IPv4-mapped IPv6 address"]],
    ["10.0.0.0/33", [CIDR_WRONG]],
    ["10.0.0.0", [CIDR_WRONG]],
    ["10.0.0.0/", [CIDR_WRONG]],
    ["/8", [CIDR_WRONG]],
    ["10.0.0.0/8/8", [CIDR_WRONG]],
  ])("%s", (text, problems) => {
    expect(ip.cidr(text)).toEqual(problems);
  });

  test("an interface address keeps its host bits", () => {
    expect(ip.interfaceAddress("192.168.1.5/24")).toEqual([]);
    expect(ip.interfaceAddress("192.168.01.5/24")).toEqual(['must be in canonical form ("192.168.1.5/24")']);
    expect(ip.interfaceAddress("x")).toEqual([
      "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)",
    ]);
  });

  test("a block contains its addresses and no others", () => {
    const block = ip.findCidr("10.96.0.0/12") ?? expect.fail("a block");
    const inside = ip.findIpAddress("10.111.255.255") ?? expect.fail("an address");
    const outside = ip.findIpAddress("10.112.0.0") ?? expect.fail("an address");

    expect(ip.cidrContains(block, inside)).toBe(true);
    expect(ip.cidrContains(block, outside)).toBe(false);
    expect(ip.cidrContains(block, { family: "IPv6", value: inside.value })).toBe(false);
    expect(ip.cidrText({ address: inside, prefixLength: 12 })).toBe("10.96.0.0/12");
  });
});
