/**
 * Roles for controllers that upstream lacks, or that do more here than upstream's controller of that name; each with
 * the reason.
 */
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
  Subject,
} from "../../../../api/generated/types/rbac-v1.ts";
import type { Unstored } from "./unstored.ts";

const GROUP = "rbac.authorization.k8s.io";
const VERSION = `${GROUP}/v1` as const;
const METADATA = {
  annotations: { "rbac.authorization.kubernetes.io/autoupdate": "true" },
  labels: { "kubernetes.io/bootstrapping": "rbac-defaults" },
};

/** An agent writes the events of its nodes, removes surplus nodes and follows volumes; it does the rest as the node itself. */
const NODE_AGENTS: readonly PolicyRule[] = [
  { apiGroups: [""], resources: ["nodes"], verbs: ["delete"] },
  { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
  // Folders of deleted volumes are deleted.
  { apiGroups: [""], resources: ["persistentvolumes"], verbs: ["get", "list", "watch"] },
];

/** Servers that share a store elect one to run the nodes. */
const NODES_LEASE: readonly PolicyRule[] = [
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create"] },
  {
    apiGroups: ["coordination.k8s.io"],
    resourceNames: ["node-agents"],
    resources: ["leases"],
    verbs: ["get", "update"],
  },
];

/** Permissions of controllers beyond upstream's, by service account. */
const CONTROLLERS: Readonly<Record<string, readonly PolicyRule[]>> = {
  // Upstream leaves the first StorageClass to the cluster's installer.
  "default-storage-class": [
    { apiGroups: ["storage.k8s.io"], resources: ["storageclasses"], verbs: ["create"] },
  ],
  // The controller patches the status, so that it need not read it again.
  "deployment-controller": [{ apiGroups: ["apps"], resources: ["deployments/status"], verbs: ["patch"] }],
  // Recent decisions are stored on the object, so that a new instance does not decide them again.
  "horizontal-pod-autoscaler": [
    { apiGroups: ["autoscaling"], resources: ["horizontalpodautoscalers"], verbs: ["patch"] },
  ],
  // The controller rereads a pod before it removes the finalizer.
  "job-controller": [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
  // Patches remove finalizers.
  "pv-protection-controller": [{ apiGroups: [""], resources: ["persistentvolumes"], verbs: ["patch"] }],
  "pvc-protection-controller": [{ apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: ["patch"] }],
  "volumeattributesclass-protection-controller": [
    { apiGroups: ["storage.k8s.io"], resources: ["volumeattributesclasses"], verbs: ["patch"] },
  ],
  // The controller rereads a quota at once after a conflict.
  "resourcequota-controller": [{ apiGroups: [""], resources: ["resourcequotas"], verbs: ["get"] }],
  // Patches set the owners of claims.
  "statefulset-controller": [{ apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: ["patch"] }],
};

/** Upstream leaves the server's rights for the kubelets' API to the cluster's installer. */
const KUBELET_CLIENT: Unstored<ClusterRoleBinding> = {
  apiVersion: VERSION,
  kind: "ClusterRoleBinding",
  metadata: { ...METADATA, name: "setpoint:kubelet-client" },
  roleRef: { apiGroup: GROUP, kind: "ClusterRole", name: "system:kubelet-api-admin" },
  subjects: [{ apiGroup: GROUP, kind: "User", name: "kube-apiserver-kubelet-client" }],
};

/** Part of `view`, `edit` and `admin`. Each change is shown only to users who may read its object. */
const CAUSES_VIEW: Unstored<ClusterRole> = {
  apiVersion: VERSION,
  kind: "ClusterRole",
  metadata: {
    ...METADATA,
    labels: { ...METADATA.labels, "rbac.authorization.k8s.io/aggregate-to-view": "true" },
    name: "setpoint:causes:view",
  },
  rules: [{ apiGroups: ["causes.setpoint.dev"], resources: ["changes"], verbs: ["list"] }],
};

/** Times of revisions tell nothing about objects. */
const REVISIONS: readonly PolicyRule[] = [
  { apiGroups: ["causes.setpoint.dev"], resources: ["revisions"], verbs: ["get"] },
];
const AUTHENTICATED: Subject = { apiGroup: GROUP, kind: "Group", name: "system:authenticated" };

const NODES_USER: Subject = { apiGroup: GROUP, kind: "User", name: "setpoint:node-agents" };

export const OWN_ROLES: readonly (
  | Unstored<Role>
  | Unstored<ClusterRole>
  | Unstored<RoleBinding>
  | Unstored<ClusterRoleBinding>
)[] = [
  ...granted("setpoint:node-agents", NODE_AGENTS, NODES_USER),
  ...grantedIn("kube-system", { name: "setpoint:node-agents", rules: NODES_LEASE, subject: NODES_USER }),
  KUBELET_CLIENT,
  CAUSES_VIEW,
  ...granted("setpoint:revisions", REVISIONS, AUTHENTICATED),
  ...Object.entries(CONTROLLERS).flatMap(([name, rules]) =>
    granted(`setpoint:controller:${name}`, rules, account(name)),
  ),
];

function account(name: string): Subject {
  return { kind: "ServiceAccount", name, namespace: "kube-system" };
}

/** A ClusterRole and its binding, with members in stored order. */
function granted(
  name: string,
  rules: readonly PolicyRule[],
  subject: Subject,
): readonly [Unstored<ClusterRole>, Unstored<ClusterRoleBinding>] {
  const metadata = { ...METADATA, name };
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

/** A Role and its binding in one namespace. */
function grantedIn(
  namespace: string,
  { name, rules, subject }: Given,
): readonly [Unstored<Role>, Unstored<RoleBinding>] {
  const metadata = { ...METADATA, name, namespace };
  const roleRef = { apiGroup: GROUP, kind: "Role", name };
  return [
    { apiVersion: VERSION, kind: "Role", metadata, rules },
    { apiVersion: VERSION, kind: "RoleBinding", metadata, roleRef, subjects: [subject] },
  ];
}
