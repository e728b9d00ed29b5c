/** `setpoint/testing`: a loop on a virtual clock, and a checker for what a watch promises. */
export { VirtualLoop } from "../base/virtual-loop.ts";
export type { VirtualLoopOptions } from "../base/virtual-loop.ts";
export { countEvents, watchViolations } from "./watch-history.ts";
export type {
  RecordedStep,
  RecordedWatch,
  WatchHistory,
  WatchPromise,
  WatchViolation,
} from "./watch-history.ts";
