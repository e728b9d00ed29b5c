/**
 * The interface between the agent and a container runtime: simulated, processes, or a container engine.
 *
 * Calls return at once. The runtime reports results to its listener, immediately or later. Reports about one
 * container arrive in order. The uid of the pod and the container's name identify a container. A container
 * has one run at a time.
 */
import type { Container, Pod, Probe } from "../api/generated/types/core-v1.ts";
import type { RuntimeHandlerFactory } from "./runtime-handler.ts";

/** A container with its pod and node. */
export interface ContainerPlace {
  readonly node: string;
  readonly pod: Pod;
  readonly container: Container;
}

export type ProbeType = "startup" | "readiness" | "liveness";

export type ContainerReport =
  | {
      readonly type: "pulled";
      readonly imageId: string;
      readonly sizeBytes: number;
      readonly tookMs: number;
    }
  | { readonly type: "pull-failed"; readonly message: string }
  | { readonly type: "started"; readonly id: string; readonly imageId: string; readonly at: number }
  | {
      readonly type: "exited";
      readonly at: number;
      readonly exitCode: number;
      /** Default: `Completed` or `Error`, by the exit code. */
      readonly reason?: string;
      readonly message?: string;
    }
  /** Result of all probes from `at` until the next report. */
  | {
      readonly type: "probed";
      readonly probe: ProbeType;
      readonly result: "success" | "failure";
      readonly at: number;
      readonly message: string;
    };

export type ReportListener = (uid: string, container: string, report: ContainerReport) => void;

/** Current resource usage of a container. */
export interface ContainerUsage {
  readonly cpuMillis: number;
  readonly memoryBytes: number;
}

export interface ContainerRuntime {
  /** Handler name in RuntimeClasses. */
  readonly handler: ReturnType<RuntimeHandlerFactory>["name"];
  /** Whether the container can start without a pull of its image. */
  hasImage(place: ContainerPlace): boolean;
  /** Reports `pulled` or `pull-failed`. */
  pull(place: ContainerPlace): void;
  /** Reports `started`, and `exited` at the end. `attempt` counts from 0. */
  start(place: ContainerPlace, attempt: number): void;
  /** Takes over a running container that an earlier agent process started. */
  adopt(place: ContainerPlace, run: AdoptedRun): void;
  /**
   * Asks the container to end after `delayMs`, and kills it `graceMs` after the call. A later call may
   * shorten the times. A container that has not started is dropped without a report.
   */
  stop(place: ContainerPlace, times: { readonly delayMs: number; readonly graceMs: number }): void;
  /** Probe of a container. A runtime may add probes that the spec lacks. */
  probeOf(place: ContainerPlace, type: ProbeType): Probe | undefined;
  /** Starts the probe. Reports each result that differs from the last one. */
  probe(place: ContainerPlace, type: ProbeType): void;
  /** Passes the newest version of the pod to the runtime. */
  update(node: string, pod: Pod): void;
  /** Kills all containers of the pod and drops them without reports. */
  forget(uid: string): void;
  /** Undefined while the container does not run. */
  usage(place: ContainerPlace): ContainerUsage | undefined;
  /** Errors in the pod's annotations for this runtime. */
  problems(pod: Pod): readonly string[];
}

export interface AdoptedRun {
  readonly id: string;
  readonly startedAt: number;
  readonly attempt: number;
}
