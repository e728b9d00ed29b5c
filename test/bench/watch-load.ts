/**
 * Many watchers and a few writers in one process, which knows when each change was due and when each watcher saw it. Changes come at a
 * fixed rate even if the server falls behind; waiting time counts as delay.
 */
import { performance } from "node:perf_hooks";
import type { TLSSocket } from "node:tls";
import { Answers, dial, requestBytes } from "./http-load.ts";
import type { Credentials } from "./http-load.ts";
import { cpuMsOf } from "./server-process.ts";

export interface WatchLoadArgument extends Credentials {
  readonly port: number;
  readonly path: string;
  readonly watchers: number;
  readonly changesPerSecond: number;
  readonly seconds: number;
  /** Number of objects `pod-0` to `pod-N` that are changed in turn. */
  readonly objects: number;
  /** Process whose CPU time is measured with the load. */
  readonly serverPid?: number;
}

export interface WatchLoadFigures {
  readonly deliveriesPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly lost: number;
  /** Share of one core that the client uses. */
  readonly clientShare: number;
  readonly measured: number;
  /** Number of measured changes. */
  readonly changes: number;
  /** CPU time of `serverPid` until the measured changes were delivered; 0 without one. */
  readonly serverCpuMs: number;
}

const WRITERS = 32;
/** Time until V8 has compiled the server's code; pending changes are delivered before the measurement begins. */
const WARM_UP_MS = 3000;
/** Upper bound of the wait for the last changes. */
const PATIENCE_MS = 10_000;
const MARKER = Buffer.from('"change":"');
const LINE_END = 0x0a;
/** Length of the marker and the longest number behind it. */
const EDGE_BYTES = MARKER.length + 12;
/** Size of a TLS record. */
const READ_BYTES = 16 << 10;
/** In tenths of a millisecond; longer delays count in the last bucket. */
const BUCKETS = 100_000;

/** Finds the numbers of changes in a watcher's bytes, wherever the chunks are cut. Keeps only the end of the bytes. */
class Seen {
  readonly #onChange: (n: number) => void;
  readonly #edge = Buffer.alloc(2 * EDGE_BYTES);
  /** Bytes kept in the edge buffer: the end of the previous chunk. */
  #kept = 0;

  constructor(onChange: (n: number) => void) {
    this.#onChange = onChange;
  }

  take(piece: Buffer): void {
    const joined = this.#kept + piece.copy(this.#edge, this.#kept, 0, EDGE_BYTES);
    const edge = this.#edge.subarray(0, joined);
    const isWhole = piece.length > EDGE_BYTES;
    this.#scan(edge, isWhole ? this.#kept : joined - EDGE_BYTES);
    if (isWhole) this.#scan(piece, piece.length - EDGE_BYTES);
    const all = isWhole ? piece : edge;
    this.#kept = all.copy(this.#edge, 0, Math.max(0, all.length - EDGE_BYTES));
  }

  /**
   * Reports markers that begin before `end`; the next chunk finds the others. The rest of the event is skipped to the end of the line,
   * which takes an eighth of the time of a full search.
   */
  #scan(bytes: Buffer, end: number): void {
    for (let at = bytes.indexOf(MARKER); at >= 0 && at < end;) {
      const start = at + MARKER.length;
      this.#onChange(Number(bytes.toString("latin1", start, bytes.indexOf(0x22, start))));
      const line = bytes.indexOf(LINE_END, start);
      at = line < 0 ? -1 : bytes.indexOf(MARKER, line);
    }
  }
}

class Tally {
  readonly dueAt: number[] = [];
  readonly #buckets = new Uint32Array(BUCKETS);
  #measuredFrom = Infinity;
  deliveries = 0;
  measured = 0;

  /** Changes that were due before are not measured. */
  measureFromNow(): void {
    this.#measuredFrom = this.dueAt.length;
  }

  saw(n: number): void {
    this.deliveries += 1;
    if (n < this.#measuredFrom) return;
    const dueAt = this.dueAt[n];
    if (dueAt === undefined) throw new Error(`a watcher saw change ${String(n)}, which was not made yet`);
    this.measured += 1;
    // Timers of Node.js may fire a millisecond early: then the change is seen before it was due.
    const tenths = Math.max(0, Math.round((performance.now() - dueAt) * 10));
    const bucket = Math.min(tenths, BUCKETS - 1);
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1;
  }

  percentileMs(share: number): number {
    let left = this.measured * share;
    for (const [tenths, count] of this.#buckets.entries()) {
      left -= count;
      if (left <= 0) return tenths / 10;
    }
    return BUCKETS / 10;
  }
}

async function openWatches(argument: WatchLoadArgument, tally: Tally): Promise<TLSSocket[]> {
  const { port, path, watchers } = argument;
  const target = `${path}?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan`;
  const request = { ...argument, connections: 1, method: "GET", path: target };
  const buffer = Buffer.alloc(READ_BYTES);
  const openOne = async (): Promise<TLSSocket> => {
    const seen = new Seen((n) => tally.saw(n));
    const answer = { arrived: (): void => undefined };
    const answered = new Promise<void>((resolve) => (answer.arrived = resolve));
    const callback = (length: number): boolean => {
      answer.arrived();
      seen.take(buffer.subarray(0, length));
      return true;
    };
    const socket = await dial(port, argument, { onread: { buffer, callback } });
    socket.write(requestBytes(request, 0));
    await answered;
    return socket;
  };
  return Promise.all(Array.from({ length: watchers }, openOne));
}

/** Hands each change to a free writer when it is due, for this long. */
async function write(argument: WatchLoadArgument, tally: Tally, forMs: number): Promise<void> {
  const request = {
    ...argument,
    connections: 1,
    method: "PATCH",
    headers: { "content-type": "application/merge-patch+json" },
    body: '{"metadata":{"annotations":{"change":"%n"}}}',
  };
  const sockets = await Promise.all(Array.from({ length: WRITERS }, () => dial(argument.port, argument)));
  const [startedAt, first] = [performance.now(), tally.dueAt.length];
  const run = async (socket: TLSSocket): Promise<void> => {
    const answers = new Answers(socket);
    for (;;) {
      const n = tally.dueAt.length;
      const dueAt = startedAt + ((n - first) * 1000) / argument.changesPerSecond;
      if (dueAt > startedAt + forMs) break;
      tally.dueAt.push(dueAt);
      const early = dueAt - performance.now();
      if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
      const path = `${argument.path}/pod-${String(n % argument.objects)}`;
      const code = await answers.send(requestBytes({ ...request, path }, n));
      if (code !== 200) throw new Error(`a change was answered with ${String(code)}`);
    }
    socket.destroy();
  };
  await Promise.all(sockets.map(run));
}

/** Resolves once every watcher has seen every change, or after the upper bound. */
async function delivered({ watchers }: WatchLoadArgument, tally: Tally): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (tally.deliveries < tally.dueAt.length * watchers && performance.now() < giveUpAt) await pause(10);
}

export async function watchLoadChild(argument: WatchLoadArgument): Promise<WatchLoadFigures> {
  const tally = new Tally();
  const { serverPid } = argument;
  const serverCpu = (): number => (serverPid === undefined ? 0 : cpuMsOf(serverPid));
  const sockets = await openWatches(argument, tally);
  await write(argument, tally, WARM_UP_MS);
  await delivered(argument, tally);
  tally.measureFromNow();
  const warmUpChanges = tally.dueAt.length;
  const [cpu, startedAt, serverCpuBefore] = [process.cpuUsage(), performance.now(), serverCpu()];
  await write(argument, tally, argument.seconds * 1000);
  const { measured } = tally;
  const changes = tally.dueAt.length - warmUpChanges;
  const used = process.cpuUsage(cpu);
  const ms = performance.now() - startedAt;
  await delivered(argument, tally);
  const serverCpuMs = serverCpu() - serverCpuBefore;
  for (const socket of sockets) socket.destroy();
  return {
    deliveriesPerSecond: (measured / ms) * 1000,
    p50Ms: tally.percentileMs(0.5),
    p99Ms: tally.percentileMs(0.99),
    lost: tally.dueAt.length * argument.watchers - tally.deliveries,
    clientShare: (used.user + used.system) / 1000 / ms,
    measured: tally.measured,
    changes,
    serverCpuMs,
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
