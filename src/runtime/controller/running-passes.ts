/** The passes of a controller that have not ended. Reports one that takes too long, and abandons those of a stop. */
import type { Log } from "../../base/log/log.ts";
import type { Loop, Timer } from "../../base/loop/loop.ts";
import type { Metrics } from "../../base/metrics/metrics.ts";
import { keyLabel } from "../queue/work-key.ts";

/** A pass that is not done after this time is reported: passes take milliseconds, and requests time out sooner. */
const OVERDUE_MS = 60_000;
const LOOK_MS = 15_000;
/** Time for passes to end after a stop; a process ends within 5 s of SIGTERM. */
const STOP_MS = 3000;

export interface RunningPassesOptions {
  readonly controller: string;
  readonly loop: Loop;
  readonly log: Log;
  readonly metrics: Metrics;
}

interface RunningPass {
  readonly key: string;
  readonly begunAt: number;
  /** Ends the announcement of its work to the loop. */
  readonly end: () => void;
  isReported: boolean;
}

export class RunningPasses {
  readonly #options: RunningPassesOptions;
  readonly #passes = new Set<RunningPass>();
  /** Pending only while passes run, so that an idle controller has no timer. */
  #look: Timer | undefined;
  #stop: Timer | undefined;

  constructor(options: RunningPassesOptions) {
    this.#options = options;
  }

  /** Call the returned function when the pass has ended; false means that it was abandoned before. */
  begin(key: string): () => boolean {
    const { loop } = this.#options;
    const end = loop.inFlight(`reconcile ${keyLabel(key)}`);
    const pass: RunningPass = { key, begunAt: loop.elapsed(), end, isReported: false };
    this.#passes.add(pass);
    this.#watch();
    return () => {
      if (!this.#passes.delete(pass)) return false;
      end();
      return true;
    };
  }

  /** Publishes the number of overdue passes until the returned function is called. */
  publish(): () => void {
    const { controller, metrics } = this.#options;
    const gauge = metrics.gauge({
      name: "setpoint_controller_overdue_passes",
      help: "Passes that have run for more than a minute.",
      labels: ["controller"],
    });
    return gauge.read(() => this.#overdue().length, { controller });
  }

  /** Reason why the controller is unhealthy: a pass that has not ended in time. */
  health(): string | undefined {
    const [pass] = this.#overdue();
    if (pass === undefined) return undefined;
    const seconds = String(Math.round((this.#options.loop.elapsed() - pass.begunAt) / 1000));
    return `${this.#options.controller}: the pass of ${keyLabel(pass.key)} has not ended for ${seconds} s`;
  }

  /**
   * Gives the passes time to end; then abandons the rest and calls `onAbandoned` with an error that names one. The timer is
   * `periodic`: a virtual loop names work that cannot end by itself, and at once.
   */
  stop(onAbandoned: (error: Error) => void): void {
    const { controller, loop, log } = this.#options;
    if (this.#passes.size === 0 || this.#stop !== undefined) return;
    this.#stop = loop.timer(loop.now() + STOP_MS, "periodic", () => {
      const left = [...this.#passes];
      const [first] = left;
      if (first === undefined) return;
      this.#passes.clear();
      for (const { end } of left) end();
      const name = `reconcile ${keyLabel(first.key)} of ${controller}`;
      const error = new Error(`${name} ignores the stop: end it when its signal aborts`);
      log.error("passes are abandoned at the stop", { passes: left.length, error });
      onAbandoned(error);
    });
  }

  /** Cancels all timers. */
  close(): void {
    this.#look?.cancel();
    this.#look = undefined;
    this.#stop?.cancel();
  }

  #overdue(): readonly RunningPass[] {
    const now = this.#options.loop.elapsed();
    return [...this.#passes].filter(({ begunAt }) => now - begunAt >= OVERDUE_MS);
  }

  #watch(): void {
    const { loop, log } = this.#options;
    this.#look ??= loop.timer(loop.now() + LOOK_MS, "periodic", () => {
      this.#look = undefined;
      for (const pass of this.#overdue()) {
        if (pass.isReported) continue;
        pass.isReported = true;
        log.warn("a reconcile has not ended for a minute; its key is blocked until it does", {
          key: keyLabel(pass.key),
        });
      }
      if (this.#passes.size > 0) this.#watch();
    });
  }
}
