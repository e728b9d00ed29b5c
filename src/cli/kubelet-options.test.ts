import { describe, expect, test } from "vitest";
import { parseKubelet } from "./kubelet-options.ts";

type Options = Readonly<Record<string, string>>;

function parse(options: Options): unknown {
  return parseKubelet({ operands: {}, rest: [], options }, (name) => options[name]);
}

describe("parseKubelet", () => {
  test("reads the authority, the types of addresses in order, and the timeout", () => {
    const given = {
      kubeletCertificateAuthority: "/ca.crt",
      kubeletPreferredAddressTypes: "InternalIP, Hostname",
      kubeletTimeout: "1m30s",
    };

    expect(parse(given)).toEqual({
      caFile: "/ca.crt",
      addressTypes: ["InternalIP", "Hostname"],
      timeoutMs: 90_000,
    });
    expect(parse({})).toBeUndefined();
  });

  test.each([
    [
      { kubeletPreferredAddressTypes: "InternalIP,Ip" },
      /--kubelet-preferred-address-types must be a list of/,
    ],
    [{ kubeletPreferredAddressTypes: "Hostname,Hostname" }, /each once, found "Hostname,Hostname"/],
    [{ kubeletTimeout: "soon" }, /--kubelet-timeout must be a duration like 5s, more than 0, found "soon"/],
    [{ kubeletTimeout: "0s" }, /--kubelet-timeout must be/],
  ])("%j is refused", (options, message) => {
    expect(() => parse(options)).toThrow(message);
  });
});
