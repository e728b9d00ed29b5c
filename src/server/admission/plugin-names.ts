/** Names of the admission plugins as in upstream, by which options enable and disable them. */
import { AdmissionConfigError } from "./config-error.ts";

/** Upstream's defaults and NodeRestriction, which every installer enables. */
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
  /** Names of plugins to enable beside the default ones. */
  readonly enabled?: readonly string[];
  /** Names of plugins to disable. */
  readonly disabled?: readonly string[];
}

/** Whether a plugin is enabled. */
export function isEnabled(name: string, { enabled = [], disabled = [] }: PluginChoice): boolean {
  if (disabled.includes(name)) return false;
  return enabled.includes(name) || !OFF.some((each) => each === name);
}

/** Throws AdmissionConfigError for unknown names, and for names that are both enabled and disabled. */
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
