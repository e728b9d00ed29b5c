/** `setpoint`: a whole cluster inside a program. */
export { startCluster } from "./cluster/in-program/start-cluster.ts";
export type {
  Cluster,
  ClusterClock,
  Duration,
  RunningLoops,
  StartOptions,
} from "./cluster/in-program/start-cluster.ts";
export type { LoopChoice, LoopGroup } from "./cluster/loops/loops.ts";
export { KUBERNETES_VERSION, VERSION } from "./cluster/process/version.ts";
