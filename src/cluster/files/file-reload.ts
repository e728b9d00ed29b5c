/** Reloads configuration files while the server runs. An unusable file changes nothing and is logged. */
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { pause } from "../../base/loop/pause.ts";
import type { Metrics } from "../../base/metrics/metrics.ts";

/** Upstream's interval. */
const EVERY_MS = 60_000;

export interface ReloadedFile {
  readonly path: string;
  /** Content at the server's start. */
  readonly text: string;
  /** Rejects for a missing file. */
  readonly read: () => Promise<string>;
  /** Applies the content; throws if it is invalid. */
  readonly use: (text: string) => void;
  /** Part of the metrics' names; undefined for files without metrics, as upstream has it. */
  readonly controller?: "authentication_config_controller" | "encryption_config_controller";
}

interface Surroundings {
  readonly loop: Loop;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Checks the file every minute until the signal aborts. */
export async function keepReloaded(
  { path, text, read, use, controller }: ReloadedFile,
  { loop, log, metrics }: Surroundings,
  signal: AbortSignal,
): Promise<void> {
  const note = controller === undefined ? (): void => undefined : noteOf(controller, metrics, loop);
  let last = text;
  for (;;) {
    await pause(loop, { ms: EVERY_MS, kind: "periodic" }, signal);
    if (signal.aborted) return;
    try {
      const now = await read();
      if (now === last) continue;
      use(now);
      last = now;
      note("success");
      log.info("configuration reloaded", { file: path });
    } catch (error) {
      note("failure");
      log.error("configuration is invalid; the previous one stays in use", { file: path, error });
    }
  }
}

function noteOf(controller: string, metrics: Metrics, loop: Loop): (status: "success" | "failure") => void {
  const labels = ["status"];
  const count = metrics.counter({
    name: `apiserver_${controller}_automatic_reloads_total`,
    help: "Reloads of a changed configuration, by success or failure.",
    labels,
  });
  const time = metrics.gauge({
    name: `apiserver_${controller}_automatic_reload_last_timestamp_seconds`,
    help: "Time of the last reload of a changed configuration, by success or failure.",
    labels,
  });
  return (status) => {
    count.add(1, { status });
    time.set(loop.now() / 1000, { status });
  };
}
