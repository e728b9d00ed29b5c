/** All kinds with rules of their own, and the conversions between versions of one kind. */
import { mutatingAdmissionPolicyBinding } from "./admission/mutating-admission-policy-binding.ts";
import { mutatingAdmissionPolicy } from "./admission/mutating-admission-policy.ts";
import { mutatingWebhookConfiguration } from "./admission/mutating-webhook-configuration.ts";
import { validatingAdmissionPolicyBinding } from "./admission/validating-admission-policy-binding.ts";
import { validatingAdmissionPolicy } from "./admission/validating-admission-policy.ts";
import { validatingWebhookConfiguration } from "./admission/validating-webhook-configuration.ts";
import { certificateSigningRequest } from "./certificates/certificate-signing-request.ts";
import { clusterTrustBundle } from "./certificates/cluster-trust-bundle.ts";
import { podCertificateRequest } from "./certificates/pod-certificate-request.ts";
import { componentStatus } from "./core/component-status.ts";
import { configMap } from "./core/config-map.ts";
import { leaseCandidate } from "./core/lease-candidate.ts";
import { lease } from "./core/lease.ts";
import { limitRange } from "./core/limit-range.ts";
import { namespace } from "./core/namespace.ts";
import { priorityClass } from "./core/priority-class.ts";
import { resourceQuota } from "./core/resource-quota.ts";
import { secret } from "./core/secret.ts";
import { serviceAccount } from "./core/service-account.ts";
import { apiService } from "./definitions/api-service.ts";
import { customResourceDefinition } from "./definitions/custom-resource-definition.ts";
import { storageVersionMigration } from "./definitions/storage-version-migration.ts";
import { storageVersion } from "./definitions/storage-version.ts";
import { deviceClass } from "./device/device-class.ts";
import { deviceTaintRule } from "./device/device-taint-rule.ts";
import { resourceClaimTemplate } from "./device/resource-claim-template.ts";
import { resourceClaim } from "./device/resource-claim.ts";
import { resourcePoolStatusRequest } from "./device/resource-pool-status-request.ts";
import { resourceSlice } from "./device/resource-slice.ts";
import {
  claimFromV1beta1,
  claimTemplateFromV1beta1,
  claimTemplateToV1beta1,
  claimToV1beta1,
  sliceFromV1beta1,
  sliceToV1beta1,
} from "./device/v1beta1-conversion.ts";
import { endpointSlice } from "./endpoint/endpoint-slice.ts";
import { endpoints } from "./endpoint/endpoints.ts";
import { coreEvent } from "./event/core-event.ts";
import { eventFromCore, eventToCore } from "./event/event-conversion.ts";
import { event } from "./event/event.ts";
import { flowSchema } from "./flow-control/flow-schema.ts";
import { priorityLevelConfiguration } from "./flow-control/priority-level-configuration.ts";
import { ingressClass } from "./networking/ingress-class.ts";
import { ingress } from "./networking/ingress.ts";
import { ipAddress } from "./networking/ip-address.ts";
import { networkPolicy } from "./networking/network-policy.ts";
import { serviceCidr } from "./networking/service-cidr.ts";
import { node } from "./node/node.ts";
import { pod } from "./pod/pod.ts";
import { runtimeClass } from "./pod/runtime-class.ts";
import { clusterRoleBinding } from "./rbac/cluster-role-binding.ts";
import { clusterRole } from "./rbac/cluster-role.ts";
import { roleBinding } from "./rbac/role-binding.ts";
import { role } from "./rbac/role.ts";
import type { Conversion, KindDefinition } from "./rules/kind-rules.ts";
import { podGroup } from "./scheduling/pod-group.ts";
import { workload } from "./scheduling/workload.ts";
import { service } from "./service/service.ts";
import { csiDriver } from "./storage/csi-driver.ts";
import { csiNode } from "./storage/csi-node.ts";
import { csiStorageCapacity } from "./storage/csi-storage-capacity.ts";
import { persistentVolumeClaim } from "./storage/persistent-volume-claim.ts";
import { persistentVolume } from "./storage/persistent-volume.ts";
import { storageClass } from "./storage/storage-class.ts";
import { volumeAttachment } from "./storage/volume-attachment.ts";
import { volumeAttributesClass } from "./storage/volume-attributes-class.ts";
import { autoscalerFromV1, autoscalerToV1 } from "./workloads/autoscaler/v1-conversion.ts";
import { controllerRevision } from "./workloads/controller-revision.ts";
import { cronJob } from "./workloads/cron-job.ts";
import { daemonSet } from "./workloads/daemon-set.ts";
import { deployment } from "./workloads/deployment.ts";
import { horizontalPodAutoscaler } from "./workloads/horizontal-pod-autoscaler.ts";
import { job } from "./workloads/job.ts";
import { podDisruptionBudget } from "./workloads/pod-disruption-budget.ts";
import { podTemplate } from "./workloads/pod-template.ts";
import { replicaSet } from "./workloads/replica-set.ts";
import { replicationController } from "./workloads/replication-controller.ts";
import { statefulSet } from "./workloads/stateful-set.ts";

export const kinds: readonly KindDefinition[] = [
  apiService,
  certificateSigningRequest,
  clusterRole,
  clusterRoleBinding,
  clusterTrustBundle,
  componentStatus,
  configMap,
  controllerRevision,
  coreEvent,
  cronJob,
  csiDriver,
  csiNode,
  csiStorageCapacity,
  customResourceDefinition,
  daemonSet,
  deployment,
  deviceClass,
  deviceTaintRule,
  endpointSlice,
  endpoints,
  event,
  flowSchema,
  horizontalPodAutoscaler,
  ingress,
  ingressClass,
  ipAddress,
  job,
  lease,
  leaseCandidate,
  limitRange,
  mutatingAdmissionPolicy,
  mutatingAdmissionPolicyBinding,
  mutatingWebhookConfiguration,
  namespace,
  networkPolicy,
  node,
  persistentVolume,
  persistentVolumeClaim,
  pod,
  podCertificateRequest,
  podDisruptionBudget,
  podGroup,
  podTemplate,
  priorityClass,
  priorityLevelConfiguration,
  replicaSet,
  replicationController,
  resourceClaim,
  resourceClaimTemplate,
  resourcePoolStatusRequest,
  resourceQuota,
  resourceSlice,
  role,
  roleBinding,
  runtimeClass,
  secret,
  service,
  serviceAccount,
  serviceCidr,
  statefulSet,
  storageClass,
  storageVersion,
  storageVersionMigration,
  validatingAdmissionPolicy,
  validatingAdmissionPolicyBinding,
  validatingWebhookConfiguration,
  volumeAttachment,
  volumeAttributesClass,
  workload,
];

/** Keyed by kind and versions. Versions that differ only in their name need no conversion. */
export const conversions: ReadonlyMap<string, Conversion> = new Map([
  ["Event: v1 -> events.k8s.io/v1", eventFromCore],
  ["Event: events.k8s.io/v1 -> v1", eventToCore],
  ["HorizontalPodAutoscaler: autoscaling/v1 -> autoscaling/v2", autoscalerFromV1],
  ["HorizontalPodAutoscaler: autoscaling/v2 -> autoscaling/v1", autoscalerToV1],
  ["ResourceClaim: resource.k8s.io/v1beta1 -> resource.k8s.io/v1", claimFromV1beta1],
  ["ResourceClaim: resource.k8s.io/v1 -> resource.k8s.io/v1beta1", claimToV1beta1],
  ["ResourceClaim: resource.k8s.io/v1beta1 -> resource.k8s.io/v1beta2", claimFromV1beta1],
  ["ResourceClaim: resource.k8s.io/v1beta2 -> resource.k8s.io/v1beta1", claimToV1beta1],
  ["ResourceClaimTemplate: resource.k8s.io/v1beta1 -> resource.k8s.io/v1", claimTemplateFromV1beta1],
  ["ResourceClaimTemplate: resource.k8s.io/v1 -> resource.k8s.io/v1beta1", claimTemplateToV1beta1],
  ["ResourceClaimTemplate: resource.k8s.io/v1beta1 -> resource.k8s.io/v1beta2", claimTemplateFromV1beta1],
  ["ResourceClaimTemplate: resource.k8s.io/v1beta2 -> resource.k8s.io/v1beta1", claimTemplateToV1beta1],
  ["ResourceSlice: resource.k8s.io/v1beta1 -> resource.k8s.io/v1", sliceFromV1beta1],
  ["ResourceSlice: resource.k8s.io/v1 -> resource.k8s.io/v1beta1", sliceToV1beta1],
  ["ResourceSlice: resource.k8s.io/v1beta1 -> resource.k8s.io/v1beta2", sliceFromV1beta1],
  ["ResourceSlice: resource.k8s.io/v1beta2 -> resource.k8s.io/v1beta1", sliceToV1beta1],
]);
