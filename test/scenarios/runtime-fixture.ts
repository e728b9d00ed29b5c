/** A server and managers in one process on a virtual clock. */
import { onTestFinished } from "vitest";
import type { ApiObject } from "../../src/api/api-object.ts";
import { serviceUnavailable } from "../../src/api/errors/api-error.ts";
import { Event } from "../../src/api/generated/types/core-v1.ts";
import type { Log, LogFields, LogLevel } from "../../src/base/log/log.ts";
import { silentLog } from "../../src/base/log/log.ts";
import type { Loop } from "../../src/base/loop/loop.ts";
import { VirtualLoop } from "../../src/base/loop/virtual/virtual-loop.ts";
import type { Metrics } from "../../src/base/metrics/metrics.ts";
import { createMetrics } from "../../src/base/metrics/prom-metrics.ts";
import { createClient } from "../../src/client/api-client.ts";
import type { Client } from "../../src/client/client.ts";
import type { Transport, TransportRequest } from "../../src/client/transport.ts";
import { inProcessTransport } from "../../src/cluster/control-plane/in-process-transport.ts";
import { admissionForLoops } from "../../src/cluster/loops/needed-loops.ts";
import type { PassRecord } from "../../src/runtime/controller/pass-result.ts";
import { createManager } from "../../src/runtime/manager/manager.ts";
import type { Manager, ManagerOptions } from "../../src/runtime/manager/manager.ts";
import { makeTokenKeys } from "../../src/server/pki/token-keys.ts";
import { createApiServer } from "../../src/server/server.ts";
import { openMemoryStore } from "../../src/store/memory-store.ts";

export interface RuntimeFixture {
  readonly loop: VirtualLoop;
  readonly client: Client;
  /** A connection to the server under this name, which a test can cut. */
  readonly connect: (name: string) => Link;
  /** Runs until the test ends or stops it. */
  readonly start: (name: string, options: StartOptions) => StartedManager;
  /** Runs the world until the promise has settled. */
  readonly run: <T>(promise: Promise<T>) => Promise<T>;
  /** Events about this object, ordered by reason. */
  readonly events: (about: ApiObject) => Promise<readonly Event[]>;
}

export interface Link {
  readonly transport: Transport;
  /**
   * Whether requests arrive: refused with ServiceUnavailable, never answered, `unheard` (carried out, response lost), `late` (refused after
   * a second) or `slow` (carried out, answered a second later).
   */
  mode: "open" | "refused" | "silent" | "unheard" | "late" | "slow";
  /** Whether watch events arrive, are held back, or break their watch; a cut watch cannot be reopened either. */
  watches: "flowing" | "held" | "cut";
  /** Requests that reached the server, for example `PATCH /api/v1/…`. */
  readonly requests: TransportRequest[];
}

export type StartOptions = Pick<
  ManagerOptions,
  "controllers" | "routines" | "leaderElection" | "namespace"
> & {
  /** Whether it acts as a network: values are not shared, and caches keep less of them. */
  readonly isNetwork?: boolean;
};

export interface StartedManager {
  readonly manager: Manager;
  readonly link: Link;
  readonly metrics: Metrics;
  readonly passes: PassRecord[];
  readonly lines: LogLine[];
  /** Resolves once the manager has ended. */
  readonly ended: Promise<void>;
  readonly stop: () => void;
}

export interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

export async function startRuntimeFixture(seed = 1): Promise<RuntimeFixture> {
  const loop = new VirtualLoop({ seed, record: 20 });
  const store = openMemoryStore({ loop: loop.child("store") });
  const ending = new AbortController();
  const managers: Promise<void>[] = [];
  const serverLoop = loop.child("server");
  const { handler } = createApiServer(
    { loop: serverLoop, log: silentLog, metrics: createMetrics(), store },
    { admission: admissionForLoops("none"), tokenKeys: makeTokenKeys },
  );
  const connect = (name: string): Link => {
    const transport = inProcessTransport({
      handler,
      loop: loop.child(name),
      serverLoop,
      user: { user: name, groups: ["system:masters"] },
      freezes: true,
    });
    return linkOver(transport, loop.child(`${name}-link`));
  };
  const run = <T>(promise: Promise<T>): Promise<T> => {
    return loop.finish(promise);
  };
  onTestFinished(async () => {
    ending.abort(new Error("the test has ended"));
    await run(Promise.allSettled(managers));
    await run(store.close());
  });
  const client = createClient(connect("user").transport, {
    loop: loop.child("user-client"),
    userAgent: "user",
  });
  await run(
    client.request({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: "default" } } }),
  );

  return {
    loop,
    client,
    connect,
    run,
    start: (name, options) => {
      const started = startManager({ loop, name, options, link: connect(name), signal: ending.signal });
      managers.push(started.ended.catch(() => undefined));
      return started;
    },
    events: async (about) => {
      const { items } = await run(client(Event).list());
      return items.filter(({ involvedObject }) => involvedObject.uid === about.metadata.uid);
    },
  };
}

interface ManagerStart {
  readonly loop: VirtualLoop;
  readonly name: string;
  readonly options: StartOptions;
  readonly link: Link;
  readonly signal: AbortSignal;
}

function startManager({ loop, name, options, link, signal }: ManagerStart): StartedManager {
  const { isNetwork = false, ...managerOptions } = options;
  const transport = isNetwork ? { ...link.transport, sharesValues: false } : link.transport;
  const stopping = new AbortController();
  const stop = (): void => stopping.abort(new Error("the manager is stopped"));
  signal.addEventListener("abort", stop, { once: true });
  const metrics = createMetrics();
  const passes: PassRecord[] = [];
  const lines: LogLine[] = [];
  const own = loop.child(`${name}-manager`);
  const manager = createManager({
    ...managerOptions,
    identity: name,
    loop: own,
    log: logInto(lines),
    metrics,
    client: createClient(transport, { loop: own.child("client"), userAgent: name }),
    transport,
    onPass: (pass) => void passes.push(pass),
  });
  const ended = manager.run(stopping.signal);
  return { manager, link, metrics, passes, lines, ended, stop };
}

function linkOver(transport: Transport, loop: Loop): Link {
  const link: Link = {
    mode: "open",
    watches: "flowing",
    requests: [],
    transport: {
      send: async (request) => {
        await pass(link, request, loop);
        link.requests.push(request);
        const { mode } = link;
        const sent = transport.send(request);
        if (mode === "slow") await Promise.allSettled([sent, second(loop)]);
        const response = await sent;
        if (mode === "unheard") throw serviceUnavailable("the answer was lost");
        return response;
      },
      watch: async (request) => {
        await pass(link, request, loop);
        if (link.watches === "cut") throw serviceUnavailable("the connection broke");
        const stream = await transport.watch(request);
        return { ...stream, items: heldItems(stream.items, link, loop) };
      },
      read: (request) => transport.read(request),
      close: () => transport.close(),
      ...(transport.sharesValues === undefined ? {} : { sharesValues: transport.sharesValues }),
    },
  };
  return link;
}

/** Checks at intervals whether the events may pass. */
async function* heldItems<T>(items: AsyncIterable<T>, link: Link, loop: Loop): AsyncGenerator<T> {
  for await (const item of items) {
    while (link.watches === "held") {
      await new Promise<void>((resolve) => {
        loop.timer(loop.now() + 100, "periodic", resolve);
      });
    }
    if (link.watches === "cut") throw serviceUnavailable("the connection broke");
    yield item;
  }
}

function second(loop: Loop): Promise<void> {
  return new Promise<void>((resolve) => void loop.timer(loop.now() + 1000, "progress", resolve));
}

async function pass({ mode }: Link, { signal }: TransportRequest, loop: Loop): Promise<void> {
  if (mode === "open" || mode === "unheard" || mode === "slow") return;
  if (mode === "late") await second(loop);
  if (mode === "refused" || mode === "late") throw serviceUnavailable("the server cannot be reached");
  await new Promise<void>((_resolve, reject) => {
    const abort = (): void => reject(signal?.reason as Error);
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted === true) abort();
  });
}

function logInto(lines: LogLine[], fixed: LogFields = {}): Log {
  const write =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void =>
      void lines.push({ level, message, fields: { ...fixed, ...fields } });
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    with: (fields) => logInto(lines, { ...fixed, ...fields }),
  };
}
