/**
 * What the agent asks of whatever runs containers: nothing at all (simulated), processes, a container engine.
 *
 * Everything is asked for and nothing is waited for: what came of it is reported, at once or later, to the listener that the runtime was made
 * with. Reports about one container come in order. A container is known by the uid of its pod and its name; one run of it at a time.
 */
import type { Container, Pod, Probe } from "../api/generated/types/core-v1.ts";

/** A container in its surroundings. */
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
      /** `Completed` or `Error` by the exit code, unless given. */
      readonly reason?: string;
      readonly message?: string;
    }
  /** Probes made from `at` on have this result, until the next report. */
  | {
      readonly type: "probed";
      readonly probe: ProbeType;
      readonly result: "success" | "failure";
      readonly at: number;
      readonly message: string;
    };

export type ReportListener = (uid: string, container: string, report: ContainerReport) => void;

/** What a container uses at the moment. */
export interface ContainerUsage {
  readonly cpuMillis: number;
  readonly memoryBytes: number;
}

export interface ContainerRuntime {
  /** As RuntimeClasses name it. */
  readonly handler: string;
  /** Whether the container can be started without pulling its image first. */
  hasImage(place: ContainerPlace): boolean;
  /** Reported as `pulled` or `pull-failed`. */
  pull(place: ContainerPlace): void;
  /** Reported as `started`, and once it is over as `exited`. `attempt` counts from 0. */
  start(place: ContainerPlace, attempt: number): void;
  /** A container that an earlier incarnation of the agent started and that runs on. */
  adopt(place: ContainerPlace, run: AdoptedRun): void;
  /**
   * Asks the container to end after `delayMs`, and kills it `graceMs` after the call. May be called again with less time. What has not been
   * started yet is given up, without a report.
   */
  stop(place: ContainerPlace, times: { readonly delayMs: number; readonly graceMs: number }): void;
  /** The probes a container has. A runtime may know of more than its spec says. */
  probeOf(place: ContainerPlace, type: ProbeType): Probe | undefined;
  /** Makes this probe from now on, and reports its result when it differs from the last one. */
  probe(place: ContainerPlace, type: ProbeType): void;
  /** The newest state of the pod: what it is to do may have changed. */
  update(node: string, pod: Pod): void;
  /** Whatever is left of the pod ends at once; nothing more is reported of it. */
  forget(uid: string): void;
  /** What the container uses; undefined while it does not run. */
  usage(place: ContainerPlace): ContainerUsage | undefined;
  /** What is wrong with what the pod says to this runtime. */
  problems(pod: Pod): readonly string[];
}

export interface AdoptedRun {
  readonly id: string;
  readonly startedAt: number;
  readonly attempt: number;
}
