/** Reads the files that the options of a cluster name, and makes the options of its API server. */
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import type { Loop } from "../../base/loop/loop.ts";
import { PROCESS_RUNTIME } from "../../resources/pod/process-runtime.ts";
import { FRONT_PROXY_NAMES } from "../../server/access/authn/create-authentication.ts";
import type { OpenedEncryption } from "../../server/objects/encryption/open-encryption.ts";
import type { ServerOptions } from "../../server/options.ts";
import type { Pki } from "../../server/pki/pki.ts";
import type { AuditTrail } from "../../server/stages/audit/audit-trail.ts";
import type { LocalNodes } from "../../streams/node-http.ts";
import { simulatedUsageSource } from "../control-plane/simulated-usage.ts";
import type { ClusterOptions } from "../options.ts";
import { readAdmission } from "./admission-files.ts";
import { readAuthentication } from "./authentication-files.ts";
import { readAuthorization } from "./authorization-files.ts";
import type { LiveCertificates } from "./certificate-reload.ts";
import type { ReloadedFile } from "./file-reload.ts";
import { isLoopbackHost, readKubelet } from "./kubelet-files.ts";
import { servedVersions } from "./runtime-config.ts";

/** About a hundred thousand writes, next to a history that is longer than the default. */
const JOURNAL_OF_LONG_HISTORY = { maxEntries: 100_000, maxBytes: 64 << 20 };

/** Parts of the server that are open already. */
export interface OpenedParts {
  readonly pki: Pki;
  readonly certificates: LiveCertificates;
  readonly encryption: OpenedEncryption | undefined;
  readonly audit: AuditTrail | undefined;
  /** Nodes that run in this process. */
  readonly local: LocalNodes;
}

export interface ReadOptions {
  readonly server: ServerOptions;
  /** Files whose changes replace a part of the options. */
  readonly reloaded: readonly ReloadedFile[];
}

/** Rejects with a one-line error that names the file. */
export async function readServerOptions(
  options: ClusterOptions,
  { pki, certificates, encryption, audit, local }: OpenedParts,
  loop: Loop,
): Promise<ReadOptions> {
  const { serviceCidrs, nodePorts } = options;
  const { file, ...authentication } = await readAuthentication(options.authentication, loop);
  const { frontProxyNames = FRONT_PROXY_NAMES } = authentication;
  const server = {
    tokenKeys: () => pki.serviceAccount,
    authentication,
    admission: {
      ...(await readAdmission(options.admission, loop)),
      defaultRuntimeClass: options.machine?.isDefault === true ? PROCESS_RUNTIME : undefined,
    },
    authorization: await readAuthorization(options.authorization, loop),
    fairness: options.fairness,
    audit,
    aggregation: { frontProxy: () => certificates.frontProxyClient },
    network: { serviceCidrs, nodePorts },
    nodes: {
      ...(await readKubelet(options.kubelet, loop)),
      clientPair: () => certificates.kubeletClient,
      allowsLoopback: isLoopbackHost(options.listen.host),
      local,
    },
    // An API server alone leaves the metrics API to metrics-server, as kube-apiserver does.
    usage: options.nodes > 0 || options.loops !== "none" ? simulatedUsageSource : undefined,
    encryption: encryption?.encryption,
    journal: options.history === undefined ? undefined : JOURNAL_OF_LONG_HISTORY,
    isServed: servedVersions(options.runtimeConfig),
    upkeep: {
      isStoreShared: options.store.type === "etcd",
      requestHeaderTrust: certificates.requestHeaderTrust(frontProxyNames),
      hostname: hostname(),
    },
  };
  const files = file === undefined ? [] : [file];
  return { server, reloaded: [...files, ...reloadedKeys(options, encryption, loop)] };
}

/** The file of the encryption keys, if it is to be reloaded. */
function reloadedKeys(
  options: ClusterOptions,
  encryption: OpenedEncryption | undefined,
  loop: Loop,
): readonly ReloadedFile[] {
  const { configFile, isReloaded = false } = options.encryption ?? {};
  if (encryption === undefined || configFile === undefined || !isReloaded) return [];
  const read = (): Promise<string> => loop.outside("file", readFile(configFile, "utf8"));
  const { text, use } = encryption;
  return [{ path: configFile, text, read, use, controller: "encryption_config_controller" }];
}
