/** Measurements for an autoscaler, independent of the API that served them. */

export interface PodMetric {
  readonly milli: number;
  /** End of the measurement window, in milliseconds since the epoch. */
  readonly at: number;
  readonly windowMs: number;
}

export type PodMetrics = ReadonlyMap<string, PodMetric>;

/** Result of reading one metric. */
export type MetricReading =
  | { readonly type: "pods"; readonly metrics: PodMetrics }
  /** Value of one object or of an external metric, in thousandths. */
  | { readonly type: "value"; readonly milli: number }
  | { readonly type: "failed"; readonly message: string };

/** Thrown if no number of replicas follows from a metric; the message has the reason. */
export class MetricError extends Error {
  override readonly name = "MetricError";
}
