/** Options of a server, shared by all commands that start one. */
import { join, resolve } from "node:path";
import type { LogLevel } from "../base/log/log.ts";
import type { ClusterOptions } from "../cluster/options.ts";
import { admissionOptions, parseAdmission } from "./admission-options.ts";
import { auditOptions, parseAudit } from "./audit-options.ts";
import { authenticationOptions, parseAuthentication } from "./authentication-options.ts";
import { authorizationOptions, parseAuthorization } from "./authorization-options.ts";
import { parsePlace, placeOptions } from "./cluster-place.ts";
import { findText, jsonOption, UsageError, type Arguments, type Io, type OptionSpec } from "./command.ts";
import { fairnessOptions, parseFairness } from "./fairness-options.ts";
import { kubeletOptions, parseKubelet } from "./kubelet-options.ts";
import { defaultListen, parseListen } from "./listen.ts";
import { parsePortRange, parseRuntimeConfig, parseServiceCidrs } from "./server-options.ts";
import {
  etcdOptions,
  historyOption,
  parseHistory,
  parseStore,
  parseStoreQuota,
  storeQuotaOption,
} from "./store-options.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const satisfies readonly LogLevel[];
// Defaults of kube-apiserver and kubeadm.
const DEFAULT_SERVICE_CIDR = "10.96.0.0/12";
const DEFAULT_NODE_PORTS = "30000-32767";

export const serverOptions: readonly OptionSpec[] = [
  ...placeOptions,
  {
    flags: "--store <type>",
    help: "type of the store that keeps the state",
    choices: ["file", "memory", "etcd"],
    fallback: "file",
  },
  ...etcdOptions,
  storeQuotaOption,
  historyOption,
  {
    flags: "--listen <host:port>",
    help: "address of the API (default: port 6443; --name: its own)",
  },
  {
    flags: "--kubeconfig <file>",
    help: "kubeconfig for the context (default of up: ~/.kube/config)",
  },
  { flags: "--pki-dir <dir>", help: "folder of keys and certificates (default: DATA-DIR/pki)" },
  {
    flags: "--service-cidr <ranges>",
    help: "address ranges of Services, one per IP family",
    fallback: DEFAULT_SERVICE_CIDR,
  },
  {
    flags: "--node-port-range <range>",
    help: "ports for Services of type NodePort",
    fallback: DEFAULT_NODE_PORTS,
  },
  { flags: "--runtime-config <list>", help: "group versions to serve: apps/v1=false,api/beta=true" },
  {
    flags: "--encryption-provider-config <file>",
    help: "path of an EncryptionConfiguration for stored objects",
  },
  {
    flags: "--encryption-provider-config-automatic-reload",
    help: "reload of the EncryptionConfiguration when it changes",
  },
  {
    flags: "--encryption-key-file <file>",
    help: "path of base64 keys for Secrets, one a line; first writes",
  },
  ...authenticationOptions,
  ...authorizationOptions,
  ...admissionOptions,
  ...auditOptions,
  ...fairnessOptions,
  {
    flags: "--log-level <level>",
    help: "least level of messages in DATA-DIR/logs",
    choices: LOG_LEVELS,
    fallback: "info",
  },
  ...kubeletOptions,
  { flags: "--quiet", help: "no output but errors" },
  { flags: "--restore <file>", help: "path of a backup with which a new store starts" },
];

export const eventsOption: OptionSpec = {
  ...jsonOption,
  help: "one JSON line per lifecycle event instead of text",
};

/** Options without the loops beside the server, which each command chooses itself. */
type ServerOptions = Omit<ClusterOptions, "loops" | "nodes" | "podCidrs">;

export function parseServerOptions(io: Io, args: Arguments): ServerOptions {
  const path = (name: string): string | undefined => {
    const given = findText(args, name);
    return given === undefined ? undefined : resolve(io.workingDir, given);
  };
  const { name, dataDir } = parsePlace(io, args);
  const listen = findText(args, "listen");
  return {
    name,
    dataDir,
    store: parseStore(io, args, ["file", "memory"]),
    storeQuotaBytes: parseStoreQuota(args),
    history: parseHistory(args),
    listen: listen === undefined ? defaultListen(name) : parseListen(listen),
    restoreFile: path("restore"),
    kubeconfigFile: path("kubeconfig"),
    pkiDir: path("pkiDir") ?? join(dataDir, "pki"),
    runtimeConfig: parseRuntimeConfig(findText(args, "runtimeConfig") ?? ""),
    serviceCidrs: parseServiceCidrs(findText(args, "serviceCidr") ?? DEFAULT_SERVICE_CIDR),
    nodePorts: parsePortRange(findText(args, "nodePortRange") ?? DEFAULT_NODE_PORTS),
    encryption: encryptionFiles(args, path),
    admission: parseAdmission(args, path),
    audit: parseAudit(args, path),
    fairness: parseFairness(args),
    kubelet: parseKubelet(args, path),
    authentication: parseAuthentication(args, path),
    authorization: parseAuthorization(args, path),
  };
}

function encryptionFiles(
  args: Arguments,
  path: (name: string) => string | undefined,
): ClusterOptions["encryption"] {
  const configFile = path("encryptionProviderConfig");
  const keyFile = path("encryptionKeyFile");
  if (configFile !== undefined && keyFile !== undefined)
    throw new UsageError("--encryption-provider-config and --encryption-key-file cannot be given together");
  const isReloaded = args.options["encryptionProviderConfigAutomaticReload"] === true;
  if (isReloaded && configFile === undefined)
    throw new UsageError(
      "--encryption-provider-config-automatic-reload must be given together with --encryption-provider-config",
    );
  if (configFile === undefined && keyFile === undefined) return undefined;
  return { configFile, keyFile, ...(isReloaded && { isReloaded }) };
}
