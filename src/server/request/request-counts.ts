/**
 * Counts requests in flight and long-running requests; the metrics endpoint reads the counts on a scrape. Times the
 * writes of requests.
 */
import type { BoundHistogram, Histogram, Metrics } from "../../base/metrics/metrics.ts";
import type { StoreErrorCode } from "../../store/store-error.ts";

export type RequestKind = "mutating" | "readOnly";

/**
 * Labels of a long-running request. Their values come from the served API, never from clients, so their number has a
 * bound.
 */
export interface LongRunningLabels {
  readonly verb: "WATCH";
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly scope: string;
}

interface LongRunning {
  readonly labels: LongRunningLabels;
  count: number;
  /** Events sent to all requests with these labels, also closed ones. */
  events: number;
  /** Requests that the server closed because the client read too slowly. */
  tooSlow: number;
}

/** Handle by which a long-running request reports its progress. */
export interface OpenRequest {
  sent(events: number): void;
  tooSlow(): void;
  ended(): void;
}

/** Operation and resource of a write to the store. */
export interface WriteLabels {
  readonly operation: "create" | "update" | "delete";
  readonly group: string;
  readonly resource: string;
}

/** A deprecated API that a client requested. */
export interface DeprecatedLabels {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
}

/** `ok`, or the code of the store's error. */
type WriteOutcome = "ok" | StoreErrorCode | "broken";

/** Boundaries from a write to memory up to the request timeout. */
const WRITE_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30];

export class RequestCounts {
  readonly #inFlight: Record<RequestKind, number> = { mutating: 0, readOnly: 0 };
  readonly #longRunning = new Map<string, LongRunning>();
  readonly #deprecated = new Map<string, DeprecatedLabels>();
  readonly #writes: Histogram;
  readonly #goodWrites: BoundHistogram;
  readonly #writesByKind: Histogram;
  readonly #kinds = new WeakMap<WriteLabels, BoundHistogram>();

  constructor(metrics: Pick<Metrics, "histogram">) {
    this.#writes = metrics.histogram({
      name: "setpoint_store_write_duration_seconds",
      help: "Time until an API write is durable, by outcome: ok, or the error of the store.",
      labels: ["outcome"],
      buckets: WRITE_SECONDS,
    });
    this.#goodWrites = this.#writes.bind({ outcome: "ok" });
    // Dashboards query the latency of any store under this name.
    this.#writesByKind = metrics.histogram({
      name: "etcd_request_duration_seconds",
      help: "Time until an API write is durable, by operation and resource.",
      labels: ["operation", "group", "resource"],
      buckets: WRITE_SECONDS,
    });
  }

  begin(kind: RequestKind): void {
    this.#inFlight[kind] += 1;
  }

  end(kind: RequestKind): void {
    this.#inFlight[kind] -= 1;
  }

  stayOpen(labels: LongRunningLabels): OpenRequest {
    const { group, version, resource, scope } = labels;
    const name = `${group}/${version}/${resource}/${scope}`;
    const entry = this.#longRunning.get(name) ?? { labels, count: 0, events: 0, tooSlow: 0 };
    this.#longRunning.set(name, entry);
    entry.count += 1;
    return {
      sent: (events) => {
        entry.events += events;
      },
      tooSlow: () => {
        entry.tooSlow += 1;
      },
      ended: () => {
        entry.count -= 1;
      },
    };
  }

  /** Callers pass served APIs only, so the number of entries has a bound. */
  askedForDeprecated(labels: DeprecatedLabels): void {
    const { group, version, resource, subresource } = labels;
    this.#deprecated.set(`${group}/${version}/${resource}/${subresource}`, labels);
  }

  get deprecated(): Iterable<DeprecatedLabels> {
    return this.#deprecated.values();
  }

  /** Counts a write that took `ms` until it was durable: on the disk of a file store, or over the network to etcd. */
  wrote(outcome: WriteOutcome, ms: number, labels: WriteLabels): void {
    if (outcome === "ok") this.#goodWrites.observe(ms / 1000);
    else this.#writes.observe(ms / 1000, { outcome });
    const kind = this.#kinds.get(labels) ?? this.#writesByKind.bind({ ...labels });
    this.#kinds.set(labels, kind);
    kind.observe(ms / 1000);
  }

  get inFlight(): Readonly<Record<RequestKind, number>> {
    return this.#inFlight;
  }

  /** All labels that were ever counted, also with no open request. */
  get longRunning(): Iterable<Readonly<LongRunning>> {
    return this.#longRunning.values();
  }
}
