/**
 * Logs of the components of a cluster, a file each: DATA-DIR/logs/COMPONENT.log. A line begins with its time, as in
 * `2026-11-19T04:10:16.123Z info  started loop=deployment`.
 */
import { join } from "node:path";
import { LogFile } from "../../base/log-files/log-file.ts";
import type { RotationLimits } from "../../base/log-files/log-rotation.ts";
import { createTextLog } from "../../base/log/log-text.ts";
import type { Log, LogLevel } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";

/** Upstream's names for components; `setpoint` is the process itself. */
export const LOG_COMPONENTS = [
  "setpoint",
  "store",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kubelet",
] as const;
export type LogComponent = (typeof LOG_COMPONENTS)[number];

/** Component whose log has the messages of a group of loops. */
const OF_GROUPS: ReadonlyMap<string, LogComponent> = new Map<string, LogComponent>([
  ["controllers", "kube-controller-manager"],
  ["scheduler", "kube-scheduler"],
  ["nodes", "kubelet"],
]);

/** Component that a group of loops belongs to. */
export function componentOf(group: string): LogComponent {
  return OF_GROUPS.get(group) ?? "setpoint";
}

/** At most 12 MiB for each component. */
const LIMITS: RotationLimits = { maxBytes: 4 << 20, maxAgeMs: 0, maxBackups: 2, isCompressed: false };

export interface ComponentLogsOptions {
  readonly dataDir: string;
  /** Least level in the files. */
  readonly level: LogLevel;
  /** Receives the failures of the files. */
  readonly fallback: Log;
  readonly loop: Loop;
}

export function componentLogsFolder(dataDir: string): string {
  return join(dataDir, "logs");
}

/** Path of the log of a component. Rotated files have the time of the rotation in their name. */
export function componentLogFile(dataDir: string, component: LogComponent): string {
  return join(componentLogsFolder(dataDir), `${component}.log`);
}

export class ComponentLogs {
  readonly #files: Readonly<Record<LogComponent, LogFile>>;
  readonly #logs: Readonly<Record<LogComponent, Log>>;

  constructor({ dataDir, level, fallback, loop }: ComponentLogsOptions) {
    this.#files = recordOf((component) => {
      const path = componentLogFile(dataDir, component);
      return new LogFile({ path, limits: LIMITS, loop, fallback });
    });
    this.#logs = recordOf((component) => {
      const write = (line: string): void => this.#files[component].write(line);
      return createTextLog({ level, isColoured: false, hasDate: true, write, now: () => loop.now() });
    });
  }

  of(component: LogComponent): Log {
    return this.#logs[component];
  }

  /** Begins to write files. Call it once this process owns the data dir; messages wait until then. */
  open(): void {
    for (const file of Object.values(this.#files)) file.open();
  }

  /** Resolves when all messages are written. */
  async close(): Promise<void> {
    await Promise.all(Object.values(this.#files).map((file) => file.close()));
  }
}

function recordOf<T>(make: (component: LogComponent) => T): Readonly<Record<LogComponent, T>> {
  const entries = LOG_COMPONENTS.map((component) => [component, make(component)] as const);
  return Object.fromEntries(entries) as Record<LogComponent, T>;
}
