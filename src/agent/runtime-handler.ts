/**
 * The contract between the agent and a runtime handler: simulated, processes, or a container engine.
 *
 * Calls return at once. The handler reports results to its listener, within the call or later; reports about one
 * container arrive in order. The pod's uid and the container's name identify a container, which has one run at a
 * time. A call for an unknown container is a no-op, unless the method says otherwise.
 */
import type { Duplex, Readable, Writable } from "node:stream";
import type { Container, Pod, Probe } from "../api/generated/types/core-v1.ts";

export interface RuntimeHandler {
  /** Handler name in RuntimeClasses, and scheme of container ids: `process://4f1c…`. */
  readonly name: string;

  /**
   * Whether containers are programs of this machine. If so, the agent gives them a resolved program with volume
   * folders, files and log paths, and reaches their addresses for probes and hooks. If not, `prober` is set.
   */
  readonly runsPrograms: boolean;

  /** Answers all probes of this handler's containers; undefined for a handler whose containers the agent probes. */
  readonly prober?: ContainerProber;

  /** Works until the signal is aborted. Containers go on running after it, unless the handler was told to end them. */
  run(signal: AbortSignal): Promise<void>;

  /**
   * Sandboxes that run already, for example after a restart of the agent. The agent asks once, before it looks at
   * pods. A sandbox whose pod no longer exists is removed.
   */
  list(): Promise<readonly FoundSandbox[]>;

  /**
   * Takes over the sandbox of a pod that has started before, with its containers in the state that the runtime
   * knows. Undefined if the runtime has no sandbox of the pod: its containers are lost. Reports follow for
   * containers that still run.
   */
  adopt(sandbox: SandboxSpec): FoundSandbox | undefined;

  /**
   * Reports `sandbox-ready` or `sandbox-failed`. The agent retries a failed sandbox with another call. A call during
   * the removal of the pod's earlier sandbox takes effect after it.
   */
  createSandbox(sandbox: SandboxSpec): void;

  /**
   * Kills all containers of the pod and removes the sandbox. Containers send no more reports. Reports
   * `sandbox-removed` once nothing of it runs and its mounts are gone, also for an unknown uid.
   */
  removeSandbox(uid: string): void;

  /** Reports `inspected`. */
  findImage(place: ContainerPlace): void;

  /** Reports `pulled` or `pull-failed`. */
  pull(place: ContainerPlace): void;

  /** Reports `started` and later `exited`, or `start-failed`. Only after `sandbox-ready`. */
  start(start: ContainerStart): void;

  /**
   * Sends the stop signal, and kills the container with all its processes `graceMs` after the call. A later call
   * may shorten the time. A container that has not started is dropped without a report.
   */
  stop(container: ContainerKey, order: StopOrder): void;

  /** Passes the newest version of the pod: labels, annotations, and granted resources. */
  update(node: string, pod: Pod): void;

  /** Runs a program beside the container's, with the same surroundings. */
  exec(container: ContainerKey, request: ExecRequest): StreamSession;

  /** Connects to the streams of the container's own program. */
  attach(container: ContainerKey, request: AttachRequest): StreamSession;

  /** Connects to a port of the pod. Rejects with a message for the client. */
  portForward(uid: string, port: number): Promise<Duplex>;

  /**
   * Connects to a port at the pod's address, for probes and hooks. Undefined if the agent reaches pod addresses
   * itself.
   */
  dial?(uid: string, port: number): Promise<Duplex>;

  /**
   * Output of a container's run as the client sees it, also after its end. Undefined for a run that the handler does
   * not know: logs of programs outlive their sandbox, and then the agent reads them. Destroying the stream ends it.
   */
  logs(place: ContainerPlace, query: LogQuery): Promise<Readable | undefined>;

  /** Resource usage of the pod's running containers. Undefined for an unknown pod. */
  usage(uid: string): Promise<PodUsage | undefined>;

  /** Mistakes in the pod's annotations for this handler; the agent shows them as Events. */
  findAnnotationProblems(pod: Pod): readonly string[];
}

/** Receives the reports of a handler. */
export interface RuntimeListener {
  /** A report about the pod with this uid. */
  sandbox(uid: string, report: SandboxReport): void;
  container(container: ContainerKey, report: ContainerReport): void;
}

/** Makes a handler whose reports go to the listener. */
export type RuntimeHandlerFactory = (listener: RuntimeListener) => RuntimeHandler;

export interface ContainerKey {
  readonly uid: string;
  readonly container: string;
}

/** A container with its pod and node. */
export interface ContainerPlace {
  readonly node: string;
  readonly pod: Pod;
  readonly container: Container;
}

/** Everything about a pod that its containers share. */
export interface SandboxSpec {
  readonly node: string;
  readonly pod: Pod;
  /** Blocks for pod addresses on this node, one for each IP family, primary first. */
  readonly podCidrs: readonly string[];
  /** Addresses of the node, one for each IP family; a pod on the host network has these. */
  readonly hostAddresses: readonly string[];
  /** Addresses in the pod's status; empty for a new pod. */
  readonly addresses: readonly string[];
  readonly hostname: string;
}

/** A sandbox that the runtime has. */
export interface FoundSandbox {
  readonly uid: string;
  readonly addresses: readonly string[];
  readonly containers: readonly FoundContainer[];
}

export interface FoundContainer {
  readonly name: string;
  readonly id: string;
  readonly imageId: string;
  readonly attempt: number;
  readonly startedAt: number;
  /** Undefined while the container runs. */
  readonly exit: ContainerExit | undefined;
}

export interface ContainerExit {
  readonly at: number;
  readonly exitCode: number;
  /** Default: `Completed` or `Error`, by the exit code. */
  readonly reason?: string;
  readonly message?: string;
  /** Shown as an Event: what went wrong, and what helps. */
  readonly advice?: string;
}

export type SandboxReport =
  | { readonly type: "sandbox-ready"; readonly addresses: readonly string[] }
  | { readonly type: "sandbox-failed"; readonly message: string }
  | { readonly type: "sandbox-removed" };

export type ContainerReport =
  /** `image` is undefined when it must be pulled first. */
  | { readonly type: "inspected"; readonly image: FoundImage | undefined }
  | {
      readonly type: "pulled";
      readonly image: FoundImage;
      readonly sizeBytes: number;
      readonly tookMs: number;
    }
  | { readonly type: "pull-failed"; readonly message: string }
  | { readonly type: "started"; readonly id: string; readonly imageId: string; readonly at: number }
  /** The container was never created, or its program could not be started. */
  | StartFailure
  | ({ readonly type: "exited" } & ContainerExit)
  /** Result of all probes from `at` until the next report; with `count`, of so many consecutive probes until now. */
  | {
      readonly type: "probed";
      readonly probe: ProbeType;
      readonly result: "success" | "failure";
      readonly at: number;
      readonly message: string;
      readonly count?: number;
    };

export interface StartFailure {
  readonly type: "start-failed";
  /**
   * `CreateContainerConfigError`: the agent could not prepare it. `CreateContainerError`: never created.
   * `RunContainerError`: the program could not be started.
   */
  readonly reason: "CreateContainerConfigError" | "CreateContainerError" | "RunContainerError";
  readonly message: string;
}

export interface FoundImage {
  readonly id: string;
  /** User of the image's configuration; undefined if it has none or is unknown. */
  readonly user?: number | string;
}

export interface ContainerStart extends ContainerPlace {
  /** Number of earlier runs. */
  readonly attempt: number;
  /** Undefined for a handler that does not run programs. */
  readonly program: Program | undefined;
}

/** A container with everything resolved: a handler reads nothing from the API. */
export interface Program {
  /** `command` and `args` of the spec, with variables expanded. An empty command means that of the image. */
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly workingDir: string | undefined;
  readonly env: ReadonlyMap<string, string>;
  readonly user: ProgramUser;
  readonly rights: ProgramRights;
  readonly mounts: readonly HostMount[];
  readonly limits: ProgramLimits;
  /** File of this run in the CRI log format; its folder exists. */
  readonly logPath: string;
  readonly stdin: boolean;
  /** Whether stdin closes after the first client that attached to it leaves. */
  readonly stdinOnce: boolean;
  readonly tty: boolean;
  /** Ports in the spec, for handlers that assign them. */
  readonly ports: readonly ProgramPort[];
}

/** Undefined ids are those of the image, or of the agent. */
export interface ProgramUser {
  readonly uid: number | undefined;
  readonly gid: number | undefined;
  readonly supplementalGroups: readonly number[];
}

/** Limits of what the program may do, from its security context. */
export interface ProgramRights {
  /** Whether the container must not run as root. */
  readonly nonRoot: boolean;
  /** Whether a program may gain more rights than its parent, for example by a set-user-ID bit. */
  readonly mayGainPrivileges: boolean;
  /** Names as in `NET_ADMIN`, or `ALL`. Added ones win. */
  readonly addedCapabilities: readonly string[];
  readonly droppedCapabilities: readonly string[];
  readonly hasReadOnlyRoot: boolean;
  /** Profiles of the machine that confine the program, as in `seccompProfile: audit.json`. */
  readonly profiles: readonly string[];
}

/** A file or folder of the machine that the container sees at a path. */
export interface HostMount {
  /** Name of the volume; undefined for the agent's own files, for example `/etc/hosts`. */
  readonly volume: string | undefined;
  readonly hostPath: string;
  /** Device and inode of the checked file or folder, as in `41:77`; another one at the path is refused. Default: any. */
  readonly identity?: string | undefined;
  readonly containerPath: string;
  readonly readOnly: boolean;
  readonly propagation: "None" | "HostToContainer" | "Bidirectional";
}

/** Undefined for no limit. */
export interface ProgramLimits {
  /** Share of a CPU under contention, from the request. */
  readonly cpuRequestMillis: number | undefined;
  readonly cpuLimitMillis: number | undefined;
  readonly memoryLimitBytes: number | undefined;
}

export interface ProgramPort {
  readonly name: string | undefined;
  readonly containerPort: number;
  readonly hostPort: number | undefined;
  readonly protocol: "TCP" | "UDP" | "SCTP";
}

export interface StopOrder {
  /** For example `SIGTERM`. Undefined for that of the image. */
  readonly signal: string | undefined;
  readonly graceMs: number;
}

export interface AttachRequest {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

export interface ExecRequest extends AttachRequest {
  readonly command: readonly string[];
}

/** A stream that was not requested is undefined; with a terminal, stderr is part of stdout. */
export interface StreamSession {
  /** Its end closes the program's stdin. */
  readonly stdin: Writable | undefined;
  readonly stdout: Readable | undefined;
  readonly stderr: Readable | undefined;
  /** Size of the terminal. */
  resize(size: { readonly columns: number; readonly rows: number }): void;
  /** Settles after the last output. Never rejects. */
  readonly ended: Promise<SessionEnd>;
  /** Kills the program of an exec; leaves the program of an attach running. */
  close(): void;
}

export type SessionEnd =
  | { readonly type: "exited"; readonly exitCode: number }
  /** For example an unknown program, or a container that does not run. */
  | { readonly type: "failed"; readonly message: string };

/** Which run's log, and what of it. */
export interface LogQuery extends LogView {
  /** Number of earlier runs of the container. Undefined for the newest that the handler knows. */
  readonly attempt: number | undefined;
}

/** Options of `kubectl logs`. */
export interface LogView {
  readonly follow: boolean;
  readonly timestamps: boolean;
  readonly tailLines: number | undefined;
  readonly sinceMs: number | undefined;
  readonly limitBytes: number | undefined;
  readonly stream: "All" | "Stdout" | "Stderr";
}

export interface PodUsage {
  readonly at: number;
  readonly containers: readonly ContainerUsage[];
}

/** Resource usage of a running container. */
export interface ContainerUsage {
  readonly name: string;
  readonly startedAt: number;
  readonly cpuMillis: number;
  /** CPU time since the start, in seconds. */
  readonly cpuSeconds: number;
  /** Working set. */
  readonly memoryBytes: number;
}

export type ProbeType = "startup" | "readiness" | "liveness";

/** Runs the probes of containers. */
export interface ContainerProber {
  /** The probe to run. A prober may add probes that the spec lacks. */
  probeOf(place: ContainerPlace, type: ProbeType): Probe | undefined;
  /**
   * Runs the probe until the container ends, and reports each result that differs from the last one. A second call
   * for a container means a new run.
   */
  probe(place: ContainerPlace, type: ProbeType): void;
}
