/** Metrics of a controller. */
import type { BoundCounter, BoundHistogram, MetricOptions, Metrics } from "../../base/metrics/metrics.ts";
import type { WorkQueue } from "../queue/work-queue.ts";
import type { PassResult } from "./pass-result.ts";

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
      help: "Passes of controllers, by result.",
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
    this.#durations = this.#histogram({
      name: "setpoint_controller_reconcile_seconds",
      help: "Duration of passes in seconds.",
      alsoAs: "workqueue_work_duration_seconds",
    });
    this.#waits = this.#histogram({
      name: "setpoint_queue_wait_seconds",
      help: "Time that keys wait in the queue, in seconds.",
      alsoAs: "workqueue_queue_duration_seconds",
    });
  }

  note(result: PassResult["type"], waitedMs: number, durationMs: number): void {
    this.#results[result].add();
    if (result === "failed" || result === "terminal") this.#errors.add();
    this.#durations.observe(durationMs / 1000);
    this.#waits.observe(waitedMs / 1000);
  }

  /** Publishes the queue's figures until the returned function is called. */
  watch(queue: WorkQueue): () => void {
    const ends = [
      this.#gauge(
        {
          name: "setpoint_controller_in_work",
          help: "Keys in work, including those that wait for the caches.",
        },
        () => queue.inWork,
      ),
      this.#gauge(
        {
          name: "setpoint_queue_depth",
          help: "Keys ready to be taken.",
          alsoAs: "workqueue_depth",
        },
        () => queue.depth,
      ),
      this.#gauge(
        { name: "setpoint_queue_delayed", help: "Keys that become ready later." },
        () => queue.delayed,
      ),
      this.#gauge(
        { name: "setpoint_queue_oldest_seconds", help: "Age of the oldest ready key in seconds." },
        () => queue.oldestAgeMs() / 1000,
      ),
      this.#counter("workqueue_adds_total", "Keys added to the queue.", () => queue.added),
      this.#counter("workqueue_retries_total", "Keys added again after a failed pass.", () => queue.retried),
    ];
    return () => {
      for (const each of ends) each();
    };
  }

  #histogram(figure: Figure): BoundHistogram {
    return this.#metrics.histogram({ ...optionsOf(figure), buckets: SECONDS }).bind(this.#labels);
  }

  #gauge(figure: Figure, source: () => number): () => void {
    return this.#metrics.gauge(optionsOf(figure)).read(source, this.#labels);
  }

  /** Counted by the queue itself and published under upstream's name only. */
  #counter(name: string, help: string, source: () => number): () => void {
    const { controller } = this.#labels;
    return this.#metrics
      .counter({ name, help, labels: [QUEUE_LABEL] })
      .read(source, { [QUEUE_LABEL]: controller });
  }
}

interface Figure {
  readonly name: string;
  readonly help: string;
  /** Name of the same metric in upstream's work queues. */
  readonly alsoAs?: string;
}

const QUEUE_LABEL = "name";

function optionsOf({ name, help, alsoAs }: Figure): MetricOptions {
  const labels = ["controller"];
  return alsoAs === undefined
    ? { name, help, labels }
    : { name, help, labels, alsoAs: { name: alsoAs, label: QUEUE_LABEL } };
}
