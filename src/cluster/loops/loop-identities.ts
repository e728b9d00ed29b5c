/** As whom the loops of a control plane in one process work: each with the rights of its part in Kubernetes and no more. */
import type { PeerIdentity } from "../../server/request/http.ts";

/** Reads for all controllers, and speaks for them where they speak together: events, their lease. */
const CONTROLLERS: PeerIdentity = { user: "system:kube-controller-manager", groups: [] };
const SCHEDULER: PeerIdentity = { user: "system:kube-scheduler", groups: [] };
/** One process runs many nodes; what concerns all of them is this one's. */
const NODES: PeerIdentity = { user: "setpoint:simulated-nodes", groups: [] };

/** As whom a group of loops works where none of its members does. */
const GROUPS: ReadonlyMap<string, PeerIdentity> = new Map(
  Object.entries({
    controllers: CONTROLLERS,
    scheduler: SCHEDULER,
    nodes: NODES,
  }),
);

/** Loops that are called otherwise than the account that upstream's one has in kube-system. */
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

/** These work as their group does, as upstream's do. */
const AS_GROUP: ReadonlySet<string> = new Set([
  "default-scheduler",
  "kubelet",
  "serviceaccount-token-controller",
]);

/** How a simulated node is called among actors. */
const NODE_ACTOR = "node:";

export function groupIdentity(group: string): PeerIdentity {
  return GROUPS.get(group) ?? CONTROLLERS;
}

/** Of an actor in a group: a loop, by its name, or a node. */
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
