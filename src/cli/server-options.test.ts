import { describe, expect, test } from "vitest";
import { UsageError } from "./command.ts";
import { parsePodCidrs, parsePortRange, parseRuntimeConfig, parseServiceCidrs } from "./server-options.ts";

describe("--runtime-config", () => {
  test("names group versions with a word for each, true when there is none", () => {
    expect(parseRuntimeConfig("apps/v1=false, api/beta=true,api/alpha")).toEqual({
      "apps/v1": false,
      "api/beta": true,
      "api/alpha": true,
    });
  });

  test("names the core group by its version alone, and versions that are not served", () => {
    expect(parseRuntimeConfig("v1=true,api/v1=true")).toBeDefined();
    expect(parseRuntimeConfig("apps/v1beta1=false")).toEqual({ "apps/v1beta1": false });
  });

  test.each(["apps/v1=maybe", "=true", "a b", "foo/v1", "apps", "ga"])("%s is refused", (text) => {
    expect(() => parseRuntimeConfig(text)).toThrow(UsageError);
  });
});

describe("--service-cidr", () => {
  test("takes a range of each family", () => {
    expect(parseServiceCidrs("10.96.0.0/12, fd00::/108")).toEqual(["10.96.0.0/12", "fd00::/108"]);
  });

  test.each(["10.96.0.0", "10.96.0.0/12,10.112.0.0/12", ""])("%s is refused", (text) => {
    expect(() => parseServiceCidrs(text)).toThrow(UsageError);
  });
});

describe("--node-port-range", () => {
  test("has two ends", () => {
    expect(parsePortRange("30000-32767")).toEqual({ first: 30_000, last: 32_767 });
  });

  test.each(["30000", "5-4", "0-10", "1-70000"])("%s is refused", (text) => {
    expect(() => parsePortRange(text)).toThrow(UsageError);
  });
});

describe("--pod-cidr", () => {
  test("takes a range of each family", () => {
    expect(parsePodCidrs("10.244.0.0/16,fd00:1::/48")).toEqual(["10.244.0.0/16", "fd00:1::/48"]);
  });

  test.each(["10.244.0.0/25", "fd00::/96", "none"])("%s is refused", (text) => {
    expect(() => parsePodCidrs(text)).toThrow(UsageError);
  });
});
