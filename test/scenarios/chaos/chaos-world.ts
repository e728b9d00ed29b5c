/** A server with two instances of the controllers and of the scheduler and with simulated nodes, each of which can be killed and disturbed. */
import type { ApiObject, ResourceType } from "../../../src/api/api-object.ts";
import type { Log, LogFields } from "../../../src/base/log.ts";
import type { Random } from "../../../src/base/loop.ts";
import { createMetrics } from "../../../src/base/prom-metrics.ts";
import { createClient } from "../../../src/client/api-client.ts";
import type { Client } from "../../../src/client/client.ts";
import type { Transport } from "../../../src/client/transport.ts";
import { ControlPlane } from "../../../src/cluster/control-plane.ts";
import { builtInGroups, manage, nodeLoops } from "../../../src/cluster/loops.ts";
import type { LoopGroup } from "../../../src/cluster/loops.ts";
import { admissionBeside } from "../../../src/cluster/needed-loops.ts";
import { simulatedUsageSource } from "../../../src/cluster/simulated-usage.ts";
import { VirtualWorld } from "../../../src/cluster/world.ts";
import type { Manager } from "../../../src/runtime/manager.ts";
import { makeTokenKeys } from "../../../src/server/pki/token-keys.ts";
import { openMemoryStore } from "../../../src/store/memory-store.ts";
import type { MemoryStore } from "../../../src/store/memory-store.ts";
import { ChaosHistory } from "./chaos-history.ts";
import { ChaosTransport, type Weather } from "./chaos-transport.ts";

const ADMIN = { user: "kubernetes-admin", groups: ["system:masters"] };
const ADDRESS = { host: "127.0.0.1", port: 6443, machineAddresses: [] };
const NODES = 4;
const NODE_CAPACITY = { cpu: "4", memory: "8Gi", pods: "14" };

/** Several times what the busiest stretch of time needs. */
const MAX_STEPS = 150_000;

/** Programs beside the server. */
export const PARTS = ["controllers-a", "controllers-b", "scheduler-a", "scheduler-b", "nodes"] as const;
export type Part = (typeof PARTS)[number];

interface Running {
  readonly transport: ChaosTransport;
  readonly ending: AbortController;
  readonly ended: Promise<void>;
}

export class ChaosWorld implements AsyncDisposable {
  readonly client: Client;
  readonly random: Random;
  readonly history: ChaosHistory;
  readonly weather: Weather = { requestOdds: 0, watchOdds: 0, cuts: 0 };
  /** What parts have complained of. */
  readonly complaints: string[] = [];
  readonly #world: VirtualWorld;
  readonly #store: MemoryStore;
  readonly #plane: ControlPlane;
  readonly #ending = new AbortController();
  readonly #ended: Promise<void>[] = [];
  readonly #running = new Map<Part, Running>();

  private constructor(seed: number) {
    this.#world = new VirtualWorld({ seed });
    const { loop } = this.#world;
    this.random = loop.random("people");
    this.#store = openMemoryStore({ loop: loop.child("store") });
    this.history = new ChaosHistory(() => loop.now());
    this.#plane = new ControlPlane({
      loop,
      log: this.#log("server"),
      metrics: createMetrics(),
      store: this.#store,
      isStoreShared: false,
      tokenKeys: makeTokenKeys,
      runtimeConfig: {},
      serviceCidrs: ["10.96.0.0/24"],
      nodePorts: { first: 30_000, last: 30_040 },
      usage: simulatedUsageSource,
      admission: admissionBeside("all"),
      freezes: true,
    });
    const own = loop.child("client");
    const transport = this.#world.outsider(this.#plane.transport(ADMIN, own));
    this.client = createClient(transport, { loop: this.#world.outsiderLoop(own) });
  }

  static async open(seed: number): Promise<ChaosWorld> {
    const world = new ChaosWorld(seed);
    world.#keep(world.history.follow(world.#store));
    await world.#world.drive(world.#plane.settle(ADDRESS));
    world.#keep(world.#plane.run(world.#ending.signal));
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
    return this.#plane.objects(type, namespace) as readonly T[];
  }

  isRunning(part: Part): boolean {
    return this.#running.has(part);
  }

  start(part: Part): void {
    const loop = this.#world.loop.child(part);
    const transport = new ChaosTransport(this.#plane.transport(ADMIN, loop), loop, this.weather);
    const ending = new AbortController();
    const log = this.#log(part);
    // Reads are tried again, as by programs of their own.
    const client = createClient(transport, { loop: loop.child("client") });
    const manager = manage(groupOf(part), { transport, client, loop, log, metrics: createMetrics() });
    const ended = runThenClose(manager, transport, ending.signal);
    this.#keep(ended.catch((error: unknown) => this.#endedBadly(part, transport, error)));
    this.#running.set(part, { transport, ending, ended });
  }

  /** In order; a leader gives its lease back. */
  async stop(part: Part): Promise<void> {
    const running = this.#running.get(part);
    this.#running.delete(part);
    running?.ending.abort();
    await this.#world.drive(Promise.allSettled([running?.ended]));
  }

  /** As kill -9. */
  kill(part: Part): void {
    const running = this.#running.get(part);
    this.#running.delete(part);
    if (running === undefined) return;
    running.transport.isCut = true;
    running.ending.abort();
  }

  /** All history that was recorded is given up. */
  async compact(): Promise<void> {
    await this.#world.drive(this.#store.compact(this.history.revision));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const part of PARTS) this.#running.get(part)?.ending.abort();
    this.#ending.abort();
    await this.#world.drive(Promise.allSettled([...this.#running.values()].map(({ ended }) => ended)));
    await this.#world.drive(this.#store.close());
    await this.#world.rest();
    await Promise.all(this.#ended);
  }

  /** A manager that lost its lease ends, and is started anew as a supervisor does. */
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
        this.complaints.push(`${level} ${part}: ${message} ${JSON.stringify(cause)}`);
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
  if (part === "nodes") return nodeLoops(NODES, { hasRootCa: false, capacity: NODE_CAPACITY });
  const groups = builtInGroups("all");
  return part.startsWith("scheduler") ? groups.scheduler : groups.controllers;
}
