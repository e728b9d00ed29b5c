/** What a cluster in this process is told before it starts. Checked by whoever fills it in; trusted from here on. */
import type { EncryptionFiles } from "../server/objects/encryption/open-encryption.ts";
import type { FairnessOptions } from "../server/stages/fairness/create-fairness.ts";
import type { AdmissionFlags } from "./files/admission-files.ts";
import type { AuditFlags } from "./files/audit-files.ts";
import type { AuthenticationFlags } from "./files/authentication-files.ts";
import type { AuthorizationFlags } from "./files/authorization-files.ts";
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
  /** A file, not the password itself: arguments of a process can be read by other users of the machine. */
  readonly passwordFile: string | undefined;
}

export type StoreOptions =
  | { readonly type: "file" }
  | { readonly type: "memory" }
  | { readonly type: "etcd"; readonly etcd: EtcdOptions };

export interface ListenAddress {
  /** A host name or address; IPv6 without brackets. */
  readonly host: string;
  /** 0 lets the operating system pick a free port. */
  readonly port: number;
}

export interface ClusterOptions {
  /** Absolute path of the folder that holds state, certificates and kubeconfig. */
  readonly dataDir: string;
  readonly store: StoreOptions;
  /** How much the store may hold in memory; 0 for no limit, a share of the heap unless given. */
  readonly storeQuotaBytes?: number | undefined;
  readonly listen: ListenAddress;
  /** A file written by `backup`, from which a new store starts. */
  readonly restoreFile: string | undefined;
  /** Where the admin kubeconfig is written, besides the data dir. */
  readonly kubeconfigFile: string | undefined;
  /** Keys and certificates; several servers over one etcd share them. */
  readonly pkiDir: string;
  /** Which group versions are served beyond the stable ones, or not: `{ "apps/v1": false, "api/all": true }`. */
  readonly runtimeConfig: Readonly<Record<string, boolean>>;
  /** Where Services get their addresses from; one range per family. */
  readonly serviceCidrs: readonly string[];
  readonly nodePorts: PortRange;
  /** Which requests are written down, and where; none unless given. */
  readonly audit?: AuditFlags | undefined;
  /** Which admission plugins take part, and what they are told; as upstream's unless given. */
  readonly admission?: AdmissionFlags | undefined;
  /** With which keys objects are stored, if with any. */
  readonly encryption?: EncryptionFiles | undefined;
  /** By what people and programs are known; as kubeadm sets a server up unless given. */
  readonly authentication?: AuthenticationFlags | undefined;
  /** Who says what somebody may do; nodes' own rules and roles unless given. */
  readonly authorization?: AuthorizationFlags | undefined;
  /** How requests under way are bounded and share the server; as kube-apiserver's unless given. */
  readonly fairness?: FairnessOptions | undefined;
  /** Which of the built-in loops run in this process. */
  readonly loops: LoopChoice;
  /** How many simulated nodes run in this process. */
  readonly nodes: number;
  /** Where nodes get blocks of addresses for their pods from; one range per family. */
  readonly podCidrs: readonly string[];
  /** Whether nodes get such blocks; they do unless given. */
  readonly allocatesNodeCidrs?: boolean | undefined;
}

/** Both ends belong to it. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

export interface BackupOptions {
  readonly dataDir: string;
  readonly store: Exclude<StoreOptions, { readonly type: "memory" }>;
  /** Absolute path of the file to write. */
  readonly file: string;
}
