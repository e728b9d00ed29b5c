/** Interface of counters, gauges and histograms, so that the implementation can be replaced. */

/** A number that only grows. */
export interface Counter {
  add(amount?: number, labels?: Labels): void;
  /** The counter for one set of labels; saves the lookup for frequent counts. */
  bind(labels: Labels): BoundCounter;
  /**
   * Reads the count from `source` whenever metrics are exposed. Returns the function that ends this and keeps the
   * last value.
   */
  read(source: () => number, labels?: Labels): () => void;
}

export interface BoundCounter {
  add(amount?: number): void;
}

/** A number that goes up and down. */
export interface Gauge {
  set(value: number, labels?: Labels): void;
  /**
   * Reads the value from `source` whenever metrics are exposed. Returns the function that ends this and removes the
   * value.
   */
  read(source: () => number, labels?: Labels): () => void;
}

/** A distribution of values over buckets. */
export interface Histogram {
  observe(value: number, labels?: Labels): void;
  /** The histogram for one set of labels. */
  bind(labels: Labels): BoundHistogram;
}

export interface BoundHistogram {
  observe(value: number): void;
}

/** Label values. They must be bounded in number, so they never come from clients. */
export type Labels = Readonly<Record<string, string>>;

/** Name, help and labels of a metric. */
export interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /**
   * Exposes the metric also under a name that dashboards know, with its only label renamed. Costs time only when
   * exposed.
   */
  readonly alsoAs?: { readonly name: string; readonly label: string };
}

/** A registry of metrics. Requesting a name again returns the same metric. */
export interface Metrics {
  counter(options: MetricOptions): Counter;
  gauge(options: MetricOptions): Gauge;
  histogram(options: MetricOptions & { readonly buckets: readonly number[] }): Histogram;
  /** All metrics in the Prometheus text format. */
  expose(): Promise<string>;
}
