/** The cheapest client: raw keep-alive TLS sockets and prepared bytes; over HTTP/1.1 one request in flight on each. */
import type { OnReadOpts } from "node:net";
import { performance } from "node:perf_hooks";
import { connect } from "node:tls";
import type { TLSSocket } from "node:tls";
import { Http2Answers } from "./http2-load.ts";
import type { Http2Request } from "./http2-load.ts";
import { percentile, perSecond } from "./row.ts";
import { cpuMsOf } from "./server-process.ts";

export interface Credentials {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface LoadArgument extends Credentials {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  readonly method: string;
  /** `%n` in path and body is replaced by the number of the request. */
  readonly path: string;
  /** Number of existing objects; the number in the path wraps around after them. By default each request names another object. */
  readonly objects?: number;
  /** Number of the first request; 0 unless given. */
  readonly first?: number;
  /** Process whose CPU time is measured with the load. */
  readonly serverPid?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** HTTP/1.1 by default. */
  readonly protocol?: Protocol;
}

export type Protocol = "http/1.1" | "h2";

export interface LoadFigures {
  readonly rate: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Share of one core that the client uses. */
  readonly clientShare: number;
  readonly answered: number;
  readonly maxMs: number;
  /** CPU time of `serverPid` while the answers came; 0 without one. */
  readonly serverCpuMs: number;
}

/** Time until V8 has compiled the server's code; the yardstick gets the same. */
const WARM_UP_MS = 2000;

/** With `onread` received bytes share one buffer, instead of 16 KB of new memory per record. */
export function dial(
  port: number,
  { ca, cert, key }: Credentials,
  { protocol = "http/1.1", ...reading }: { protocol?: Protocol; onread?: OnReadOpts } = {},
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, ca, cert, key, ALPNProtocols: [protocol], ...reading });
    socket.once("secureConnect", () => resolve(socket.setNoDelay(true)));
    socket.once("error", reject);
  });
}

/** Bytes of one request. */
export function requestBytes(argument: LoadArgument, n: number): Buffer {
  const { method, headers = {}, body } = argument;
  const content = body?.replaceAll("%n", String(n));
  const lines = [
    `${method} ${pathOf(argument, n)} HTTP/1.1`,
    "host: 127.0.0.1",
    "user-agent: bench/1",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(content === undefined ? [] : [`content-length: ${String(Buffer.byteLength(content))}`]),
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${content ?? ""}`);
}

function pathOf({ path, objects }: Pick<LoadArgument, "path" | "objects">, n: number): string {
  return path.replaceAll("%n", String(objects === undefined ? n : n % objects));
}

/** Parses responses with a content-length or chunks, one at a time, without concatenating them. */
export class Answers {
  readonly #socket: TLSSocket;
  #waiting: { resolve(code: number): void; reject(error: Error): void } | undefined;
  #head = "";
  #code = 0;
  /** Bytes of the body still to come; undefined while the head is parsed, Infinity for chunks. */
  #left: number | undefined;
  #tail = "";

  constructor(socket: TLSSocket) {
    this.#socket = socket;
    socket.on("data", (piece: Buffer) => this.#take(piece));
    socket.on("close", () => this.#waiting?.reject(new Error("the server closed the connection")));
  }

  send(bytes: Buffer): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(bytes);
    });
  }

  #take(piece: Buffer): void {
    if (this.#left === undefined) {
      this.#head += piece.toString("latin1");
      const end = this.#head.indexOf("\r\n\r\n");
      if (end < 0) return;
      this.#code = Number(this.#head.slice(9, 12));
      const length = /\r\ncontent-length: (\d+)/i.exec(this.#head.slice(0, end + 2))?.[1];
      const received = this.#head.length - end - 4;
      this.#left = length === undefined ? Infinity : Number(length) - received;
      this.#tail = this.#head.slice(-5);
    } else {
      this.#left -= piece.length;
      this.#tail = (this.#tail + piece.subarray(-5).toString("latin1")).slice(-5);
    }
    const isDone = this.#left <= 0 || (this.#left === Infinity && this.#tail === "0\r\n\r\n");
    if (isDone) this.#answer();
  }

  #answer(): void {
    this.#head = "";
    this.#left = undefined;
    this.#tail = "";
    this.#waiting?.resolve(this.#code);
  }
}

/** A client that sends a request and waits for its response. */
type Client = (n: number) => Promise<number>;

/** A Go client sends many requests over one connection, too. */
const STREAMS_PER_CONNECTION = 16;

interface Clients {
  readonly all: readonly Client[];
  readonly sockets: readonly TLSSocket[];
}

async function openHttp1(argument: LoadArgument): Promise<Clients> {
  const { connections, port } = argument;
  const sockets = await Promise.all(Array.from({ length: connections }, () => dial(port, argument)));
  const all = sockets.map((socket): Client => {
    const answers = new Answers(socket);
    return (n) => answers.send(requestBytes(argument, n));
  });
  return { all, sockets };
}

async function openHttp2(argument: LoadArgument): Promise<Clients> {
  const { connections, port, method, headers = {}, body } = argument;
  const count = Math.ceil(connections / STREAMS_PER_CONNECTION);
  const sockets = await Promise.all(
    Array.from({ length: count }, () => dial(port, argument, { protocol: "h2" })),
  );
  const sessions = sockets.map((socket) => new Http2Answers(socket));
  const request = (n: number): Http2Request => ({
    method,
    headers,
    path: pathOf(argument, n),
    body: body?.replaceAll("%n", String(n)),
  });
  const clientsOf = (session: Http2Answers): readonly Client[] =>
    Array.from({ length: Math.ceil(connections / count) }, () => (n: number) => session.send(request(n)));
  return { all: sessions.flatMap(clientsOf), sockets };
}

export async function loadChild(argument: LoadArgument): Promise<LoadFigures> {
  const { all, sockets } = await (argument.protocol === "h2" ? openHttp2(argument) : openHttp1(argument));
  const begin = performance.now();
  const end = begin + WARM_UP_MS + argument.seconds * 1000;
  const times: number[] = [];
  const { first = 0, serverPid } = argument;
  const serverCpu = (): number => (serverPid === undefined ? 0 : cpuMsOf(serverPid));
  let next = first;
  let cpu = process.cpuUsage();
  let serverCpuMs = serverCpu();
  let measuredFrom = begin;
  const run = async (client: Client): Promise<void> => {
    for (let now = performance.now(); now < end;) {
      const code = await client(next++);
      if (code < 200 || code > 299)
        throw new Error(`${argument.method} ${argument.path} answered ${String(code)}`);
      const later = performance.now();
      if (measuredFrom === begin && later >= begin + WARM_UP_MS) {
        measuredFrom = later;
        cpu = process.cpuUsage();
        serverCpuMs = serverCpu();
        times.length = 0;
      }
      times.push(later - now);
      now = later;
    }
  };
  await Promise.all(all.map(run));
  const ms = performance.now() - measuredFrom;
  const used = process.cpuUsage(cpu);
  serverCpuMs = serverCpu() - serverCpuMs;
  for (const socket of sockets) socket.destroy();
  return {
    rate: perSecond(times.length, ms),
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
    clientShare: (used.user + used.system) / 1000 / ms,
    answered: times.length,
    maxMs: percentile(times, 1),
    serverCpuMs,
  };
}
