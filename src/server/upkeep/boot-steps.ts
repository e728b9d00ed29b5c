/** The steps of the server's start that health checks report, under upstream's names. */

/** Which part of the server does something of its start. */
type BootPart =
  | "definitions"
  | "aggregation"
  /** What is put in place at every start. */
  | "house"
  /** Whom servers of other APIs may believe. */
  | "trust"
  /** What a server does that is one of its own. */
  | "ownServer";

/** Those that upstream has and whose work is done here, and who does it. */
export const BOOT_STEPS = [
  ["poststarthook/start-apiextensions-informers", "definitions"],
  ["poststarthook/start-apiextensions-controllers", "definitions"],
  ["poststarthook/crd-informer-synced", "definitions"],
  ["poststarthook/start-system-namespaces-controller", "house"],
  ["poststarthook/start-cluster-authentication-info-controller", "trust"],
  ["poststarthook/start-kube-apiserver-identity-lease-controller", "ownServer"],
  ["poststarthook/start-kube-apiserver-identity-lease-garbage-collector", "ownServer"],
  ["poststarthook/start-legacy-token-tracking-controller", "ownServer"],
  ["poststarthook/start-service-ip-repair-controllers", "house"],
  ["poststarthook/rbac/bootstrap-roles", "house"],
  ["poststarthook/scheduling/bootstrap-system-priority-classes", "house"],
  ["poststarthook/priority-and-fairness-config-producer", "house"],
  ["poststarthook/bootstrap-controller", "house"],
  ["poststarthook/start-kubernetes-service-cidr-controller", "house"],
  ["poststarthook/start-kube-aggregator-informers", "aggregation"],
  ["poststarthook/apiservice-status-remote-available-controller", "aggregation"],
  ["poststarthook/apiservice-registration-controller", "aggregation"],
  ["poststarthook/apiservice-discovery-controller", "aggregation"],
  ["poststarthook/kube-apiserver-autoregistration", "house"],
  ["autoregister-completion", "house"],
] as const satisfies readonly (readonly [string, BootPart])[];

export type BootStep = (typeof BOOT_STEPS)[number][0];

/** Whether a step is done, by who does it; steps of parts that do not run are not there. */
export type BootProgress = Readonly<Partial<Record<BootPart, (step: BootStep) => boolean>>>;
