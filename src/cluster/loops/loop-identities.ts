/** Gives each loop of a control plane in one process the user, and so the rights, of its upstream counterpart. */
import type { PeerIdentity } from "../../server/request/http.ts";

/** Fills the shared caches of all controllers, records their Events and holds their lease. */
const CONTROLLERS: PeerIdentity = { user: "system:kube-controller-manager", groups: [] };
const SCHEDULER: PeerIdentity = { user: "system:kube-scheduler", groups: [] };
/** One process runs many nodes; work that concerns all of them uses this user. */
const NODES: PeerIdentity = { user: "setpoint:node-agents", groups: [] };

/** User of each group, for work that belongs to no single loop. */
const GROUPS: ReadonlyMap<string, PeerIdentity> = new Map(
  Object.entries({
    controllers: CONTROLLERS,
    scheduler: SCHEDULER,
    nodes: NODES,
  }),
);

/** Service accounts in kube-system of loops whose name differs from upstream's account. */
const ACCOUNTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "bootstrap-signer-controller": "bootstrap-signer",
    "certificatesigningrequest-approving-controller": "certificate-controller",
    "certificatesigningrequest-cleaner-controller": "certificate-controller",
    "certificatesigningrequest-signing-controller": "certificate-controller",
    "daemonset-controller": "daemon-set-controller",
    "endpoint-slice-controller": "endpointslice-controller",
    "endpoint-slice-mirroring-controller": "endpointslicemirroring-controller",
    "garbage-collector-controller": "generic-garbage-collector",
    "host-path-provisioner": "persistent-volume-binder",
    "job-orphan-pods-controller": "job-controller",
    "legacy-serviceaccount-token-cleaner-controller": "legacy-service-account-token-cleaner",
    "node-ipam-controller": "node-controller",
    "persistentvolume-controller": "persistent-volume-binder",
    "persistentvolume-phase-controller": "persistent-volume-binder",
    "pod-garbage-collector-controller": "pod-garbage-collector",
    "resource-claim-release-controller": "resource-claim-controller",
    "resource-claim-reservation-controller": "resource-claim-controller",
    "root-ca-certificate-publisher-controller": "root-ca-cert-publisher",
    "service-cidr-controller": "service-cidrs-controller",
    "serviceaccount-controller": "service-account-controller",
    "stale-disruption-controller": "disruption-controller",
    "taint-eviction-controller": "node-controller",
    "token-cleaner-controller": "token-cleaner",
  }),
);

/** Loops that act as their group, like upstream's. */
const AS_GROUP: ReadonlySet<string> = new Set([
  "default-scheduler",
  "drift-observer",
  "kubelet",
  "serviceaccount-token-controller",
]);

/** Prefix of a node in the name of an actor. */
const NODE_ACTOR = "node:";

export function groupIdentity(group: string): PeerIdentity {
  return GROUPS.get(group) ?? CONTROLLERS;
}

/** User of an actor in a group: a loop, by its name, or a node. */
export function actorIdentity(group: string, actor: string): PeerIdentity {
  if (actor.startsWith(NODE_ACTOR))
    return { user: `system:node:${actor.slice(NODE_ACTOR.length)}`, groups: ["system:nodes"] };
  return AS_GROUP.has(actor) ? groupIdentity(group) : accountIdentity(ACCOUNTS.get(actor) ?? actor);
}

function accountIdentity(account: string): PeerIdentity {
  return {
    user: `system:serviceaccount:kube-system:${account}`,
    groups: ["system:serviceaccounts", "system:serviceaccounts:kube-system"],
  };
}
