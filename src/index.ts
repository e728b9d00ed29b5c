/** `setpoint`: a whole cluster inside a program. */
export { startCluster } from "./cluster/start-cluster.ts";
export type { Cluster, ClusterClock, Duration, RunningLoops, StartOptions } from "./cluster/start-cluster.ts";
export type { LoopChoice, LoopGroup } from "./cluster/loops.ts";
export { KUBERNETES_VERSION, VERSION } from "./cluster/version.ts";
