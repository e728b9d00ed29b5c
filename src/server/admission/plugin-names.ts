/** By which names plugins are turned on and off, as upstream calls them. */
import { AdmissionConfigError } from "./config-error.ts";

/** As upstream; NodeRestriction too, which every installer turns on there. */
const ON = [
  "CertificateApproval",
  "CertificateSigning",
  "CertificateSubjectRestriction",
  "ClusterTrustBundleAttest",
  "DefaultIngressClass",
  "DefaultStorageClass",
  "DefaultTolerationSeconds",
  "LimitRanger",
  "MutatingAdmissionPolicy",
  "MutatingAdmissionWebhook",
  "NamespaceLifecycle",
  "NodeDeclaredFeatureValidator",
  "NodeRestriction",
  "PersistentVolumeClaimResize",
  "PodResizeValidator",
  "PodSecurity",
  "PodTopologyLabels",
  "Priority",
  "ResourceQuota",
  "RuntimeClass",
  "ServiceAccount",
  "StorageObjectInUseProtection",
  "TaintNodesByCondition",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionWebhook",
] as const;

const OFF = [
  "AlwaysPullImages",
  "DenyServiceExternalIPs",
  "ExtendedResourceToleration",
  "LimitPodHardAntiAffinityTopology",
  "NamespaceExists",
  "OwnerReferencesPermissionEnforcement",
] as const;

export const PLUGIN_NAMES: readonly string[] = [...ON, ...OFF].toSorted();

export interface PluginChoice {
  /** Besides those that take part unless told otherwise. */
  readonly enabled?: readonly string[];
  /** Names of plugins that take no part. */
  readonly disabled?: readonly string[];
}

/** Whether a plugin takes part. */
export function isEnabled(name: string, { enabled = [], disabled = [] }: PluginChoice): boolean {
  if (disabled.includes(name)) return false;
  return enabled.includes(name) || !OFF.some((each) => each === name);
}

/** Throws AdmissionConfigError for names that mean nothing here, and for those that are both. */
export function checkPluginChoice({ enabled = [], disabled = [] }: PluginChoice): void {
  const unknown = [...enabled, ...disabled].find((name) => !PLUGIN_NAMES.includes(name));
  if (unknown !== undefined)
    throw new AdmissionConfigError(
      `unknown admission plugin "${unknown}"; known are ${PLUGIN_NAMES.join(", ")}`,
    );
  const both = enabled.find((name) => disabled.includes(name));
  if (both !== undefined)
    throw new AdmissionConfigError(`admission plugin "${both}" is both enabled and disabled`);
}
