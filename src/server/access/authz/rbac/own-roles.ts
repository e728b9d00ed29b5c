/** Roles for loops that upstream does not have, or that do more here than their namesake there; each with the reason. */
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
  Subject,
} from "../../../../api/generated/types/rbac-v1.ts";

const GROUP = "rbac.authorization.k8s.io";
const VERSION = `${GROUP}/v1` as const;
const METADATA = {
  annotations: { "rbac.authorization.kubernetes.io/autoupdate": "true" },
  labels: { "kubernetes.io/bootstrapping": "rbac-defaults" },
};

/** One process speaks for all simulated nodes where it writes events; as each node it writes that node's own objects. */
const SIMULATED_NODES: readonly PolicyRule[] = [
  { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
];

/** Of servers that share a store, one runs the nodes. */
const NODES_LEASE: readonly PolicyRule[] = [
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create"] },
  {
    apiGroups: ["coordination.k8s.io"],
    resourceNames: ["simulated-nodes"],
    resources: ["leases"],
    verbs: ["get", "update"],
  },
];

/** What loops do beyond upstream's of their name, by their accounts. */
const CONTROLLERS: Readonly<Record<string, readonly PolicyRule[]>> = {
  // Upstream leaves the first StorageClass to whoever installs a cluster.
  "default-storage-class": [
    { apiGroups: ["storage.k8s.io"], resources: ["storageclasses"], verbs: ["create"] },
  ],
  // Its status is written by a patch, so that it never has to read it again.
  "deployment-controller": [{ apiGroups: ["apps"], resources: ["deployments/status"], verbs: ["patch"] }],
  // What it has decided lately is remembered at the object, so that a new instance does not decide it again.
  "horizontal-pod-autoscaler": [
    { apiGroups: ["autoscaling"], resources: ["horizontalpodautoscalers"], verbs: ["patch"] },
  ],
  // A pod is looked at once more before its finalizer is taken off.
  "job-controller": [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
  // Finalizers are taken off by patches.
  "pv-protection-controller": [{ apiGroups: [""], resources: ["persistentvolumes"], verbs: ["patch"] }],
  "pvc-protection-controller": [{ apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: ["patch"] }],
  "volumeattributesclass-protection-controller": [
    { apiGroups: ["storage.k8s.io"], resources: ["volumeattributesclasses"], verbs: ["patch"] },
  ],
  // A quota that somebody else has just written is read again at once.
  "resourcequota-controller": [{ apiGroups: [""], resources: ["resourcequotas"], verbs: ["get"] }],
  // Owners of claims are set by patches.
  "statefulset-controller": [{ apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: ["patch"] }],
};

const NODES_USER: Subject = { apiGroup: GROUP, kind: "User", name: "setpoint:simulated-nodes" };

export const OWN_ROLES: readonly (Role | ClusterRole | RoleBinding | ClusterRoleBinding)[] = [
  ...granted("setpoint:simulated-nodes", SIMULATED_NODES, NODES_USER),
  ...grantedIn("kube-system", { name: "setpoint:simulated-nodes", rules: NODES_LEASE, subject: NODES_USER }),
  ...Object.entries(CONTROLLERS).flatMap(([name, rules]) =>
    granted(`setpoint:controller:${name}`, rules, account(name)),
  ),
];

function account(name: string): Subject {
  return { kind: "ServiceAccount", name, namespace: "kube-system" };
}

/** A role with the one to whom it is given; members in the order in which they are stored. */
function granted(
  name: string,
  rules: readonly PolicyRule[],
  subject: Subject,
): readonly [ClusterRole, ClusterRoleBinding] {
  const metadata = { ...METADATA, name } as unknown as ClusterRole["metadata"];
  const roleRef = { apiGroup: GROUP, kind: "ClusterRole", name };
  return [
    { apiVersion: VERSION, kind: "ClusterRole", metadata, rules },
    { apiVersion: VERSION, kind: "ClusterRoleBinding", metadata, roleRef, subjects: [subject] },
  ];
}

interface Given {
  readonly name: string;
  readonly rules: readonly PolicyRule[];
  readonly subject: Subject;
}

/** The same in one namespace. */
function grantedIn(namespace: string, { name, rules, subject }: Given): readonly [Role, RoleBinding] {
  const metadata = { ...METADATA, name, namespace } as unknown as Role["metadata"];
  const roleRef = { apiGroup: GROUP, kind: "Role", name };
  return [
    { apiVersion: VERSION, kind: "Role", metadata, rules },
    { apiVersion: VERSION, kind: "RoleBinding", metadata, roleRef, subjects: [subject] },
  ];
}
