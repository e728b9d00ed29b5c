import { describe, expect, test } from "vitest";
import { checkServerName } from "./server-identity.ts";

function mismatch(
  host: string,
  subjectaltname: string | undefined,
  commonName = "server",
): string | undefined {
  const subject = { CN: commonName, C: "", ST: "", L: "", O: "", OU: "" };
  return checkServerName(host, { subject, ...(subjectaltname !== undefined && { subjectaltname }) })?.message;
}

describe("a certificate", () => {
  test.each([
    ["hook.system.svc", "DNS:other.example, DNS:hook.system.svc"],
    ["HOOK.system.svc", "DNS:hook.SYSTEM.svc"],
    ["hook.system.svc.", "DNS:hook.system.svc"],
    ["hook.system.svc", "DNS:*.system.svc"],
    ["a.com", "DNS:*.com"],
    ["under_score.example", "DNS:under_score.example"],
    ["127.0.0.1", "DNS:x.example, IP Address:127.0.0.1"],
    ["::1", "IP Address:0:0:0:0:0:0:0:1"],
    ["2001:db8::a", "IP Address:2001:DB8:0:0:0:0:0:A"],
  ])("is for %s by %s", (host, names) => {
    expect(mismatch(host, names)).toBeUndefined();
  });

  test.each([
    ["hook.system.svc", "DNS:*.svc"],
    ["hook.system.svc", "DNS:ho*.system.svc"],
    ["hook.system.svc", "DNS:hook.*.svc"],
    ["hook", "DNS:*"],
    ["system.svc", "DNS:*.system.svc"],
    ["hook.system.svc", "DNS:hook.system.svc."],
    ["127.0.0.1", "DNS:127.0.0.1, IP Address:10.0.0.1"],
    ["10.0.0.1.example", "IP Address:10.0.0.1"],
    // A name that holds what looks like a second name.
    ["hook.system.svc", String.raw`DNS:"a.example, DNS:hook.system.svc"`],
  ])("is not for %s by %s", (host, names) => {
    expect(mismatch(host, names)).toBeDefined();
  });

  test("is refused in Go's words", () => {
    expect(mismatch("a.example", "DNS:b.example, IP Address:10.0.0.1, DNS:*.c.example")).toBe(
      "certificate is valid for b.example, *.c.example, not a.example",
    );
    expect(mismatch("a.example", "IP Address:10.0.0.1", "a.example")).toBe(
      "certificate is not valid for any names, but wanted to match a.example",
    );
    expect(mismatch("a.example", undefined, "a.example")).toBe(
      "certificate relies on legacy Common Name field, use SANs instead",
    );
    expect(mismatch("127.0.0.1", "DNS:a.example")).toBe(
      "cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs",
    );
    expect(mismatch("127.0.0.1", "IP Address:10.0.0.1")).toBe(
      "certificate is valid for 10.0.0.1, not 127.0.0.1",
    );
  });

  test("with very many names is refused in one short line", () => {
    const names = Array.from({ length: 500 }, (_, at) => `DNS:n${at}.example`).join(", ");

    expect(mismatch("a.example", names)).toBe(
      "certificate is valid for 500 names, but none matched a.example",
    );
  });
});
