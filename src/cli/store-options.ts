/** Options of the store, shared by all commands that open one. */
import { resolve } from "node:path";
import { parseDuration } from "../api/values/time.ts";
import type { EtcdOptions, HistoryReach } from "../cluster/options.ts";
import { findText, UsageError, type Arguments, type Io, type OptionSpec } from "./command.ts";

export const etcdOptions: readonly OptionSpec[] = [
  { flags: "--etcd-endpoints <urls>", help: "URLs of etcd servers, separated by commas" },
  { flags: "--etcd-cafile <file>", help: "path of the CA certificate of the etcd servers" },
  { flags: "--etcd-certfile <file>", help: "path of the client certificate for etcd" },
  { flags: "--etcd-keyfile <file>", help: "path of the private key of the client certificate" },
  { flags: "--etcd-user <name>", help: "name of the etcd user" },
  { flags: "--etcd-password-file <file>", help: "path of a file with the etcd user's password" },
];

export const storeQuotaOption: OptionSpec = {
  flags: "--store-quota-bytes <bytes>",
  help: "memory limit of the store (0: none; default: by heap size)",
};

export const historyOption: OptionSpec = {
  flags: "--history <reach>",
  help: "how far the past reaches: 1h, 1GiB or 1h,1GiB (default: 5m)",
};

/** Bounds of a reach that names only the other one. */
const HISTORY_MAX = { windowMs: 30 * 24 * 3_600_000, maxBytes: 4 * 1024 ** 3 };
/** A shorter history would end watches that lag. */
const HISTORY_MIN = { windowMs: 5 * 60_000, maxBytes: 64 * 1024 ** 2 };

export function parseHistory(args: Arguments): HistoryReach | undefined {
  const text = findText(args, "history");
  if (text === undefined) return undefined;
  if (findText(args, "store") === "etcd")
    throw new UsageError("--history is not for --store etcd, which keeps its own history");
  const parts = text.split(",").map((part) => ({ windowMs: millisecondsOf(part), maxBytes: bytesOf(part) }));
  const windowMs = parts.find((each) => each.windowMs !== undefined)?.windowMs;
  const maxBytes = parts.find((each) => each.maxBytes !== undefined)?.maxBytes;
  const isRead = parts.every((each) => each.windowMs !== undefined || each.maxBytes !== undefined);
  if (
    !isRead ||
    (windowMs ?? Infinity) < HISTORY_MIN.windowMs ||
    (maxBytes ?? Infinity) < HISTORY_MIN.maxBytes
  )
    throw new UsageError(`--history must be at least 5m or 64MiB, such as 1h or 1h,1GiB, found "${text}"`);
  return { windowMs: windowMs ?? HISTORY_MAX.windowMs, maxBytes: maxBytes ?? HISTORY_MAX.maxBytes };
}

function millisecondsOf(text: string): number | undefined {
  return /^(\d+(s|m|h))+$/.test(text) ? Number(parseDuration(text) / 1_000_000n) : undefined;
}

function bytesOf(text: string): number | undefined {
  const [, count, unit = ""] = /^(\d{1,6})(Mi|Gi)B?$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (unit === "Gi" ? 1024 ** 3 : 1024 ** 2);
}

/** Undefined means the default: 62 % of the heap limit above 128 MB. */
export function parseStoreQuota(args: Arguments): number | undefined {
  const text = findText(args, "storeQuotaBytes");
  if (text === undefined) return undefined;
  const bytes = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (bytes === 0 || bytes >= QUOTA_MIN_BYTES) return bytes;
  throw new UsageError(
    `--store-quota-bytes must be 0 or a whole number from ${String(QUOTA_MIN_BYTES)}, found "${text}"`,
  );
}

/** Space for the objects that a server creates at its start. */
const QUOTA_MIN_BYTES = 4 << 20;

const ETCD_NAMES = [
  "etcdEndpoints",
  "etcdCafile",
  "etcdCertfile",
  "etcdKeyfile",
  "etcdUser",
  "etcdPasswordFile",
];

export function parseStore<Type extends string>(io: Io, args: Arguments, otherTypes: readonly Type[]) {
  const type = findText(args, "store");
  if (type === "etcd") return { type, etcd: parseEtcd(io, args) } as const;
  const stray = ETCD_NAMES.find((name) => args.options[name] !== undefined);
  if (stray !== undefined) throw new UsageError(`${flagOf(stray)} is only for --store etcd`);
  const found = otherTypes.find((other) => other === type);
  if (found === undefined)
    throw new UsageError(`--store must be one of ${[...otherTypes, "etcd"].join(", ")}`);
  return { type: found } as const;
}

function parseEtcd(io: Io, args: Arguments): EtcdOptions {
  const path = (name: string) => {
    const value = findText(args, name);
    return value === undefined ? undefined : resolve(io.workingDir, value);
  };
  requireTogether(args, "etcdCertfile", "etcdKeyfile");
  requireTogether(args, "etcdUser", "etcdPasswordFile");
  return {
    endpoints: parseEndpoints(findText(args, "etcdEndpoints")),
    caFile: path("etcdCafile"),
    certFile: path("etcdCertfile"),
    keyFile: path("etcdKeyfile"),
    user: findText(args, "etcdUser"),
    passwordFile: path("etcdPasswordFile"),
  };
}

function parseEndpoints(text: string | undefined): readonly string[] {
  if (text === undefined) throw new UsageError("--store etcd needs --etcd-endpoints");
  const endpoints = text.split(",").map((endpoint) => endpoint.trim());
  const wrong = endpoints.find((endpoint) => !/^https?:$/.test(protocolOf(endpoint)));
  if (wrong !== undefined) {
    throw new UsageError(`--etcd-endpoints must be http or https URLs separated by commas, found "${wrong}"`);
  }
  return endpoints;
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : "";
}

function requireTogether(args: Arguments, one: string, other: string): void {
  if ((args.options[one] === undefined) === (args.options[other] === undefined)) return;
  throw new UsageError(`${flagOf(one)} and ${flagOf(other)} must be given together`);
}

function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
