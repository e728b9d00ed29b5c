/** Creates the priority and fairness of a server: the pipeline stage and the debug endpoints. */
import type { Loop } from "../../../base/loop/loop.ts";
import type { Metrics } from "../../../base/metrics/metrics.ts";
import type { Store } from "../../../store/store.ts";
import type { Registry } from "../../objects/registry.ts";
import type { Route, Stage } from "../../request/exchange.ts";
import { fairnessRoute } from "./fairness-route.ts";
import { shareFairly } from "./fairness.ts";
import { FlowControl } from "./flow-control.ts";
import { FlowMetrics } from "./flow-metrics.ts";
import { limitInFlight } from "./max-in-flight.ts";
import { SeatPool } from "./seat-pool.ts";

/** Limits on requests in flight, and their fair sharing. Default: as in kube-apiserver. */
export interface FairnessOptions {
  /** When false, only the number of requests in flight is limited. */
  readonly isOn: boolean;
  /** The sum of both maxima is the number of seats. */
  readonly maxReadsInFlight: number;
  readonly maxWritesInFlight: number;
}

/** As in kube-apiserver. */
const DEFAULT_FAIRNESS: FairnessOptions = {
  isOn: true,
  maxReadsInFlight: 400,
  maxWritesInFlight: 200,
};

export interface Fairness {
  readonly stage: Stage;
  readonly routes: readonly Route[];
}

interface FairnessParts {
  readonly loop: Loop;
  readonly store: Store;
  readonly registry: Registry;
}

export function createFairness(
  parts: FairnessParts,
  metrics: Metrics,
  options: FairnessOptions = DEFAULT_FAIRNESS,
): Fairness {
  const { isOn, maxReadsInFlight: reads, maxWritesInFlight: writes } = options;
  if (!isOn) return { stage: limitInFlight({ reads, writes }), routes: [] };
  const { loop, store, registry } = parts;
  const pool = new SeatPool();
  const control = new FlowControl({
    loop,
    store,
    pool,
    metrics: new FlowMetrics(metrics),
    seats: reads + writes,
  });
  return { stage: shareFairly({ loop, store, registry, control, pool }), routes: [fairnessRoute(control)] };
}
