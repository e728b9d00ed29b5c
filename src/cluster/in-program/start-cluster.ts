/**
 * Runs a whole cluster inside a program: in memory unless configured otherwise, on the machine's clock or a virtual
 * one. It opens no socket until `kubeconfig` is called. Clusters share no state, only the schemas of built-in kinds.
 */
import { setMaxListeners } from "node:events";
import type { NodeShape } from "../../agent/simulated/node-shape.ts";
import type { StaticPods } from "../../agent/static/static-pod.ts";
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import { CustomResourceDefinition } from "../../api/generated/types/apiextensions-v1.ts";
import type { CustomResourceDefinitionCondition } from "../../api/generated/types/apiextensions-v1.ts";
import { parseDuration } from "../../api/values/time.ts";
import { silentLog } from "../../base/log/log.ts";
import type { Log } from "../../base/log/log.ts";
import { teeLog } from "../../base/log/tee-log.ts";
import { untilAborted } from "../../base/loop/until-aborted.ts";
import { createMetrics } from "../../base/metrics/prom-metrics.ts";
import { createClient } from "../../client/api-client.ts";
import type { Client } from "../../client/client.ts";
import type { Controller } from "../../runtime/controller/controller.ts";
import type { PassRecord } from "../../runtime/controller/pass-result.ts";
import type { DefinedResource } from "../../runtime/kinds/resource-definition.ts";
import { refuseDuplicateNames } from "../../runtime/manager/loop-names.ts";
import type { Routine } from "../../runtime/manager/routine.ts";
import type { AdmissionOptions } from "../../server/admission/plugins.ts";
import { makeTokenKeys } from "../../server/pki/token-keys.ts";
import { DEFAULT_NETWORK } from "../../server/write/companions/network-options.ts";
import { openFileStore } from "../../store/file-store.ts";
import { MemoryStore, openMemoryStore } from "../../store/memory-store.ts";
import type { Store } from "../../store/store.ts";
import { ControlPlane, type ProgramLoops } from "../control-plane/control-plane.ts";
import { LocalKubelets } from "../control-plane/local-kubelets.ts";
import { simulatedUsageSource } from "../control-plane/simulated-usage.ts";
import { servedVersions } from "../files/runtime-config.ts";
import { componentOf, type LogComponent } from "../logs/component-logs.ts";
import { componentPods } from "../logs/component-pods.ts";
import { MemoryLogs } from "../logs/memory-logs.ts";
import { FIRST_NODE, NODES, builtInGroups, nodeLoops, unleased } from "../loops/loops.ts";
import type { LoopChoice, LoopGroup } from "../loops/loops.ts";
import { admissionForLoops } from "../loops/needed-loops.ts";
import { openEndpoint } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { LastPasses } from "./last-passes.ts";
import { RealTimePump } from "./real-time-pump.ts";
import { RecentWarnings } from "./recent-warnings.ts";
import { RealTime, VirtualTime } from "./time-source.ts";
import type { TimeSource } from "./time-source.ts";

/** Options of `startCluster`; all are optional. */
export interface StartOptions {
  /** Default `"memory"`. `{ dir }` keeps the state in a folder; such a cluster needs the real clock and cannot be forked. */
  readonly store?: "memory" | { readonly dir: string };
  /**
   * Default `"real"`. With `"virtual"`, time advances only while the program awaits a call; the same seed gives the
   * same trace.
   */
  readonly clock?: "real" | "virtual";
  /** Seed of all random choices of a virtual clock; default 1. */
  readonly seed?: number;
  /** Log of the server and the loops; default none. */
  readonly log?: Log;
  /** Built-in loops to run: `"all"`, `"none"` or their names; default `"all"`. */
  readonly loops?: LoopChoice;
  /** Number of simulated nodes; default 3 with all loops, otherwise 0. */
  readonly nodes?: number;
  /**
   * Capacity and labels of the simulated nodes, assigned in turn: `[{ capacity: { cpu: "4" }, labels: { zone: "a" } }]`.
   * Default: eight cores, 32 GiB of memory, no labels.
   */
  readonly nodeShapes?: readonly NodeShape[];
  /**
   * Whether the control plane's own parts appear as pods in `kube-system`, with the newest 1,000 messages of each as
   * logs. Default: they do not.
   */
  readonly controlPlanePods?: boolean;
  /** Custom kinds of the program (`defineResource`), served before its controllers start. */
  readonly kinds?: readonly DefinedResource<ApiObject>[];
  /** Controllers of the program, run beside the built-in loops. */
  readonly controllers?: readonly Controller[];
  /** Long-running tasks of the program, run beside the built-in loops. */
  readonly routines?: readonly Routine[];
  /** Group versions to turn on or off, `{ "api/all": true }`; default: the stable ones. */
  readonly runtimeConfig?: Readonly<Record<string, boolean>>;
  /** Admission plugins to turn on or off. Plugins whose built-in loop does not run are always off. */
  readonly admission?: AdmissionOptions;
}

/** Options of `Cluster.settle`. */
export interface SettleOptions {
  /** Upper bound of virtual time. Default: 10 minutes. */
  readonly within?: Duration;
  /** Whether controllers of the program may have given up with a `TerminalError`. Default: `refused`. */
  readonly terminalFailures?: "refused" | "expected";
}

/** Number of milliseconds, or a duration such as `30m` or `1h30m`. */
export type Duration = number | string;

/** Default bound of `settle`, in virtual time: covers every back-off and grace period of a healthy cluster. */
const SETTLE_WITHIN: Duration = "10m";
/** Default bound of `until`, by the cluster's clock. */
const UNTIL_WITHIN: Duration = "10s";

/** Advertised to clients within the cluster. No socket listens there until `kubeconfig` is called. */
const ADDRESS = { host: "127.0.0.1", port: 6443, machineAddresses: [] };

const ADMIN = { user: "kubernetes-admin", groups: ["system:masters"] };

/** Starts a cluster in this process; resolves when its API serves requests and `kinds` are established. */
export async function startCluster(options: StartOptions = {}): Promise<Cluster> {
  refuseDuplicateNames(options);
  const time = options.clock === "virtual" ? new VirtualTime({ seed: options.seed ?? 1 }) : new RealTime();
  return Cluster.open({ options, time, store: await openStoreFor(options, time) });
}

async function openStoreFor({ store = "memory", log }: StartOptions, time: TimeSource): Promise<Store> {
  const loop = time.loop.child("store");
  if (store === "memory") return openMemoryStore({ loop });
  if (time.isVirtual)
    throw new Error('a store on disk needs the machine\'s clock: leave { clock: "virtual" } out');
  return await openFileStore({ dir: store.dir, loop, ...(log !== undefined && { log }) });
}

interface Program {
  readonly lastPasses: LastPasses;
  readonly loops: ProgramLoops;
}

interface Parts {
  readonly options: StartOptions;
  readonly time: TimeSource;
  readonly store: Store;
}

/** A running cluster. `await using` stops it at the end of the block. */
export class Cluster implements AsyncDisposable {
  /** Client with all rights. */
  readonly client: Client;
  /** Clock of the cluster: the machine's or a virtual one. */
  readonly clock: ClusterClock;
  readonly #parts: Parts;
  readonly #warnings: RecentWarnings;
  readonly #plane: ControlPlane;
  readonly #kubelets: LocalKubelets;
  /** Undefined without pods of the control plane. */
  readonly #logs: MemoryLogs | undefined;
  readonly #ending = new AbortController();
  /** Runs of the components, which end when the cluster is stopped. */
  readonly #running: Promise<void>[] = [];
  #endpoint: Promise<Endpoint> | undefined;
  #pumping: Promise<void> = Promise.resolve();
  /** Groups of the program's controllers that run. */
  readonly #programs = new Set<Program>();
  /** `settle` has already reported why the cluster does not settle. */
  #isTold = false;

  private constructor(parts: Parts) {
    const { time, store, options } = parts;
    const now = (): number => time.loop.now();
    this.#warnings = new RecentWarnings(options.log?.withClock?.(now) ?? options.log ?? silentLog);
    this.#parts = parts;
    // Each group of loops adds a listener.
    setMaxListeners(0, this.#ending.signal);
    const metrics = createMetrics();
    this.#logs = options.controlPlanePods === true ? new MemoryLogs(now) : undefined;
    this.#kubelets = new LocalKubelets({ loop: time.loop, log: this.#logOf("kubelet"), metrics });
    this.#plane = new ControlPlane({
      surroundings: { loop: time.loop, log: this.#logOf("kube-apiserver"), metrics, store },
      server: {
        tokenKeys: makeTokenKeys,
        isServed: servedVersions(options.runtimeConfig ?? {}),
        nodes: { local: this.#kubelets.nodes },
        usage: countNodes(options) > 0 ? simulatedUsageSource : undefined,
        admission: admissionForLoops(options.loops ?? "all", options.admission),
      },
      freezes: time.isVirtual,
    });
    const loop = time.loop.child("client");
    const transport = time.outsider(this.#plane.transport(ADMIN, loop));
    this.client = createClient(transport, { loop: time.outsiderLoop(loop) });
    this.clock = {
      now,
      advance: (by) => time.advance(millisecondsOf(by)),
    };
  }

  /** For `startCluster` and `fork` only. */
  static async open(parts: Parts): Promise<Cluster> {
    const cluster = new Cluster(parts);
    try {
      await parts.time.drive(cluster.#plane.settle(ADDRESS));
      cluster.#keep(cluster.#plane.run(cluster.#ending.signal));
      const { loops = "all", kinds = [], controllers = [], routines = [] } = parts.options;
      await cluster.#serve(kinds);
      const nodes = countNodes(parts.options);
      const { controllers: workers, scheduler } = builtInGroups(loops);
      // No other instance runs in this cluster, so the loops need no lease.
      const builtIn = {
        controllers: unleased(workers),
        scheduler: unleased(scheduler),
        nodes: nodes === 0 ? {} : cluster.#nodeLoops(nodes),
      };
      const logOf = (group: string): Log => cluster.#logOf(componentOf(group));
      cluster.#later(() => {
        cluster.#keep(cluster.#plane.runBuiltIn(builtIn, cluster.#ending.signal, { logOf }));
        if (controllers.length + routines.length > 0) cluster.run({ controllers, routines });
      });
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  #nodeLoops(nodes: number): LoopGroup {
    return nodeLoops(nodes, {
      // This cluster has no CA certificate for pods.
      ...{ hasRootCa: false, shapes: this.#parts.options.nodeShapes, statics: this.#ownPods() },
      serve: (node) => this.#kubelets.serve(node),
    });
  }

  #logOf(component: LogComponent): Log {
    const { log } = this.#warnings;
    return this.#logs === undefined ? log : teeLog(log, this.#logs.of(component));
  }

  #ownPods(): StaticPods | undefined {
    const logs = this.#logs;
    if (logs === undefined) return undefined;
    const loop = this.#parts.time.loop.child("components");
    return componentPods({
      node: FIRST_NODE,
      loop,
      readLog: (component, query) => logs.read(component, query),
    });
  }

  /** Starts the loops one step later, so that the caller's first request does not wait while all caches fill. */
  #later(begin: () => void): void {
    const { loop } = this.#parts.time;
    const timer = loop.timer(loop.now() + 1, "progress", begin);
    this.#ending.signal.addEventListener("abort", () => timer.cancel(), { once: true });
  }

  async #serve(kinds: readonly DefinedResource<ApiObject>[]): Promise<void> {
    if (kinds.length === 0) return;
    await Promise.all(kinds.map(({ definition }) => this.client.apply(definition)));
    const names = new Set(kinds.map(({ definition }) => definition.metadata.name));
    const isEstablished = ({ type, status }: CustomResourceDefinitionCondition): boolean =>
      type === "Established" && status === "True";
    const isServed = ({ metadata, status }: CustomResourceDefinition): boolean =>
      !names.has(metadata.name) || status?.conditions?.some(isEstablished) === true;
    await this.until(() => this.objects(CustomResourceDefinition).every(isServed));
  }

  /**
   * Runs the cluster until it is idle: no step, request, retry, back-off or grace period is left. Periodic work
   * (resync, heartbeats) runs meanwhile and does not count. Rejects after `within` of virtual time (default 10 minutes)
   * and names the busy loops; the last error that they logged is the `cause`. Rejects also when a controller of the
   * program gave up with a `TerminalError`, or waits for a kind or a permission, unless that is expected. Virtual
   * clocks only.
   */
  async settle({ within = SETTLE_WITHIN, terminalFailures = "refused" }: SettleOptions = {}): Promise<void> {
    try {
      await this.#parts.time.settle({
        limitMs: millisecondsOf(within),
        why: () => this.#why(),
        cause: () => this.#warnings.error,
      });
    } catch (error) {
      this.#isTold = true;
      throw error;
    }
    if (terminalFailures === "expected") return;
    for (const { lastPasses, loops } of this.#programs) {
      const givenUp = lastPasses.findGivenUp();
      if (givenUp !== undefined) throw givenUp;
      const reason = loops.health();
      if (reason !== undefined) throw new Error(`a loop cannot go on: ${reason}`);
    }
  }

  /**
   * Waits until the predicate holds; evaluates it after each change, and from time to time. Rejects after `within` on the cluster's clock
   * (default 10 seconds).
   */
  until(
    predicate: () => boolean,
    { within = UNTIL_WITHIN }: { readonly within?: Duration } = {},
  ): Promise<void> {
    const { time, store } = this.#parts;
    const bounds = { limitMs: millisecondsOf(within), why: () => this.#why() };
    return time.until(predicate, (listener) => onChange(store, listener), bounds);
  }

  #why(): string {
    const warnings = String(this.#warnings);
    const rechecks = [...this.#programs].map(({ lastPasses }) => lastPasses.rechecksText()).join("");
    return warnings === "" ? rechecks : `${rechecks}; last warnings: ${warnings}`;
  }

  /**
   * Runs more controllers and routines as a separate program, until they or the cluster are stopped. `name` appears in
   * logs and metrics.
   */
  run(group: LoopGroup, name = "operator"): RunningLoops {
    refuseDuplicateNames(group);
    const { time } = this.#parts;
    const loop = time.loop.child(name);
    const lastPasses = new LastPasses();
    const ending = new AbortController();
    const cut = new AbortController();
    const killed = untilAborted(cut.signal);
    const end = (): void => ending.abort();
    this.#ending.signal.addEventListener("abort", end, { once: true });
    const onPass = (pass: PassRecord): void => lastPasses.note(pass);
    const loops = this.#plane.runLoops(group, { loop, signal: ending.signal, cut: cut.signal, onPass });
    const program = { lastPasses, loops };
    this.#programs.add(program);
    const ended = loops.ended.finally(() => {
      this.#ending.signal.removeEventListener("abort", end);
      this.#programs.delete(program);
    });
    // Nothing waits for a killed program: its passes may never end.
    this.#keep(Promise.race([ended, killed]));
    return {
      stop: async () => {
        ending.abort();
        const stuck = await time.end(ended);
        if (stuck !== undefined) throw stuck;
        await ended;
      },
      kill: () => {
        cut.abort();
        ending.abort();
        time.abandon(loop);
        this.#programs.delete(program);
      },
    };
  }

  /** Keeps the run, so that `stop` rejects with its error. */
  #keep(running: Promise<void>): void {
    this.#running.push(running);
    running.catch(() => undefined);
  }

  /** Objects that are stored now, ordered by namespace and name; all namespaces unless `namespace` is given. */
  objects<T extends ApiObject>(type: ResourceType<T>, namespace = ""): readonly T[] {
    return this.#plane.objects(type, namespace) as readonly T[];
  }

  /**
   * Returns an independent cluster that continues from this one's state and time. Its loops are new and learn
   * everything from the API, as after a crash. Needs a store in memory.
   */
  async fork(): Promise<Cluster> {
    const { time, store, options } = this.#parts;
    if (!(store instanceof MemoryStore))
      throw new Error("only a cluster whose store is in memory can be forked");
    if (time.isVirtual) await this.settle({ terminalFailures: "expected" });
    const forked = time.fork(store.view.revision);
    return Cluster.open({ options, time: forked, store: store.fork(forked.loop.child("store")) });
  }

  /**
   * Opens a real HTTPS endpoint on the first call and returns the path of its kubeconfig, for kubectl or an operator in
   * any language. From then on a virtual clock follows the machine's, and the same seed no longer gives the same trace.
   */
  async kubeconfig(): Promise<string> {
    this.#endpoint ??= this.#openEndpoint();
    return (await this.#endpoint).kubeconfig;
  }

  async #openEndpoint(): Promise<Endpoint> {
    const { time, options } = this.#parts;
    const log = options.log ?? silentLog;
    const endpoint = await openEndpoint({
      handler: this.#plane.handler,
      log,
      serviceCidrs: DEFAULT_NETWORK.serviceCidrs,
    });
    if (time.isVirtual) {
      time.letOutsideIn();
      const pump = new RealTimePump((ms) => time.advance(ms));
      this.#pumping = pump.run(this.#ending.signal);
      this.#pumping.catch(() => undefined);
    }
    return endpoint;
  }

  /**
   * Stops the cluster: afterwards it has no timer, socket or open file. Rejects with the error of a loop that failed.
   * Also rejects for a loop that cannot end, unless `settle` has already reported it: in an `await using` block the
   * first error counts.
   */
  async stop(): Promise<void> {
    const { time, store } = this.#parts;
    this.#ending.abort();
    await Promise.allSettled([this.#pumping]);
    await (await this.#endpoint)?.close();
    this.#kubelets.close();
    const stuck = await time.end(Promise.allSettled(this.#running));
    await time.drive(store.close());
    await time.rest();
    if (stuck === undefined) await Promise.all([...this.#running, this.#pumping]);
    else if (!this.#isTold) throw stuck;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

function countNodes({ loops = "all", nodes = loops === "all" ? NODES : 0 }: StartOptions): number {
  return nodes;
}

/** Calls the listener after each change, until the returned function is called or the store is closed. */
function onChange(store: Store, listener: () => void): () => void {
  const watch = store.watch({ prefix: "", after: store.view.revision, lane: "background" });
  const follow = async (): Promise<void> => {
    for await (const { events } of watch) if (events.length > 0) listener();
  };
  follow().catch(listener);
  return () => watch.close();
}

/** Loops started with `Cluster.run`. */
export interface RunningLoops {
  /** Stops the loops and resolves when all have ended. They can be run again, as after a restart. */
  stop(): Promise<void>;
  /** Cuts the loops off like kill -9: they send no further request and do not release their lease. */
  kill(): void;
}

/** Clock of a cluster. */
export interface ClusterClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs everything that is due within `by`, in order, and then moves the clock exactly that far. Virtual clocks only. */
  advance(by: Duration): Promise<void>;
}

function millisecondsOf(duration: Duration): number {
  return typeof duration === "number" ? duration : Number(parseDuration(duration) / 1_000_000n);
}
