/** All kinds with rules of their own, and the conversions between versions of one kind. */
import { mutatingAdmissionPolicyBinding } from "./admission/mutating-admission-policy-binding.ts";
import { mutatingAdmissionPolicy } from "./admission/mutating-admission-policy.ts";
import { mutatingWebhookConfiguration } from "./admission/mutating-webhook-configuration.ts";
import { validatingAdmissionPolicyBinding } from "./admission/validating-admission-policy-binding.ts";
import { validatingAdmissionPolicy } from "./admission/validating-admission-policy.ts";
import { validatingWebhookConfiguration } from "./admission/validating-webhook-configuration.ts";
import { apiService } from "./api-service.ts";
import { autoscalerFromV1, autoscalerToV1 } from "./autoscaler/v1-conversion.ts";
import { certificateSigningRequest } from "./certificate-signing-request.ts";
import { clusterTrustBundle } from "./cluster-trust-bundle.ts";
import { componentStatus } from "./component-status.ts";
import { configMap } from "./config-map.ts";
import { controllerRevision } from "./controller-revision.ts";
import { cronJob } from "./cron-job.ts";
import { customResourceDefinition } from "./custom-resource-definition.ts";
import { daemonSet } from "./daemon-set.ts";
import { deployment } from "./deployment.ts";
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
import { horizontalPodAutoscaler } from "./horizontal-pod-autoscaler.ts";
import { job } from "./job.ts";
import type { Conversion, KindDefinition } from "./kind-rules.ts";
import { leaseCandidate } from "./lease-candidate.ts";
import { lease } from "./lease.ts";
import { limitRange } from "./limit-range.ts";
import { namespace } from "./namespace.ts";
import { ingressClass } from "./networking/ingress-class.ts";
import { ingress } from "./networking/ingress.ts";
import { ipAddress } from "./networking/ip-address.ts";
import { networkPolicy } from "./networking/network-policy.ts";
import { serviceCidr } from "./networking/service-cidr.ts";
import { node } from "./node.ts";
import { podCertificateRequest } from "./pod-certificate-request.ts";
import { podDisruptionBudget } from "./pod-disruption-budget.ts";
import { podTemplate } from "./pod-template.ts";
import { pod } from "./pod.ts";
import { priorityClass } from "./priority-class.ts";
import { clusterRoleBinding } from "./rbac/cluster-role-binding.ts";
import { clusterRole } from "./rbac/cluster-role.ts";
import { roleBinding } from "./rbac/role-binding.ts";
import { role } from "./rbac/role.ts";
import { replicaSet } from "./replica-set.ts";
import { replicationController } from "./replication-controller.ts";
import { resourceQuota } from "./resource-quota.ts";
import { runtimeClass } from "./runtime-class.ts";
import { podGroup } from "./scheduling/pod-group.ts";
import { workload } from "./scheduling/workload.ts";
import { secret } from "./secret.ts";
import { serviceAccount } from "./service-account.ts";
import { service } from "./service/service.ts";
import { statefulSet } from "./stateful-set.ts";
import { storageVersionMigration } from "./storage-version-migration.ts";
import { storageVersion } from "./storage-version.ts";
import { csiDriver } from "./storage/csi-driver.ts";
import { csiNode } from "./storage/csi-node.ts";
import { csiStorageCapacity } from "./storage/csi-storage-capacity.ts";
import { persistentVolumeClaim } from "./storage/persistent-volume-claim.ts";
import { persistentVolume } from "./storage/persistent-volume.ts";
import { storageClass } from "./storage/storage-class.ts";
import { volumeAttachment } from "./storage/volume-attachment.ts";
import { volumeAttributesClass } from "./storage/volume-attributes-class.ts";

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

/** By kind and versions; versions that differ in their name only need none. */
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
