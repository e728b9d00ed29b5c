/** Counters, gauges and histograms behind one seam, so that the library underneath can be replaced. */

export interface Counter {
  add(amount?: number, labels?: Labels): void;
  /** For one set of labels: what is counted often should not look its labels up each time. */
  bind(labels: Labels): BoundCounter;
  /** What is counted elsewhere: `source` is asked whenever somebody looks, until the function that comes back is called. */
  read(source: () => number, labels?: Labels): () => void;
}

export interface BoundCounter {
  add(amount?: number): void;
}

export interface Gauge {
  set(value: number, labels?: Labels): void;
  /** From now on `source` is asked whenever somebody looks, until the function that comes back is called. */
  read(source: () => number, labels?: Labels): () => void;
}

export interface Histogram {
  observe(value: number, labels?: Labels): void;
  /** For one set of labels. */
  bind(labels: Labels): BoundHistogram;
}

export interface BoundHistogram {
  observe(value: number): void;
}

/** Values never come from clients: their number must be bounded. */
export type Labels = Readonly<Record<string, string>>;

export interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** Shown once more under a name that dashboards know, with its only label under theirs. Costs nothing but when somebody looks. */
  readonly alsoAs?: { readonly name: string; readonly label: string };
}

/** Asking twice for one name gives the same metric. */
export interface Metrics {
  counter(options: MetricOptions): Counter;
  gauge(options: MetricOptions): Gauge;
  histogram(options: MetricOptions & { readonly buckets: readonly number[] }): Histogram;
  /** Prometheus text format. */
  expose(): Promise<string>;
}
