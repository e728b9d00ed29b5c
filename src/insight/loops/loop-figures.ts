/** Figures of each controller between two readings of the metrics. Pure. */
import type { Sample } from "./metrics-text.ts";

export interface LoopFigures {
  readonly controller: string;
  /** Keys that wait, that are in work, and that wait for a back-off or a timer. */
  readonly queued: number;
  readonly inWork: number;
  readonly delayed: number;
  readonly passesPerSecond: number;
  readonly errorsPerSecond: number;
  /** Upper bound of the bucket with the 99th percentile of the passes in between, in seconds; undefined without passes. */
  readonly p99Seconds: number | undefined;
  /** Loops found that do not settle, since the start. */
  readonly hotLoops: number;
  readonly oldestSeconds: number;
}

export interface Reading {
  readonly samples: readonly Sample[];
  /** Milliseconds. */
  readonly at: number;
}

/** The busiest first. The first reading may be the start of the server: then rates are averages since. */
export function loopFigures(before: Reading, after: Reading): readonly LoopFigures[] {
  const seconds = Math.max(0.001, (after.at - before.at) / 1000);
  const names = new Set(
    after.samples
      .filter(({ name }) => name === "setpoint_controller_reconciles_total")
      .map(({ labels }) => labels["controller"] ?? ""),
  );
  const [then, now] = [new Figures(before.samples), new Figures(after.samples)];
  return [...names]
    .map((controller): LoopFigures => {
      const grown = (name: string): number => now.sum(name, controller) - then.sum(name, controller);
      return {
        controller,
        queued: now.sum("setpoint_queue_depth", controller),
        inWork: now.sum("setpoint_controller_in_work", controller),
        delayed: now.sum("setpoint_queue_delayed", controller),
        passesPerSecond: grown("setpoint_controller_reconciles_total") / seconds,
        errorsPerSecond: grown("setpoint_controller_errors_total") / seconds,
        p99Seconds: percentile(then.buckets(controller), now.buckets(controller)),
        hotLoops: now.sum("setpoint_hot_loops_total", controller),
        oldestSeconds: now.sum("setpoint_queue_oldest_seconds", controller),
      };
    })
    .toSorted((a, b) => b.passesPerSecond - a.passesPerSecond || (a.controller < b.controller ? -1 : 1));
}

class Figures {
  readonly #samples = new Map<string, Sample[]>();

  constructor(samples: readonly Sample[]) {
    for (const sample of samples) {
      const id = `${sample.name} ${sample.labels["controller"] ?? ""}`;
      const known = this.#samples.get(id);
      if (known === undefined) this.#samples.set(id, [sample]);
      else known.push(sample);
    }
  }

  sum(name: string, controller: string): number {
    return (this.#samples.get(`${name} ${controller}`) ?? []).reduce((sum, { value }) => sum + value, 0);
  }

  /** Counts of passes up to each bound, by bound. */
  buckets(controller: string): ReadonlyMap<number, number> {
    const samples = this.#samples.get(`setpoint_controller_reconcile_seconds_bucket ${controller}`) ?? [];
    return new Map(
      samples.map(({ labels, value }) => [Number(labels["le"]?.replace("+Inf", "Infinity")), value]),
    );
  }
}

function percentile(
  before: ReadonlyMap<number, number>,
  after: ReadonlyMap<number, number>,
): number | undefined {
  const counts = [...after].map(([bound, count]) => [bound, count - (before.get(bound) ?? 0)] as const);
  const total = counts.at(-1)?.[1] ?? 0;
  if (total === 0) return undefined;
  return counts.find(([, count]) => count >= total * 0.99)?.[0];
}
