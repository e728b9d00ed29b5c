/** Versions in which kube-apiserver 1.36 still reads objects that are stored, though it serves them no longer. */
import { legacyDefinition } from "./custom-resource-definition.ts";
import { legacyEndpointSlice } from "./endpoint-slice.ts";
import { legacyIngress } from "./ingress.ts";
import type { LegacyVersion } from "./legacy-version.ts";
import { legacyDisruptionBudget } from "./pod-disruption-budget.ts";
import { legacyPriorityLevel } from "./priority-level.ts";
import { legacyBinding, legacyRole } from "./rbac.ts";
import { legacyRuntimeClass } from "./runtime-class.ts";

/** By apiVersion: kinds that have the fields of the stored version. */
const SAME_FIELDS: Readonly<Record<string, readonly string[]>> = {
  "admissionregistration.k8s.io/v1alpha1": ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"],
  "admissionregistration.k8s.io/v1beta1": [
    "MutatingWebhookConfiguration",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
  ],
  "apiregistration.k8s.io/v1beta1": ["APIService"],
  "apps/v1beta1": ["ControllerRevision", "Deployment", "StatefulSet"],
  "apps/v1beta2": ["ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"],
  "batch/v1beta1": ["CronJob"],
  "certificates.k8s.io/v1beta1": ["CertificateSigningRequest"],
  "coordination.k8s.io/v1beta1": ["Lease"],
  "extensions/v1beta1": ["DaemonSet", "Deployment", "NetworkPolicy", "ReplicaSet"],
  "flowcontrol.apiserver.k8s.io/v1beta1": ["FlowSchema"],
  "flowcontrol.apiserver.k8s.io/v1beta2": ["FlowSchema"],
  "flowcontrol.apiserver.k8s.io/v1beta3": ["FlowSchema", "PriorityLevelConfiguration"],
  "networking.k8s.io/v1beta1": ["IngressClass"],
  "node.k8s.io/v1beta1": ["RuntimeClass"],
  "rbac.authorization.k8s.io/v1beta1": ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"],
  "scheduling.k8s.io/v1beta1": ["PriorityClass"],
  "storage.k8s.io/v1alpha1": ["CSIStorageCapacity", "VolumeAttachment", "VolumeAttributesClass"],
  "storage.k8s.io/v1beta1": [
    "CSIDriver",
    "CSINode",
    "CSIStorageCapacity",
    "StorageClass",
    "VolumeAttachment",
  ],
};

const OTHER_FIELDS: Readonly<Record<string, LegacyVersion>> = {
  "apiextensions.k8s.io/v1beta1 CustomResourceDefinition": legacyDefinition,
  "discovery.k8s.io/v1beta1 EndpointSlice": legacyEndpointSlice,
  "events.k8s.io/v1beta1 Event": { sameAs: "events.k8s.io/v1" },
  "extensions/v1beta1 Ingress": legacyIngress,
  "flowcontrol.apiserver.k8s.io/v1beta1 PriorityLevelConfiguration": legacyPriorityLevel,
  "flowcontrol.apiserver.k8s.io/v1beta2 PriorityLevelConfiguration": legacyPriorityLevel,
  "networking.k8s.io/v1beta1 Ingress": legacyIngress,
  "node.k8s.io/v1alpha1 RuntimeClass": legacyRuntimeClass,
  "policy/v1beta1 PodDisruptionBudget": legacyDisruptionBudget,
  "rbac.authorization.k8s.io/v1alpha1 ClusterRole": legacyRole,
  "rbac.authorization.k8s.io/v1alpha1 ClusterRoleBinding": legacyBinding,
  "rbac.authorization.k8s.io/v1alpha1 Role": legacyRole,
  "rbac.authorization.k8s.io/v1alpha1 RoleBinding": legacyBinding,
};

/** Undefined for a version that kube-apiserver does not read either. */
export function findLegacyVersion(apiVersion: string, kind: string): LegacyVersion | undefined {
  const name = `${apiVersion} ${kind}`;
  if (Object.hasOwn(OTHER_FIELDS, name)) return OTHER_FIELDS[name];
  const isSame = Object.hasOwn(SAME_FIELDS, apiVersion) && SAME_FIELDS[apiVersion]?.includes(kind) === true;
  return isSame ? {} : undefined;
}
