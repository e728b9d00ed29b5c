/** Health checks of the store and the boot steps, under upstream's names and in its order. */
import type { Store, StoreSpace } from "../../../store/store.ts";
import { BOOT_STEPS } from "../../upkeep/boot-steps.ts";
import type { BootProgress } from "../../upkeep/boot-steps.ts";
import type { HealthCheck, HealthChecks } from "./health.ts";

export interface Vitals {
  readonly store: Pick<Store, "health" | "space">;
  readonly boot: BootProgress;
  /** Data that the server follows in the store, by name. Each function tells whether the initial read is complete. */
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
