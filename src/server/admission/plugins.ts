/** The built-in plugins, in upstream's order, which is the order in which they see a request. */
import type { Loop } from "../../base/loop.ts";
import type { Store } from "../../store/store.ts";
import { Admission } from "./admission.ts";
import { persistentVolumeClaimResize } from "./claim-resize.ts";
import { defaultIngressClass, defaultStorageClass } from "./default-classes.ts";
import { defaultTolerationSeconds } from "./default-toleration-seconds.ts";
import { limitRanger } from "./limit-ranger.ts";
import { namespaceLifecycle } from "./namespace-lifecycle.ts";
import type { AdmissionPlugin } from "./plugin.ts";
import { priority } from "./priority.ts";
import { runtimeClass } from "./runtime-class.ts";
import { serviceAccount } from "./service-account.ts";
import { storageObjectInUseProtection } from "./storage-protection.ts";
import { taintNodesByCondition } from "./taint-nodes-by-condition.ts";

export interface AdmissionOptions {
  /** Names of plugins that take no part. */
  readonly disabled?: readonly string[];
}

export function builtInAdmission(
  parts: { readonly loop: Loop; readonly store: Store },
  { disabled = [] }: AdmissionOptions = {},
): Admission {
  const plugins = builtInPlugins(parts.loop).filter(({ name }) => !disabled.includes(name));
  return new Admission(plugins, parts);
}

export function isQuotaOff({ disabled = [] }: AdmissionOptions = {}): boolean {
  return disabled.includes("ResourceQuota");
}

/** ResourceQuota, the last of all, reserves what it allows and is therefore written with the object: quota/companion.ts. */
function builtInPlugins(loop: Loop): readonly AdmissionPlugin[] {
  return [
    namespaceLifecycle,
    limitRanger,
    serviceAccount(loop),
    taintNodesByCondition,
    priority,
    defaultTolerationSeconds,
    defaultStorageClass,
    storageObjectInUseProtection,
    persistentVolumeClaimResize,
    runtimeClass,
    defaultIngressClass,
  ];
}
