/** The built-in plugins, in upstream's order, which is the order in which they see a request. */
import type { Loop } from "../../base/loop.ts";
import type { Store } from "../../store/store.ts";
import type { Authorizer } from "../authz/authorizer.ts";
import type { Registry } from "../registry.ts";
import { Admission } from "./admission.ts";
import { alwaysPullImages } from "./always-pull-images.ts";
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
  podCertificateSigning,
} from "./certificates.ts";
import { persistentVolumeClaimResize } from "./claim-resize.ts";
import { defaultIngressClass, defaultStorageClass } from "./default-classes.ts";
import { defaultTolerationSeconds } from "./default-toleration-seconds.ts";
import { deviceAdminAccess } from "./device-admin-access.ts";
import { extendedResourceToleration } from "./extended-resource-toleration.ts";
import { limitRanger } from "./limit-ranger.ts";
import { namespaceLifecycle } from "./namespace-lifecycle.ts";
import { nodeDeclaredFeatureValidator } from "./node-declared-features.ts";
import { nodeRestriction } from "./node-restriction/node-restriction.ts";
import {
  denyServiceExternalIps,
  limitPodHardAntiAffinityTopology,
  namespaceExists,
} from "./optional-rules.ts";
import { ownerReferencesPermissionEnforcement } from "./owner-references.ts";
import { isEnabled } from "./plugin-names.ts";
import type { PluginChoice } from "./plugin-names.ts";
import type { AdmissionPlugin } from "./plugin.ts";
import { podResizeValidator } from "./pod-resize.ts";
import type { PodSecurityConfiguration } from "./pod-security/configuration.ts";
import { podSecurity } from "./pod-security/pod-security.ts";
import { priority } from "./priority.ts";
import { runtimeClass } from "./runtime-class.ts";
import { serviceAccount } from "./service-account.ts";
import { storageObjectInUseProtection } from "./storage-protection.ts";
import { taintNodesByCondition } from "./taint-nodes-by-condition.ts";
import { podTopologyLabels } from "./topology-labels.ts";

export interface AdmissionOptions extends PluginChoice {
  /** What holds for the security of pods where a namespace says nothing; nothing unless given. */
  readonly podSecurity?: PodSecurityConfiguration | undefined;
}

interface AdmissionParts {
  readonly loop: Loop;
  readonly store: Store;
  readonly registry: Registry;
  readonly authorizer: Authorizer;
  /** What users have to say, after all that is built in. */
  readonly policies?: readonly AdmissionPlugin[];
  /** Those who ask others, after all that need not. */
  readonly webhooks?: readonly AdmissionPlugin[];
  /** What cannot be turned off: they keep others from handing out more than they hold. Before those who ask others. */
  readonly guards?: readonly AdmissionPlugin[];
}

export function builtInAdmission(parts: AdmissionParts, options: AdmissionOptions = {}): Admission {
  const all = [...builtInPlugins(parts, options), ...(parts.policies ?? []), ...(parts.webhooks ?? [])];
  const guards = [deviceAdminAccess, podCertificateSigning(parts.authorizer), ...(parts.guards ?? [])];
  const plugins = [...guards, ...all.filter(({ name }) => isEnabled(name, options))];
  return new Admission(plugins, parts);
}

export function isQuotaOff({ disabled = [] }: AdmissionOptions = {}): boolean {
  return disabled.includes("ResourceQuota");
}

/** ResourceQuota, the last of all, reserves what it allows and is therefore written with the object: quota/companion.ts. */
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
    runtimeClass,
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
