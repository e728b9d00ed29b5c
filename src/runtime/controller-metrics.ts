/** What is measured of a controller. */
import type { BoundCounter, BoundHistogram, Metrics } from "../base/metrics.ts";
import type { PassResult } from "./pass-result.ts";
import type { WorkQueue } from "./work-queue.ts";

const SECONDS = [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60];
const RESULTS = ["done", "vanished", "recheck", "failed", "terminal", "aborted"] as const;

export class ControllerMetrics {
  readonly #labels: { readonly controller: string };
  readonly #metrics: Metrics;
  readonly #results: Readonly<Record<PassResult["type"], BoundCounter>>;
  readonly #errors: BoundCounter;
  readonly #durations: BoundHistogram;
  readonly #waits: BoundHistogram;

  constructor(controller: string, metrics: Metrics) {
    this.#labels = { controller };
    this.#metrics = metrics;
    const reconciles = metrics.counter({
      name: "setpoint_controller_reconciles_total",
      help: "Passes of controllers, by what they came to.",
      labels: ["controller", "result"],
    });
    const bound = (result: PassResult["type"]): BoundCounter => reconciles.bind({ controller, result });
    this.#results = Object.fromEntries(RESULTS.map((result) => [result, bound(result)])) as Record<
      PassResult["type"],
      BoundCounter
    >;
    this.#errors = metrics
      .counter({
        name: "setpoint_controller_errors_total",
        help: "Passes of controllers that failed.",
        labels: ["controller"],
      })
      .bind(this.#labels);
    this.#durations = this.#histogram("setpoint_controller_reconcile_seconds", "How long passes take.");
    this.#waits = this.#histogram("setpoint_queue_wait_seconds", "How long keys wait until they are taken.");
  }

  note(result: PassResult["type"], waitedMs: number, durationMs: number): void {
    this.#results[result].add();
    if (result === "failed" || result === "terminal") this.#errors.add();
    this.#durations.observe(durationMs / 1000);
    this.#waits.observe(waitedMs / 1000);
  }

  /** Until the function that comes back is called. */
  watch(queue: WorkQueue): () => void {
    const leave = [
      this.#gauge("setpoint_controller_in_work", "Keys in work.", () => queue.inWork),
      this.#gauge("setpoint_queue_depth", "Keys that wait to be taken.", () => queue.depth),
      this.#gauge("setpoint_queue_delayed", "Keys that are due later.", () => queue.delayed),
      this.#gauge(
        "setpoint_queue_oldest_seconds",
        "How long the next key has been waiting.",
        () => queue.oldestAgeMs() / 1000,
      ),
    ];
    return () => {
      for (const each of leave) each();
    };
  }

  #histogram(name: string, help: string): BoundHistogram {
    return this.#metrics
      .histogram({ name, help, labels: ["controller"], buckets: SECONDS })
      .bind(this.#labels);
  }

  #gauge(name: string, help: string, source: () => number): () => void {
    return this.#metrics.gauge({ name, help, labels: ["controller"] }).read(source, this.#labels);
  }
}
