/** What was measured for an autoscaler, whatever it was measured with. */

/** Of one pod. */
export interface PodMetric {
  /** In thousandths. */
  readonly milli: number;
  /** The end of the measurement; milliseconds since the epoch. */
  readonly at: number;
  readonly windowMs: number;
}

export type PodMetrics = ReadonlyMap<string, PodMetric>;

/** What came of the look at one metric. */
export type Reading =
  | { readonly type: "pods"; readonly metrics: PodMetrics }
  /** Of one object, or of something outside of the cluster; in thousandths. */
  | { readonly type: "value"; readonly milli: number }
  | { readonly type: "failed"; readonly message: string };

/** No number of replicas follows from a metric; the message says why. */
export class MetricError extends Error {
  override readonly name = "MetricError";
}
