/** The steps of the server's start that health checks report, under upstream's names. */

/** Part of the server that performs a boot step. */
type BootPart =
  | "definitions"
  | "aggregation"
  /** The objects that the server puts in place at every start. */
  | "objects"
  /** The ConfigMap with the authorities that extension servers may trust. */
  | "trust"
  /** Work that only a standalone server does, such as its identity Lease. */
  | "ownServer";

/** Upstream's boot steps that this server performs too, and the part that performs each. */
export const BOOT_STEPS = [
  ["poststarthook/start-apiextensions-informers", "definitions"],
  ["poststarthook/start-apiextensions-controllers", "definitions"],
  ["poststarthook/crd-informer-synced", "definitions"],
  ["poststarthook/start-system-namespaces-controller", "objects"],
  ["poststarthook/start-cluster-authentication-info-controller", "trust"],
  ["poststarthook/start-kube-apiserver-identity-lease-controller", "ownServer"],
  ["poststarthook/start-kube-apiserver-identity-lease-garbage-collector", "ownServer"],
  ["poststarthook/start-legacy-token-tracking-controller", "ownServer"],
  ["poststarthook/start-service-ip-repair-controllers", "objects"],
  ["poststarthook/rbac/bootstrap-roles", "objects"],
  ["poststarthook/scheduling/bootstrap-system-priority-classes", "objects"],
  ["poststarthook/priority-and-fairness-config-producer", "objects"],
  ["poststarthook/bootstrap-controller", "objects"],
  ["poststarthook/start-kubernetes-service-cidr-controller", "objects"],
  ["poststarthook/start-kube-aggregator-informers", "aggregation"],
  ["poststarthook/apiservice-status-remote-available-controller", "aggregation"],
  ["poststarthook/apiservice-registration-controller", "aggregation"],
  ["poststarthook/apiservice-discovery-controller", "aggregation"],
  ["poststarthook/kube-apiserver-autoregistration", "objects"],
  ["autoregister-completion", "objects"],
] as const satisfies readonly (readonly [string, BootPart])[];

export type BootStep = (typeof BOOT_STEPS)[number][0];

/** Tells for each part whether a step is done. Parts that the server does not have are absent. */
export type BootProgress = Readonly<Partial<Record<BootPart, (step: BootStep) => boolean>>>;
