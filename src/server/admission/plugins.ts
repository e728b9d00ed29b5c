/** Lists the built-in plugins in upstream's order, which is the order of execution. */
import type { Loop } from "../../base/loop/loop.ts";
import type { Store } from "../../store/store.ts";
import type { Authorizer } from "../access/authz/authorizer.ts";
import type { RoleIndex } from "../access/authz/rbac/role-index.ts";
import type { Registry } from "../objects/registry.ts";
import { Admission } from "./admission.ts";
import { isEnabled } from "./plugin-names.ts";
import type { PluginChoice } from "./plugin-names.ts";
import type { AdmissionPlugin } from "./plugin.ts";
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
  podCertificateSigning,
} from "./plugins/access/certificates.ts";
import { claimPermissions } from "./plugins/access/claim-permissions.ts";
import { deviceAdminAccess } from "./plugins/access/device-admin-access.ts";
import { ownerReferencesPermissionEnforcement } from "./plugins/access/owner-references.ts";
import { roleEscalation } from "./plugins/access/role-escalation.ts";
import { namespaceLifecycle } from "./plugins/namespace-lifecycle.ts";
import { nodeDeclaredFeatureValidator } from "./plugins/nodes/node-declared-features.ts";
import { nodeRestriction } from "./plugins/nodes/node-restriction/node-restriction.ts";
import { taintNodesByCondition } from "./plugins/nodes/taint-nodes-by-condition.ts";
import {
  denyServiceExternalIps,
  limitPodHardAntiAffinityTopology,
  namespaceExists,
} from "./plugins/optional-rules.ts";
import { alwaysPullImages } from "./plugins/pods/always-pull-images.ts";
import { defaultTolerationSeconds } from "./plugins/pods/default-toleration-seconds.ts";
import { extendedResourceToleration } from "./plugins/pods/extended-resource-toleration.ts";
import { limitRanger } from "./plugins/pods/limit-ranger.ts";
import { podResizeValidator } from "./plugins/pods/pod-resize.ts";
import type { PodSecurityConfiguration } from "./plugins/pods/pod-security/configuration.ts";
import { podSecurity } from "./plugins/pods/pod-security/pod-security.ts";
import { priority } from "./plugins/pods/priority.ts";
import { runtimeClass } from "./plugins/pods/runtime-class.ts";
import { serviceAccount } from "./plugins/pods/service-account.ts";
import { podTopologyLabels } from "./plugins/pods/topology-labels.ts";
import { persistentVolumeClaimResize } from "./plugins/storage/claim-resize.ts";
import { defaultIngressClass, defaultStorageClass } from "./plugins/storage/default-classes.ts";
import { storageObjectInUseProtection } from "./plugins/storage/storage-protection.ts";

/** Plugins to turn on or off, and their configuration. Default: upstream's plugins. */
export interface AdmissionOptions extends PluginChoice {
  /** Pod security defaults for namespaces without labels, and exemptions. Default: privileged. */
  readonly podSecurity?: PodSecurityConfiguration | undefined;
  /** RuntimeClass of pods that name none. Default: none. */
  readonly defaultRuntimeClass?: string | undefined;
}

interface AdmissionParts {
  readonly loop: Loop;
  readonly store: Store;
  readonly registry: Registry;
  readonly authorizer: Authorizer;
  /** Admission policies of users; they run after all built-in plugins. */
  readonly policies?: readonly AdmissionPlugin[];
  /** Webhooks; they run last. */
  readonly webhooks?: readonly AdmissionPlugin[];
  readonly roles: RoleIndex;
}

export function builtInAdmission(parts: AdmissionParts, options: AdmissionOptions = {}): Admission {
  const all = [...builtInPlugins(parts, options), ...(parts.policies ?? []), ...(parts.webhooks ?? [])];
  const plugins = [...guards(parts), ...all.filter(({ name }) => isEnabled(name, options))];
  return new Admission(plugins, parts);
}

/** Plugins that no option turns off: they keep users from granting more than they hold. They run before webhooks. */
function guards({ loop, authorizer, roles }: AdmissionParts): readonly AdmissionPlugin[] {
  return [
    deviceAdminAccess,
    podCertificateSigning(authorizer),
    roleEscalation({ loop, authorizer, book: roles }),
    claimPermissions(authorizer),
  ];
}

export function isQuotaOff({ disabled = [] }: AdmissionOptions = {}): boolean {
  return disabled.includes("ResourceQuota");
}

/** ResourceQuota is missing here. It reserves usage and is written with the object: write/companions/quota.ts. */
function builtInPlugins(
  { loop, registry, authorizer }: AdmissionParts,
  options: AdmissionOptions,
): readonly AdmissionPlugin[] {
  return [
    namespaceLifecycle,
    namespaceExists,
    limitPodHardAntiAffinityTopology,
    limitRanger,
    serviceAccount(loop),
    nodeRestriction(authorizer),
    taintNodesByCondition,
    alwaysPullImages,
    podSecurity(loop, options.podSecurity),
    priority,
    defaultTolerationSeconds,
    extendedResourceToleration,
    defaultStorageClass,
    storageObjectInUseProtection,
    ownerReferencesPermissionEnforcement(authorizer, registry),
    persistentVolumeClaimResize,
    runtimeClass(options.defaultRuntimeClass),
    certificateApproval(authorizer),
    certificateSigning(authorizer),
    clusterTrustBundleAttest(authorizer),
    certificateSubjectRestriction,
    defaultIngressClass,
    denyServiceExternalIps,
    podTopologyLabels,
    nodeDeclaredFeatureValidator,
    podResizeValidator,
  ];
}
