/** Metrics of flows and levels, under upstream's names, which alerts use. */
import type {
  BoundCounter,
  BoundHistogram,
  Counter,
  Gauge,
  Histogram,
  Metrics,
} from "../../../base/metrics/metrics.ts";
import type { PriorityLevel, Refusal } from "./priority-level.ts";

const FLOW_LABELS = ["priority_level", "flow_schema"] as const;
/** Upstream's buckets, from no wait to twice the longest one. */
const WAIT_SECONDS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];

/** Metrics of the requests of one FlowSchema. */
export interface FlowMeter {
  readonly dispatched: BoundCounter;
  /** Wait time of dispatched requests. */
  readonly waited: BoundHistogram;
  /** Current number of waiting requests. */
  waiting: number;
  executing: number;
  seats: number;
  /** Counts a refusal after a wait of `waitedMs`. */
  reject(reason: Refusal, waitedMs: number): void;
  /** Removes the gauges. */
  forget(): void;
}

export class FlowMetrics {
  readonly #dispatched: Counter;
  readonly #rejected: Counter;
  readonly #waited: Histogram;
  readonly #waiting: Gauge;
  readonly #executing: Gauge;
  readonly #seats: Gauge;
  readonly #levelGauges: readonly (readonly [Gauge, (level: PriorityLevel) => number])[];

  constructor(metrics: Metrics) {
    const named = (name: string, help: string, labels: readonly string[] = FLOW_LABELS) => ({
      name: `apiserver_flowcontrol_${name}`,
      help,
      labels,
    });
    this.#dispatched = metrics.counter(named("dispatched_requests_total", "Requests that got their seats."));
    this.#rejected = metrics.counter(
      named("rejected_requests_total", "Requests that were refused, by reason.", [...FLOW_LABELS, "reason"]),
    );
    this.#waited = metrics.histogram({
      ...named(
        "request_wait_duration_seconds",
        "Time that requests waited for seats, and whether they got them.",
        [...FLOW_LABELS, "execute"],
      ),
      buckets: WAIT_SECONDS,
    });
    this.#waiting = metrics.gauge(named("current_inqueue_requests", "Requests that wait for seats."));
    this.#executing = metrics.gauge(named("current_executing_requests", "Requests that have their seats."));
    this.#seats = metrics.gauge(named("current_executing_seats", "Seats that are taken."));
    const perLevel = (name: string, help: string): Gauge =>
      metrics.gauge(named(name, help, ["priority_level"]));
    this.#levelGauges = [
      [perLevel("nominal_limit_seats", "Seats that a level always has."), ({ limits }) => limits.nominal],
      [
        perLevel("lower_limit_seats", "Seats that a level never lends."),
        ({ limits }) => limits.nominal - limits.lendable,
      ],
      [
        perLevel("current_limit_seats", "Seats that a level has, with those that it borrows at this moment."),
        ({ limits, seatsInUse }) => Math.max(limits.nominal, seatsInUse),
      ],
    ];
  }

  meter(priorityLevel: string, flowSchema: string): FlowMeter {
    const labels = { priority_level: priorityLevel, flow_schema: flowSchema };
    const endings: (() => void)[] = [];
    const meter: FlowMeter = {
      dispatched: this.#dispatched.bind(labels),
      waited: this.#waited.bind({ ...labels, execute: "true" }),
      waiting: 0,
      executing: 0,
      seats: 0,
      reject: (reason, waitedMs) => {
        this.#rejected.add(1, { ...labels, reason });
        this.#waited.observe(waitedMs / 1000, { ...labels, execute: "false" });
      },
      forget: () => {
        for (const end of endings) end();
      },
    };
    endings.push(
      this.#waiting.read(() => meter.waiting, labels),
      this.#executing.read(() => meter.executing, labels),
      this.#seats.read(() => meter.seats, labels),
    );
    return meter;
  }

  /** Adds the gauges of a level; the returned function removes them. */
  show(level: PriorityLevel): () => void {
    const labels = { priority_level: level.name };
    const endings = this.#levelGauges.map(([gauge, source]) => gauge.read(() => source(level), labels));
    return () => {
      for (const end of endings) end();
    };
  }
}
