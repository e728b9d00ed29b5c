/** What is looked at when somebody asks how the server is: its store, and what it does at its start, under upstream's names and in its order. */
import type { Store } from "../store/store.ts";
import type { HealthCheck, HealthChecks } from "./health.ts";

/** Those that upstream has and whose work is done here. */
const BOOT_STEPS = [
  "poststarthook/start-apiextensions-informers",
  "poststarthook/start-apiextensions-controllers",
  "poststarthook/crd-informer-synced",
  "poststarthook/start-system-namespaces-controller",
  "poststarthook/start-cluster-authentication-info-controller",
  "poststarthook/start-kube-apiserver-identity-lease-controller",
  "poststarthook/start-kube-apiserver-identity-lease-garbage-collector",
  "poststarthook/start-legacy-token-tracking-controller",
  "poststarthook/start-service-ip-repair-controllers",
  "poststarthook/rbac/bootstrap-roles",
  "poststarthook/scheduling/bootstrap-system-priority-classes",
  "poststarthook/priority-and-fairness-config-producer",
  "poststarthook/bootstrap-controller",
  "poststarthook/start-kubernetes-service-cidr-controller",
  "poststarthook/start-kube-aggregator-informers",
  "poststarthook/apiservice-status-remote-available-controller",
  "poststarthook/apiservice-registration-controller",
  "poststarthook/apiservice-discovery-controller",
  "poststarthook/kube-apiserver-autoregistration",
  "autoregister-completion",
] as const;

export type BootStep = (typeof BOOT_STEPS)[number];

/** Whether a step is done; steps of parts that do not run are not there. */
export type BootProgress = Readonly<Partial<Record<BootStep, () => boolean>>>;

export interface Vitals {
  readonly store: Pick<Store, "health">;
  readonly boot: BootProgress;
  /** What the server follows in the store, by name, and whether it has read what was there. */
  readonly followed: Readonly<Record<string, () => boolean>>;
  readonly isEnding: () => boolean;
}

export function healthChecks({ store, boot, followed, isEnding }: Vitals): HealthChecks {
  const ping = { name: "ping", check: () => undefined };
  const storeIs = (): string | undefined => store.health().reason;
  const steps = BOOT_STEPS.flatMap((name): HealthCheck[] => {
    const isDone = boot[name];
    return isDone === undefined ? [] : [{ name, check: () => (isDone() ? undefined : "not finished") }];
  });
  const general = [ping, { name: "etcd", check: storeIs }];
  const readiness = [
    { name: "etcd-readiness", check: storeIs },
    { name: "informer-sync", check: () => unread(followed) },
  ];
  const shutdown = {
    name: "shutdown",
    check: () => (isEnding() ? "process is shutting down" : undefined),
  };
  return {
    healthz: [...general, ...steps],
    livez: [...general, ...steps],
    readyz: [...general, ...readiness, ...steps, shutdown],
  };
}

function unread(followed: Vitals["followed"]): string | undefined {
  const names = Object.entries(followed).flatMap(([name, isRead]) => (isRead() ? [] : [name]));
  return names.length === 0
    ? undefined
    : `${String(names.length)} informers not started yet: [${names.join(" ")}]`;
}
