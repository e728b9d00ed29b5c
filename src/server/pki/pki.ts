/** Opens the keys and certificates of a cluster, under kubeadm's file names. An ordinary start only reads them. */
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { makeFolder } from "../../base/process/make-folder.ts";
import { requireOwnFolder } from "../../base/process/private-path.ts";
import { PkiFolder, type Authority, type KeyPair, type LeafPlan, type TokenKeys } from "./pki-folder.ts";

export interface PkiOptions {
  /** Created with mode 0700 if missing. */
  readonly dir: string;
  /** DNS names and addresses under which clients reach the server; see `serverNames`. */
  readonly names: readonly string[];
  readonly loop: Loop;
  readonly log: Log;
}

export interface Pki {
  /** Authority of the server's and clients' certificates. */
  readonly ca: Authority;
  readonly frontProxyCa: Authority;
  readonly server: KeyPair;
  readonly frontProxyClient: KeyPair;
  /** Client certificate towards kubelets. Undefined without it and without the key of the authority. */
  readonly kubeletClient: KeyPair | undefined;
  /** Client certificate of the cluster administrator. */
  readonly admin: KeyPair;
  /** Client certificates of components that may run as separate programs, under kubeadm's names. */
  readonly components: Readonly<Record<ComponentName, KeyPair>>;
  /** Signing keys of service account tokens. */
  readonly serviceAccount: TokenKeys;
}

const FRONT_PROXY_CLIENT: LeafPlan = {
  name: "front-proxy-client",
  subject: { commonName: "front-proxy-client", organizations: [] },
  usage: "client",
  names: [],
};

/**
 * The user has no group. kubeadm's `system:masters` would let a forged Node address lead the server, with all rights, to
 * its own port. A default binding gives the user the rights for the kubelets' API.
 */
const KUBELET_CLIENT: LeafPlan = {
  name: "apiserver-kubelet-client",
  subject: { commonName: "kube-apiserver-kubelet-client", organizations: [] },
  usage: "client",
  names: [],
};

const ADMIN: LeafPlan = {
  name: "admin",
  // RBAC never restricts the first group; kubeadm binds a role to the second.
  subject: { commonName: "kubernetes-admin", organizations: ["system:masters", "kubeadm:cluster-admins"] },
  usage: "client",
  names: [],
};

export type ComponentName = "controller-manager" | "scheduler";

/** Names under which clients reach the server: on its machine, over the network and from within the cluster. */
export function serverNames(hosts: readonly string[], firstServiceAddress: string): readonly string[] {
  return [
    ...new Set([
      "localhost",
      "kubernetes",
      "kubernetes.default",
      "kubernetes.default.svc",
      "kubernetes.default.svc.cluster.local",
      "127.0.0.1",
      "::1",
      ...hosts,
      firstServiceAddress,
    ]),
  ];
}

export async function openPki({ dir, names, loop, log }: PkiOptions): Promise<Pki> {
  await loop.outside("file", makeFolder(dir, 0o700));
  await loop.outside("file", requireOwnFolder(dir));
  const folder = new PkiFolder({ dir, loop, log });
  const [ca, frontProxyCa, serviceAccount] = await Promise.all([
    folder.authority("ca", "kubernetes"),
    folder.authority("front-proxy-ca", "front-proxy-ca"),
    folder.tokenKeys("sa"),
  ]);
  const subject = { commonName: "kube-apiserver", organizations: [] };
  const [server, frontProxyClient, kubeletClient, admin, controllerManager, scheduler] = await Promise.all([
    folder.leaf({ name: "apiserver", subject, usage: "server", names }, ca),
    folder.leaf(FRONT_PROXY_CLIENT, frontProxyCa),
    folder.optionalLeaf(KUBELET_CLIENT, ca),
    folder.leaf(ADMIN, ca),
    folder.leaf(componentPlan("controller-manager"), ca),
    folder.leaf(componentPlan("scheduler"), ca),
  ]);
  const components = { "controller-manager": controllerManager, scheduler };
  const leaves = { server, frontProxyClient, kubeletClient, admin, components };
  return { ca, frontProxyCa, ...leaves, serviceAccount };
}

/** Kubernetes' default bindings give the components' roles to these users. */
function componentPlan(name: ComponentName): LeafPlan {
  return {
    name,
    subject: { commonName: `system:kube-${name}`, organizations: [] },
    usage: "client",
    names: [],
  };
}
