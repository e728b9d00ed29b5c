/** The surroundings of an API server: the same type from the command line down to the server. */
import type { Log } from "../base/log/log.ts";
import type { Loop } from "../base/loop/loop.ts";
import type { Metrics } from "../base/metrics/metrics.ts";
import type { Store } from "../store/store.ts";

export interface Surroundings {
  readonly loop: Loop;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly store: Store;
}
