/** Configuration that is read again while the server runs. A file that cannot be used changes nothing, and is told of. */
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { pause } from "../../base/loop/pause.ts";
import type { Metrics } from "../../base/metrics/metrics.ts";

/** As upstream looks. */
const EVERY_MS = 60_000;

export interface ReloadedFile {
  readonly path: string;
  /** What it said when the server started. */
  readonly text: string;
  /** Rejects when it is not there. */
  readonly read: () => Promise<string>;
  /** Throws when it says nothing that can be used. */
  readonly use: (text: string) => void;
  /** In the names of metrics; without it there are none, as upstream has none. */
  readonly controller?: "authentication_config_controller" | "encryption_config_controller";
}

interface Surroundings {
  readonly loop: Loop;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Until the signal is aborted. */
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
      log.info("a configuration was read again", { file: path });
    } catch (error) {
      note("failure");
      log.error("a configuration cannot be used; what it said before stays", { file: path, error });
    }
  }
}

function noteOf(controller: string, metrics: Metrics, loop: Loop): (status: "success" | "failure") => void {
  const labels = ["status"];
  const count = metrics.counter({
    name: `apiserver_${controller}_automatic_reloads_total`,
    help: "How often a configuration that had changed was read again, by whether it could be used.",
    labels,
  });
  const time = metrics.gauge({
    name: `apiserver_${controller}_automatic_reload_last_timestamp_seconds`,
    help: "When a configuration that had changed was last read again, by whether it could be used.",
    labels,
  });
  return (status) => {
    count.add(1, { status });
    time.set(loop.now() / 1000, { status });
  };
}
