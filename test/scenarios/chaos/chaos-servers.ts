/** Servers of a world: one with its own store, or two over a shared one, each of which can be killed while the other goes on. */
import type { ApiObject, ResourceType } from "../../../src/api/api-object.ts";
import { serviceUnavailable } from "../../../src/api/errors/api-error.ts";
import type { Log } from "../../../src/base/log/log.ts";
import type { Loop } from "../../../src/base/loop/loop.ts";
import { createMetrics } from "../../../src/base/metrics/prom-metrics.ts";
import type {
  Transport,
  TransportEvent,
  TransportRequest,
  TransportResponse,
  TransportStream,
} from "../../../src/client/transport.ts";
import { ControlPlane } from "../../../src/cluster/control-plane/control-plane.ts";
import { simulatedUsageSource } from "../../../src/cluster/control-plane/simulated-usage.ts";
import type { VirtualTime } from "../../../src/cluster/in-program/time-source.ts";
import { admissionForLoops } from "../../../src/cluster/loops/needed-loops.ts";
import type { TokenKeys } from "../../../src/server/pki/pki-folder.ts";
import { makeTokenKeys } from "../../../src/server/pki/token-keys.ts";
import type { MemoryStore } from "../../../src/store/memory-store.ts";
import { isStoreError } from "../../../src/store/store-error.ts";
import type { Store } from "../../../src/store/store.ts";
import { FollowerStore } from "./chaos-store.ts";
import type { LinkFaults } from "./chaos-transport.ts";

const ADMIN = { user: "kubernetes-admin", groups: ["system:masters"] };

interface Server {
  readonly plane: ControlPlane;
  readonly store: Store;
  readonly ending: AbortController;
  readonly ended: Promise<void>;
  /** All connections to it. */
  readonly ways: Set<Transport>;
}

export interface ServersOptions {
  readonly world: VirtualTime;
  readonly shared: MemoryStore;
  readonly count: number;
  readonly weather: LinkFaults;
  readonly log: (part: string) => Log;
}

export class Servers {
  readonly #options: ServersOptions;
  readonly #running: (Server | undefined)[] = [];
  readonly #ended: Promise<void>[] = [];
  #keys: TokenKeys | undefined;

  constructor(options: ServersOptions) {
    this.#options = options;
  }

  async startAll(): Promise<void> {
    for (let at = 0; at < this.#options.count; at++)
      if (this.#running[at] === undefined) await this.start(at);
  }

  /** Servers that may be killed: another one always remains. */
  get expendable(): readonly number[] {
    const alive = this.#alive();
    return alive.length < 2 ? [] : alive;
  }

  get missing(): readonly number[] {
    const all = Array.from({ length: this.#options.count }, (_, at) => at);
    return all.filter((at) => this.#running[at] === undefined);
  }

  async start(at: number): Promise<void> {
    const { world, shared, count, weather, log } = this.#options;
    const loop = world.loop.child(`server-${String(at)}`);
    const store = count === 1 ? shared : new FollowerStore(shared, loop.child("store"), weather);
    const plane = new ControlPlane({
      surroundings: { loop, log: log("server"), metrics: createMetrics(), store },
      server: {
        tokenKeys: () => (this.#keys ??= makeTokenKeys()),
        network: { serviceCidrs: ["10.96.0.0/24"], nodePorts: { first: 30_000, last: 30_040 } },
        usage: simulatedUsageSource,
        admission: admissionForLoops("all"),
        upkeep: { isStoreShared: count > 1 },
      },
      freezes: true,
    });
    const address = { host: `10.0.0.${String(at + 1)}`, port: 6443, machineAddresses: [] };
    try {
      await world.drive(plane.settle(address));
    } catch (error) {
      // Acts as a server that does not start: its supervisor retries later.
      if (!isStoreError(error)) throw error;
      await world.drive(store.close());
      return;
    }
    const ending = new AbortController();
    const ended = plane.run(ending.signal);
    ended.catch(() => undefined);
    this.#ended.push(ended);
    this.#running[at] = { plane, store, ending, ended, ways: new Set() };
  }

  /** Like kill -9: clients that wait get no response. */
  kill(at: number): void {
    const server = this.#running[at];
    this.#running[at] = undefined;
    if (server === undefined) return;
    for (const way of server.ways) void way.close();
    server.ending.abort();
    this.#ended.push(server.store.close());
  }

  async end(): Promise<void> {
    const stores = this.#running.map((server) => server?.store);
    for (const server of this.#running) server?.ending.abort();
    const { world, shared } = this.#options;
    await world.drive(Promise.allSettled(this.#ended));
    for (const store of stores) if (store !== shared) await world.drive(store?.close() ?? Promise.resolve());
    await world.drive(shared.close());
  }

  async compact(revision: number): Promise<void> {
    const { world, shared } = this.#options;
    const stores = [shared, ...this.#running.map((server) => server?.store)];
    for (const store of new Set(stores)) await world.drive(store?.compact(revision) ?? Promise.resolve());
  }

  objects<T extends ApiObject>(type: ResourceType<T>, namespace: string): readonly T[] {
    return this.#of(this.#alive()[0]).plane.objects(type, namespace) as readonly T[];
  }

  /** For a program that switches to the other server when one does not answer. */
  way(loop: Loop): Transport {
    return new Way(loop, (tried) => this.#next(tried));
  }

  #alive(): readonly number[] {
    return [...this.#running.keys()].filter((at) => this.#running[at] !== undefined);
  }

  #next(tried: Server | undefined): Server {
    const alive = this.#alive().map((at) => this.#of(at));
    return alive.find((server) => server !== tried) ?? this.#of(this.#alive()[0]);
  }

  #of(at: number | undefined): Server {
    const server = this.#running[at ?? 0];
    if (server === undefined) throw serviceUnavailable("there is no server");
    return server;
  }
}

/** Stays with a server while it answers; its open requests stay there. */
class Way implements Transport {
  readonly sharesValues = true;
  readonly #loop: Loop;
  readonly #next: (tried: Server | undefined) => Server;
  readonly #opened: { readonly server: Server; readonly transport: Transport }[] = [];
  #isLeaving = false;
  #isClosed = false;

  constructor(loop: Loop, next: (tried: Server | undefined) => Server) {
    this.#loop = loop;
    this.#next = next;
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    return this.#noted(await this.#current().send(request));
  }

  async watch(request: TransportRequest): Promise<TransportStream<readonly TransportEvent[]>> {
    return this.#noted(await this.#current().watch(request));
  }

  async read(request: TransportRequest): Promise<TransportStream<Uint8Array>> {
    return this.#noted(await this.#current().read(request));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { server, transport } of this.#opened) {
      server.ways.delete(transport);
      await transport.close();
    }
  }

  #noted<T extends { readonly code: number }>(answer: T): T {
    if (answer.code === 503) this.#isLeaving = true;
    return answer;
  }

  #current(): Transport {
    if (this.#isClosed) throw serviceUnavailable("the client was closed");
    const last = this.#opened.at(-1);
    if (last !== undefined && !this.#isLeaving && !last.server.ending.signal.aborted) return last.transport;
    this.#isLeaving = false;
    const server = this.#next(last?.server);
    const known = this.#opened.findIndex((each) => each.server === server);
    const [again] = known < 0 ? [] : this.#opened.splice(known, 1);
    const transport = again?.transport ?? server.plane.transport(ADMIN, this.#loop);
    server.ways.add(transport);
    this.#opened.push({ server, transport });
    return transport;
  }
}
