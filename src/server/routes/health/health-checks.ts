/** Health checks of the store and the boot steps, under upstream's names and in its order. */
import type { Store, StoreSpace } from "../../../store/store.ts";
import { BOOT_STEPS } from "../../upkeep/boot-steps.ts";
import type { ServerRun } from "../../upkeep/server-run.ts";
import type { HealthCheck, HealthChecks } from "./health.ts";

export interface CheckedParts {
  readonly store: Pick<Store, "health" | "space">;
  readonly run: Pick<ServerRun, "boot" | "followed" | "isEnding">;
}

export function healthChecks({ store, run }: CheckedParts): HealthChecks {
  const ping = { name: "ping", check: () => undefined };
  const storeIs = (): string | undefined => store.health().reason;
  const steps = BOOT_STEPS.flatMap(([name, part]): HealthCheck[] => {
    const isDone = run.boot[part];
    return isDone === undefined ? [] : [{ name, check: () => (isDone(name) ? undefined : "not finished") }];
  });
  const general = [ping, { name: "etcd", check: storeIs }];
  const readiness: readonly HealthCheck[] = [
    { name: "store-space", check: () => spaceProblem(store.space), isAlarm: true },
    { name: "etcd-readiness", check: storeIs },
    { name: "informer-sync", check: () => unread(run.followed) },
  ];
  const shutdown = {
    name: "shutdown",
    check: () => (run.isEnding ? "process is shutting down" : undefined),
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

function unread(followed: ServerRun["followed"]): string | undefined {
  const names = Object.entries(followed).flatMap(([name, { isFollowing }]) => (isFollowing ? [] : [name]));
  return names.length === 0
    ? undefined
    : `${String(names.length)} informers not started yet: [${names.join(" ")}]`;
}
