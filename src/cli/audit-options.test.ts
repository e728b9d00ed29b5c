import { describe, expect, test } from "vitest";
import { parseAudit } from "./audit-options.ts";
import { UsageError } from "./command.ts";

type Options = Readonly<Record<string, string | true>>;

function parsed(options: Options): ReturnType<typeof parseAudit> {
  const path = (name: string): string | undefined => {
    const text = options[name];
    return typeof text === "string" ? `/current/${text}` : undefined;
  };
  return parseAudit({ operands: {}, rest: [], options }, path);
}

describe("parseAudit", () => {
  test("returns undefined without options", () => {
    expect(parsed({ auditLogMaxsize: "100", auditLogMaxage: "0" })).toBeUndefined();
  });

  test("reads the policy, the log file and its limits", () => {
    const options = {
      auditPolicyFile: "policy.yaml",
      auditLogPath: "audit.log",
      auditLogMaxsize: "5",
      auditLogMaxbackup: "3",
      auditLogMaxage: "2",
      auditLogCompress: true,
    } as const;

    expect(parsed(options)).toEqual({
      policyFile: "/current/policy.yaml",
      log: {
        path: "/current/audit.log",
        limits: { maxBytes: 5 << 20, maxBackups: 3, maxAgeMs: 2 * 24 * 3_600_000, isCompressed: true },
      },
    });
  });

  test("accepts - as the path and defaults to 100 megabytes", () => {
    const { log } = parsed({ auditPolicyFile: "p", auditLogPath: "-", auditLogMaxsize: "0" }) ?? {};

    expect(log).toMatchObject({ path: "-", limits: { maxBytes: 100 << 20, maxBackups: 10 } });
  });

  test("accepts a webhook instead of a file", () => {
    expect(parsed({ auditPolicyFile: "p", auditWebhookConfigFile: "w" })).toEqual({
      policyFile: "/current/p",
      webhookFile: "/current/w",
    });
  });

  test.each<Options>([
    { auditPolicyFile: "p" },
    { auditLogPath: "l" },
    { auditWebhookConfigFile: "w" },
    { auditPolicyFile: "p", auditLogPath: "l", auditLogMaxsize: "many" },
    { auditPolicyFile: "p", auditLogPath: "l", auditLogMaxage: "-1" },
  ])("that make no sense are refused: %o", (options) => {
    expect(() => parsed(options)).toThrow(UsageError);
  });
});
