/** The options of the audit log, by kube-apiserver's names. */
import type { ClusterOptions } from "../cluster/options.ts";
import { findText, UsageError, type Arguments, type OptionSpec } from "./command.ts";

const MEGABYTE = 1 << 20;
const DAY_MS = 24 * 60 * 60_000;
const DEFAULT_MEGABYTES = "100";
/** Kube-apiserver keeps all of them; a disk that is full ends more than the log. */
const DEFAULT_BACKUPS = "10";

export const auditOptions: readonly OptionSpec[] = [
  {
    flags: "--audit-policy-file <file>",
    help: "an audit Policy: which requests are written down, and how much of them",
  },
  { flags: "--audit-log-path <file>", help: "where, one JSON line for each event; - is standard output" },
  {
    flags: "--audit-log-maxsize <megabytes>",
    help: "size at which the audit log is put aside",
    fallback: DEFAULT_MEGABYTES,
  },
  {
    flags: "--audit-log-maxbackup <count>",
    help: "how many audit logs that were put aside are kept; 0 keeps all",
    fallback: DEFAULT_BACKUPS,
  },
  { flags: "--audit-log-maxage <days>", help: "for how long they are kept; 0 is for ever", fallback: "0" },
  {
    flags: "--audit-webhook-config-file <file>",
    help: "a kubeconfig of the server to which audit events are sent",
  },
  { flags: "--audit-log-compress", help: "compress audit logs that were put aside" },
];

/** An option that names a file, as an absolute path. */
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
      // As upstream, none given is the usual one.
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
