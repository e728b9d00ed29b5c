/** `setpoint/testing`: a cluster in a test, a loop on a virtual clock, and a checker for the promises of watches. */
export { VirtualLoop } from "../base/loop/virtual/virtual-loop.ts";
export type { RunBounds, VirtualLoopOptions } from "../base/loop/virtual/virtual-loop.ts";
export { startCluster } from "../cluster/in-program/start-cluster.ts";
export type {
  Cluster,
  ClusterClock,
  Duration,
  RunningLoops,
  StartOptions,
} from "../cluster/in-program/start-cluster.ts";
export { countEvents, watchViolations } from "./watch-history.ts";
export type {
  RecordedStep,
  RecordedWatch,
  WatchHistory,
  WatchPromise,
  WatchViolation,
} from "./watch-history.ts";
