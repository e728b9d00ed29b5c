/** Options of a cluster in this process. The caller has checked them; the code from here on trusts them. */
import type { NodeShape } from "../agent/simulated/node-shape.ts";
import type { EncryptionFiles } from "../server/objects/encryption/open-encryption.ts";
import type { FairnessOptions } from "../server/stages/fairness/create-fairness.ts";
import type { NetworkOptions } from "../server/write/companions/network-options.ts";
import type { AdmissionFlags } from "./files/admission-files.ts";
import type { AuditFlags } from "./files/audit-files.ts";
import type { AuthenticationFlags } from "./files/authentication-files.ts";
import type { AuthorizationFlags } from "./files/authorization-files.ts";
import type { KubeletFlags } from "./files/kubelet-files.ts";
import type { LoopChoice } from "./loops/loops.ts";

export interface EtcdOptions {
  /** At least one URL, `http:` or `https:`. */
  readonly endpoints: readonly string[];
  readonly caFile: string | undefined;
  /** The client's certificate; present exactly when `keyFile` is. */
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  /** Present exactly when `passwordFile` is. */
  readonly user: string | undefined;
  /** Path of a file, not the password itself: other users of the machine can read the arguments of a process. */
  readonly passwordFile: string | undefined;
}

export type StoreOptions =
  | { readonly type: "file" }
  | { readonly type: "memory" }
  | { readonly type: "etcd"; readonly etcd: EtcdOptions };

/** The history ends at the nearer of both bounds. */
export interface HistoryReach {
  readonly windowMs: number;
  readonly maxBytes: number;
}

export interface ListenAddress {
  /** A host name or address; IPv6 without brackets. */
  readonly host: string;
  /** 0 lets the operating system pick a free port. */
  readonly port: number;
}

/** This machine as a node that runs process pods. */
export interface MachineOptions {
  /** Programs that image names stand for, each as `IMAGE=COMMAND`. */
  readonly images: readonly string[];
  /** Whether pods run on when the cluster ends. */
  readonly keepsPods: boolean;
  /** Whether pods reach other networks: the machine forwards their packets. Default: false. */
  readonly egress?: boolean;
  /** Whether pods without a RuntimeClass are process pods. */
  readonly isDefault: boolean;
}

export interface ClusterOptions extends NetworkOptions {
  /** Absolute path of the folder that holds state, certificates and kubeconfig. */
  readonly dataDir: string;
  readonly store: StoreOptions;
  /** Upper bound of the store's memory, in bytes; 0 for no limit. Default: 62 % of the heap limit above 128 MB. */
  readonly storeQuotaBytes?: number | undefined;
  /** How far the history reaches; default: 5 minutes, and 256 MiB on disk or 64 MiB in memory. */
  readonly history?: HistoryReach | undefined;
  readonly listen: ListenAddress;
  /** Path of a file written by `backup`, from which a new store starts. */
  readonly restoreFile: string | undefined;
  /** Name of the cluster, its kubeconfig context and user; default `setpoint`. */
  readonly name?: string | undefined;
  /** Path of the user's kubeconfig, into which the context is merged; undefined merges it nowhere. */
  readonly kubeconfigFile: string | undefined;
  /** Folder of keys and certificates; several servers over one etcd share its content. */
  readonly pkiDir: string;
  /** Group versions to turn on or off, `{ "apps/v1": false, "api/all": true }`; default: the stable ones. */
  readonly runtimeConfig: Readonly<Record<string, boolean>>;
  /** Policy and destinations of the audit log; undefined turns it off. */
  readonly audit?: AuditFlags | undefined;
  /** Plugins to turn on or off, and their configuration; default: upstream's plugins. */
  readonly admission?: AdmissionFlags | undefined;
  /** Files of the keys that encrypt stored objects; undefined stores objects in the clear. */
  readonly encryption?: EncryptionFiles | undefined;
  /** Credentials that the server accepts; default: as kubeadm configures a server. */
  readonly authentication?: AuthenticationFlags | undefined;
  /** Authorizers of requests; default: Node and RBAC. */
  readonly authorization?: AuthorizationFlags | undefined;
  readonly fairness?: FairnessOptions | undefined;
  /** Connections to kubelets; default: kube-apiserver's. */
  readonly kubelet?: KubeletFlags | undefined;
  /** Built-in loops to run in this process. */
  readonly loops: LoopChoice;
  /** Number of simulated nodes in this process. */
  readonly nodes: number;
  /** Shapes of the simulated nodes, assigned in turn; default: eight cores and 32 GiB. */
  readonly nodeShapes?: readonly NodeShape[] | undefined;
  /** Default: this machine is no node. */
  readonly machine?: MachineOptions | undefined;
  /** Address ranges from which nodes get blocks for their pods, one range per IP family. */
  readonly podCidrs: readonly string[];
  /** Whether nodes get blocks of `podCidrs`; default true. */
  readonly allocatesNodeCidrs?: boolean | undefined;
}

export interface BackupOptions {
  readonly dataDir: string;
  readonly store: Exclude<StoreOptions, { readonly type: "memory" }>;
  /** Absolute path of the file to write. */
  readonly file: string;
}
