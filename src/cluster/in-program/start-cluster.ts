/**
 * A whole cluster inside a program: in memory unless told otherwise, without sockets until somebody asks for a kubeconfig, on the
 * machine's clock or on a virtual one. Clusters share nothing but the structures of built-in kinds.
 */
import { setMaxListeners } from "node:events";
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import { CustomResourceDefinition } from "../../api/generated/types/apiextensions-v1.ts";
import type { CustomResourceDefinitionCondition } from "../../api/generated/types/apiextensions-v1.ts";
import { parseDuration } from "../../api/values/time.ts";
import { silentLog } from "../../base/log/log.ts";
import type { Log } from "../../base/log/log.ts";
import { createMetrics } from "../../base/metrics/prom-metrics.ts";
import { createClient } from "../../client/api-client.ts";
import type { Client } from "../../client/client.ts";
import type { Controller } from "../../runtime/controller/controller.ts";
import type { DefinedResource } from "../../runtime/kinds/resource-definition.ts";
import type { Routine } from "../../runtime/manager/routine.ts";
import type { AdmissionOptions } from "../../server/admission/plugins.ts";
import { makeTokenKeys } from "../../server/pki/token-keys.ts";
import { openFileStore } from "../../store/file-store.ts";
import { MemoryStore, openMemoryStore } from "../../store/memory-store.ts";
import type { Store } from "../../store/store.ts";
import { ControlPlane } from "../control-plane/control-plane.ts";
import { simulatedUsageSource } from "../control-plane/simulated-usage.ts";
import { NODES, builtInGroups, nodeLoops, unleased } from "../loops/loops.ts";
import type { LoopChoice, LoopGroup } from "../loops/loops.ts";
import { admissionBeside } from "../loops/needed-loops.ts";
import { Complaints } from "./complaints.ts";
import { openEndpoint } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { RealTimePump } from "./real-time-pump.ts";
import { RealWorld, VirtualWorld } from "./world.ts";
import type { World } from "./world.ts";

export interface StartOptions {
  /** In memory unless given; `{ dir }` keeps everything in a folder, on the machine's clock, and cannot be forked. */
  readonly store?: "memory" | { readonly dir: string };
  /** `virtual`: time stands still until somebody waits, and the same seed gives the same trace. */
  readonly clock?: "real" | "virtual";
  /** Of a virtual clock. */
  readonly seed?: number;
  readonly log?: Log;
  /** Which of the built-in loops run; all unless given. */
  readonly loops?: LoopChoice;
  /** How many simulated nodes there are; 3 beside all loops, none beside a choice of them, unless given. */
  readonly nodes?: number;
  /** Kinds of the program (`defineResource`), served before its loops begin. */
  readonly kinds?: readonly DefinedResource<ApiObject>[];
  /** Loops of the program that run beside them. */
  readonly controllers?: readonly Controller[];
  readonly routines?: readonly Routine[];
  /** Which group versions are served beyond the stable ones, or not: `{ "api/all": true }`. */
  readonly runtimeConfig?: Readonly<Record<string, boolean>>;
  /** Which admission plugins take no part, besides those whose loops do not run. */
  readonly admission?: AdmissionOptions;
}

/** A number of milliseconds, or a duration such as `30m` or `1h30m`. */
export type Duration = number | string;

/** Long enough for every back-off and grace period of a healthy cluster. */
const SETTLE_WITHIN: Duration = "10m";
/** Of real time, when somebody waits for a predicate. */
const UNTIL_WITHIN: Duration = "10s";

/** Told to clients within the cluster; nobody listens there until `kubeconfig` is called. */
const ADDRESS = { host: "127.0.0.1", port: 6443, machineAddresses: [] };

const SERVICE_CIDR = "10.96.0.0/12";

const ADMIN = { user: "kubernetes-admin", groups: ["system:masters"] };

export async function startCluster(options: StartOptions = {}): Promise<Cluster> {
  const world = options.clock === "virtual" ? new VirtualWorld({ seed: options.seed ?? 1 }) : new RealWorld();
  return Cluster.open({ options, world, store: await openStoreFor(options, world) });
}

async function openStoreFor({ store = "memory", log }: StartOptions, world: World): Promise<Store> {
  const loop = world.loop.child("store");
  if (store === "memory") return openMemoryStore({ loop });
  if (world.isVirtual)
    throw new Error('a store on disk needs the machine\'s clock: leave { clock: "virtual" } out');
  return await openFileStore({ dir: store.dir, loop, ...(log !== undefined && { log }) });
}

interface Parts {
  readonly options: StartOptions;
  readonly world: World;
  readonly store: Store;
}

export class Cluster implements AsyncDisposable {
  readonly client: Client;
  readonly clock: ClusterClock;
  readonly #parts: Parts;
  readonly #complaints: Complaints;
  readonly #plane: ControlPlane;
  readonly #ending = new AbortController();
  /** Everything that goes on until the cluster is stopped. */
  readonly #running: Promise<void>[] = [];
  #endpoint: Promise<Endpoint> | undefined;
  #pumping: Promise<void> = Promise.resolve();
  /** Somebody was told why the cluster does not come to rest. */
  #isTold = false;

  private constructor(parts: Parts) {
    const { world, store, options } = parts;
    this.#complaints = new Complaints(options.log ?? silentLog);
    const { log } = this.#complaints;
    this.#parts = parts;
    // Each group of loops listens to it.
    setMaxListeners(0, this.#ending.signal);
    this.#plane = new ControlPlane({
      loop: world.loop,
      log,
      metrics: createMetrics(),
      store,
      isStoreShared: false,
      tokenKeys: makeTokenKeys,
      runtimeConfig: options.runtimeConfig ?? {},
      serviceCidrs: [SERVICE_CIDR],
      nodePorts: { first: 30_000, last: 32_767 },
      usage: countNodes(options) > 0 ? simulatedUsageSource : undefined,
      admission: admissionBeside(options.loops ?? "all", options.admission),
      freezes: world.isVirtual,
    });
    const loop = world.loop.child("client");
    const transport = world.outsider(this.#plane.transport(ADMIN, loop));
    this.client = createClient(transport, { loop: world.outsiderLoop(loop) });
    this.clock = {
      now: () => world.loop.now(),
      advance: (by) => world.advance(millisecondsOf(by)),
    };
  }

  /** Only `startCluster` and `fork` make clusters. */
  static async open(parts: Parts): Promise<Cluster> {
    const cluster = new Cluster(parts);
    try {
      await parts.world.drive(cluster.#plane.settle(ADDRESS));
      cluster.#keep(cluster.#plane.run(cluster.#ending.signal));
      const { loops = "all", kinds = [], controllers = [], routines = [] } = parts.options;
      await cluster.#serve(kinds);
      const nodes = countNodes(parts.options);
      const { controllers: workers, scheduler } = builtInGroups(loops);
      // Nobody else works in this cluster, so nobody waits for a lease.
      const builtIn = {
        controllers: unleased(workers),
        scheduler: unleased(scheduler),
        // There is no certificate that pods could be told of.
        nodes: nodeLoops(nodes, { hasRootCa: false }),
      };
      cluster.#later(() => {
        cluster.#keep(cluster.#plane.runBuiltIn(builtIn, cluster.#ending.signal));
        if (controllers.length + routines.length > 0) cluster.run({ controllers, routines });
      });
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  /** Loops begin after whoever opened the cluster had a chance to ask: the first answer does not wait for all of them to fill their caches. */
  #later(begin: () => void): void {
    const { loop } = this.#parts.world;
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
   * Runs the world until nothing is left to do: no step, no request, no back-off, no grace period; what comes again for ever (resync,
   * heartbeats) runs on the way and is not waited for. Rejects when that takes longer than `within` of virtual time, and says who is busy.
   */
  async settle({ within = SETTLE_WITHIN }: { readonly within?: Duration } = {}): Promise<void> {
    try {
      await this.#parts.world.settle({ limitMs: millisecondsOf(within), why: () => this.#why() });
    } catch (error) {
      this.#isTold = true;
      throw error;
    }
  }

  /** Waits until the predicate holds; it is asked after each change. */
  until(
    predicate: () => boolean,
    { within = UNTIL_WITHIN }: { readonly within?: Duration } = {},
  ): Promise<void> {
    const { world, store } = this.#parts;
    const bounds = { limitMs: millisecondsOf(within), why: () => this.#why() };
    return world.until(predicate, (listener) => onChange(store, listener), bounds);
  }

  #why(): string {
    const complaints = String(this.#complaints);
    return complaints === "" ? "" : `; last warnings: ${complaints}`;
  }

  /** Runs loops beside the cluster's own, as one program of its own: until they or the cluster are stopped. */
  run(group: LoopGroup, name = "operator"): RunningLoops {
    const ending = new AbortController();
    const cut = new AbortController();
    const end = (): void => ending.abort();
    this.#ending.signal.addEventListener("abort", end, { once: true });
    const ended = this.#plane
      .runLoops(name, group, { signal: ending.signal, cut: cut.signal })
      .finally(() => this.#ending.signal.removeEventListener("abort", end));
    this.#keep(ended);
    return {
      stop: async () => {
        ending.abort();
        const stuck = await this.#parts.world.end(ended);
        if (stuck !== undefined) throw stuck;
        await ended;
      },
      kill: () => {
        cut.abort();
        ending.abort();
      },
    };
  }

  /** Whoever stops the cluster hears of what went wrong. */
  #keep(running: Promise<void>): void {
    this.#running.push(running);
    running.catch(() => undefined);
  }

  /** What is stored at this moment, in order of namespace and name. */
  objects<T extends ApiObject>(type: ResourceType<T>, namespace = ""): readonly T[] {
    return this.#plane.objects(type, namespace) as readonly T[];
  }

  /**
   * A cluster of its own that goes on from this one's state and time. It shares what is stored, and no loop: its loops are new
   * and learn everything from the API, as after a crash.
   */
  async fork(): Promise<Cluster> {
    const { world, store, options } = this.#parts;
    if (!(store instanceof MemoryStore))
      throw new Error("only a cluster whose store is in memory can be forked");
    if (world.isVirtual) await this.settle();
    const forked = world.fork(store.view.revision);
    return Cluster.open({ options, world: forked, store: store.fork(forked.loop.child("store")) });
  }

  /**
   * Opens a real HTTPS endpoint, once, and answers the path of a kubeconfig for it: for kubectl, or an operator in any language. A
   * virtual clock follows the machine's from then on, and the same seed no longer gives the same trace.
   */
  async kubeconfig(): Promise<string> {
    this.#endpoint ??= this.#openEndpoint();
    return (await this.#endpoint).kubeconfig;
  }

  async #openEndpoint(): Promise<Endpoint> {
    const { world, options } = this.#parts;
    const log = options.log ?? silentLog;
    const endpoint = await openEndpoint({ handler: this.#plane.handler, log, serviceCidr: SERVICE_CIDR });
    if (world.isVirtual) {
      world.letOutsideIn();
      const pump = new RealTimePump((ms) => world.advance(ms));
      this.#pumping = pump.run(this.#ending.signal);
      this.#pumping.catch(() => undefined);
    }
    return endpoint;
  }

  /**
   * Ends everything that was started: afterwards there is no timer, no socket and no file of this cluster. Rejects with what went wrong in a
   * loop, and with what a loop waits for in vain unless `settle` has said so: in the block of an `await using` the first word counts.
   */
  async stop(): Promise<void> {
    const { world, store } = this.#parts;
    this.#ending.abort();
    await Promise.allSettled([this.#pumping]);
    await (await this.#endpoint)?.close();
    const stuck = await world.end(Promise.allSettled(this.#running));
    await world.drive(store.close());
    await world.rest();
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

/** Calls the listener after each change, until the function that comes back is called or the store is closed. */
function onChange(store: Store, listener: () => void): () => void {
  const watch = store.watch({ prefix: "", after: store.view.revision, lane: "background" });
  const follow = async (): Promise<void> => {
    for await (const { events } of watch) if (events.length > 0) listener();
  };
  follow().catch(listener);
  return () => watch.close();
}

export interface RunningLoops {
  /** Resolves when all of them have ended. They can be run again, as after a restart. */
  stop(): Promise<void>;
  /** As kill -9 does: from now on they ask for nothing any more, and give no lease back. */
  kill(): void;
}

export interface ClusterClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs everything that is due within this time, in order; then the clock is exactly that much further. Virtual clocks only. */
  advance(by: Duration): Promise<void>;
}

function millisecondsOf(duration: Duration): number {
  return typeof duration === "number" ? duration : Number(parseDuration(duration) / 1_000_000n);
}
