/** Servers with two instances of the controllers and of the scheduler and with simulated nodes, each of which can be killed and disturbed. */
import type { ApiObject, ResourceType } from "../../../src/api/api-object.ts";
import type { Log, LogFields } from "../../../src/base/log/log.ts";
import type { Random } from "../../../src/base/loop/loop.ts";
import { createMetrics } from "../../../src/base/metrics/prom-metrics.ts";
import { createClient } from "../../../src/client/api-client.ts";
import type { Client } from "../../../src/client/client.ts";
import type { Transport } from "../../../src/client/transport.ts";
import { VirtualTime } from "../../../src/cluster/in-program/time-source.ts";
import { builtInGroups, manage, nodeLoops } from "../../../src/cluster/loops/loops.ts";
import type { LoopGroup } from "../../../src/cluster/loops/loops.ts";
import type { Manager } from "../../../src/runtime/manager/manager.ts";
import { openMemoryStore } from "../../../src/store/memory-store.ts";
import type { MemoryStore } from "../../../src/store/memory-store.ts";
import { clockedLoop } from "./chaos-clock.ts";
import type { Clock } from "./chaos-clock.ts";
import { ChaosHistory } from "./chaos-history.ts";
import { Servers } from "./chaos-servers.ts";
import { ChaosTransport, type LinkFaults } from "./chaos-transport.ts";

const NODES = 4;
const NODE_CAPACITY = { cpu: "4", memory: "8Gi", pods: "14" };

/** Several times the need of the busiest stretch. */
const MAX_STEPS = 200_000;

/** Programs beside the servers. */
export const PARTS = ["controllers-a", "controllers-b", "scheduler-a", "scheduler-b", "nodes"] as const;
export type Part = (typeof PARTS)[number];

interface Running {
  readonly transport: ChaosTransport;
  readonly ending: AbortController;
  readonly ended: Promise<void>;
}

export class ChaosCluster implements AsyncDisposable {
  readonly client: Client;
  readonly random: Random;
  readonly history: ChaosHistory;
  readonly weather: LinkFaults = { requestOdds: 0, watchOdds: 0, storeOdds: 0, cuts: 0, heldUp: 0 };
  /** Errors that parts have reported. */
  readonly complaints: string[] = [];
  /** Store of all servers. */
  readonly store: MemoryStore;
  readonly servers: Servers;
  readonly clocks: Readonly<Record<Part, Clock>>;
  readonly #world: VirtualTime;
  readonly #ended: Promise<void>[] = [];
  readonly #running = new Map<Part, Running>();

  private constructor(seed: number, serverCount: number) {
    this.#world = new VirtualTime({ seed });
    const { loop } = this.#world;
    this.random = loop.random("people");
    const shared = openMemoryStore({ loop: loop.child("store") });
    this.store = shared;
    this.history = new ChaosHistory(() => loop.now());
    this.#keep(this.history.follow(shared));
    const log = (part: string): Log => this.#log(part);
    const { weather } = this;
    this.servers = new Servers({ world: this.#world, shared, count: serverCount, weather, log });
    const own = loop.child("client");
    const transport = this.#world.outsider(this.servers.way(own));
    this.client = createClient(transport, { loop: this.#world.outsiderLoop(own) });
    const clocks = PARTS.map((part) => [part, { offsetMs: 0 }] as const);
    this.clocks = Object.fromEntries(clocks) as Record<Part, Clock>;
  }

  static async open(seed: number, serverCount: number): Promise<ChaosCluster> {
    const world = new ChaosCluster(seed, serverCount);
    await world.servers.startAll();
    for (const part of PARTS) world.start(part);
    return world;
  }

  now(): number {
    return this.#world.loop.now();
  }

  advance(ms: number): Promise<void> {
    return this.#world.loop.advance(ms, { maxSteps: MAX_STEPS });
  }

  objects<T extends ApiObject>(type: ResourceType<T>, namespace = ""): readonly T[] {
    return this.servers.objects(type, namespace);
  }

  isRunning(part: Part): boolean {
    return this.#running.has(part);
  }

  start(part: Part): void {
    const loop = clockedLoop(this.#world.loop.child(part), this.clocks[part]);
    const transport = new ChaosTransport(this.servers.way(loop), loop, this.weather);
    const ending = new AbortController();
    const log = this.#log(part);
    // Reads are retried, as separate programs do.
    const client = createClient(transport, { loop: loop.child("client") });
    const manager = manage(groupOf(part), { transport, client, loop, log, metrics: createMetrics() });
    const ended = runThenClose(manager, transport, ending.signal);
    this.#keep(ended.catch((error: unknown) => this.#endedBadly(part, transport, error)));
    this.#running.set(part, { transport, ending, ended });
  }

  /** Stops in order; a leader releases its lease. */
  async stop(part: Part): Promise<void> {
    const running = this.#running.get(part);
    this.#running.delete(part);
    running?.ending.abort();
    await this.#world.drive(Promise.allSettled([running?.ended]));
  }

  /** Like kill -9. */
  kill(part: Part): void {
    const running = this.#running.get(part);
    this.#running.delete(part);
    if (running === undefined) return;
    running.transport.isCut = true;
    running.ending.abort();
  }

  /** Compacts all recorded history. */
  async compact(): Promise<void> {
    await this.servers.compact(this.history.revision);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const part of PARTS) this.#running.get(part)?.ending.abort();
    await this.#world.drive(Promise.allSettled([...this.#running.values()].map(({ ended }) => ended)));
    await this.servers.end();
    await this.#world.rest();
    await Promise.all(this.#ended);
  }

  /** A manager that lost its lease ends, and restarts as under a supervisor. */
  #endedBadly(part: Part, transport: ChaosTransport, error: unknown): void {
    if (this.#running.get(part)?.transport !== transport) return;
    const text = error instanceof Error ? error.message : String(error);
    if (!text.includes("lease")) this.complaints.push(`${part} ended: ${text}`);
    this.#running.delete(part);
  }

  #keep(running: Promise<void>): void {
    this.#ended.push(running);
    running.catch(() => undefined);
  }

  #log(part: string, fixed: LogFields = {}): Log {
    const complain =
      (level: string) =>
      (message: string, fields: LogFields = {}): void => {
        const cause = { ...fixed, ...fields };
        const excuse = this.weather.heldUp > 0 ? "(while watches are held up) " : "";
        this.complaints.push(`${excuse}${level} ${part}: ${message} ${JSON.stringify(cause)}`);
      };
    const ignore = (): void => undefined;
    return {
      debug: ignore,
      info: ignore,
      warn: complain("warn"),
      error: complain("error"),
      with: (fields) => this.#log(part, { ...fixed, ...fields }),
    };
  }
}

async function runThenClose(manager: Manager, transport: Transport, signal: AbortSignal): Promise<void> {
  try {
    await manager.run(signal);
  } finally {
    await transport.close();
  }
}

function groupOf(part: Part): LoopGroup {
  if (part === "nodes") return nodeLoops(NODES, { hasRootCa: false, shapes: [{ capacity: NODE_CAPACITY }] });
  const groups = builtInGroups("all");
  return part.startsWith("scheduler") ? groups.scheduler : groups.controllers;
}
