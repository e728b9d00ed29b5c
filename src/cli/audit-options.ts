/** Options of the audit log, under kube-apiserver's names. */
import type { ClusterOptions } from "../cluster/options.ts";
import { findText, UsageError, type Arguments, type OptionSpec } from "./command.ts";

const MEGABYTE = 1 << 20;
const DAY_MS = 24 * 60 * 60_000;
const DEFAULT_MEGABYTES = "100";
/** Kube-apiserver keeps all files. A bound keeps the log from filling the disk, which would stop the store too. */
const DEFAULT_BACKUPS = "10";

export const auditOptions: readonly OptionSpec[] = [
  {
    flags: "--audit-policy-file <file>",
    help: "path of the audit Policy: requests to log, and their detail",
  },
  { flags: "--audit-log-path <file>", help: 'path of the audit log ("-" for stdout)' },
  {
    flags: "--audit-log-maxsize <megabytes>",
    help: "size in megabytes at which the audit log is rotated",
    fallback: DEFAULT_MEGABYTES,
  },
  {
    flags: "--audit-log-maxbackup <count>",
    help: "number of rotated audit logs to keep (0: all)",
    fallback: DEFAULT_BACKUPS,
  },
  {
    flags: "--audit-log-maxage <days>",
    help: "days to keep rotated audit logs (0: for ever)",
    fallback: "0",
  },
  {
    flags: "--audit-webhook-config-file <file>",
    help: "path of the audit webhook's kubeconfig",
  },
  { flags: "--audit-log-compress", help: "gzip compression of rotated audit logs" },
];

/** Absolute path that a file option gives; undefined when the option is not given. */
type FindPath = (name: string) => string | undefined;

export function parseAudit(args: Arguments, path: FindPath): ClusterOptions["audit"] {
  const policyFile = path("auditPolicyFile");
  const webhookFile = path("auditWebhookConfigFile");
  const log = parseLog(args, path);
  if (policyFile === undefined && log === undefined && webhookFile === undefined) return undefined;
  if (policyFile === undefined || (log === undefined && webhookFile === undefined))
    throw new UsageError(
      "--audit-policy-file only works together with --audit-log-path or --audit-webhook-config-file",
    );
  return { policyFile, log, webhookFile };
}

function parseLog(args: Arguments, path: FindPath): NonNullable<ClusterOptions["audit"]>["log"] {
  const logPath = findText(args, "auditLogPath") === "-" ? "-" : path("auditLogPath");
  if (logPath === undefined) return undefined;
  const megabytes = count(args, "auditLogMaxsize", DEFAULT_MEGABYTES);
  return {
    path: logPath,
    limits: {
      // 0 means the default, as upstream.
      maxBytes: (megabytes === 0 ? Number(DEFAULT_MEGABYTES) : megabytes) * MEGABYTE,
      maxBackups: count(args, "auditLogMaxbackup", DEFAULT_BACKUPS),
      maxAgeMs: count(args, "auditLogMaxage", "0") * DAY_MS,
      isCompressed: args.options["auditLogCompress"] === true,
    },
  };
}

function count(args: Arguments, name: string, fallback: string): number {
  const text = findText(args, name) ?? fallback;
  if (/^\d{1,6}$/.test(text)) return Number(text);
  const flag = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new UsageError(`--${flag} must be a whole number, found "${text}"`);
}
