/** What is looked at when somebody asks how the server is: its store, and what it does at its start, under upstream's names and in its order. */
import type { Store, StoreSpace } from "../../../store/store.ts";
import type { HealthCheck, HealthChecks } from "./health.ts";

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
const BOOT_STEPS = [
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

export interface Vitals {
  readonly store: Pick<Store, "health" | "space">;
  readonly boot: BootProgress;
  /** What the server follows in the store, by name, and whether it has read what was there. */
  readonly followed: Readonly<Record<string, () => boolean>>;
  readonly isEnding: () => boolean;
}

export function healthChecks({ store, boot, followed, isEnding }: Vitals): HealthChecks {
  const ping = { name: "ping", check: () => undefined };
  const storeIs = (): string | undefined => store.health().reason;
  const steps = BOOT_STEPS.flatMap(([name, part]): HealthCheck[] => {
    const isDone = boot[part];
    return isDone === undefined ? [] : [{ name, check: () => (isDone(name) ? undefined : "not finished") }];
  });
  const general = [ping, { name: "etcd", check: storeIs }];
  const readiness: readonly HealthCheck[] = [
    { name: "store-space", check: () => spaceProblem(store.space), isAlarm: true },
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

function spaceProblem({ usedBytes, quotaBytes, isFull }: StoreSpace): string | undefined {
  if (!isFull) return undefined;
  const used =
    quotaBytes === undefined ? "" : `: ${String(usedBytes)} of ${String(quotaBytes)} bytes are used`;
  return `NOSPACE: writes that add data are refused until objects are deleted${used}`;
}

function unread(followed: Vitals["followed"]): string | undefined {
  const names = Object.entries(followed).flatMap(([name, isRead]) => (isRead() ? [] : [name]));
  return names.length === 0
    ? undefined
    : `${String(names.length)} informers not started yet: [${names.join(" ")}]`;
}
