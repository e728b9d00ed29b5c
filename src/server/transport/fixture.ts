/** Starts a listener on a free loopback port, and clients of both protocols whose reads the test controls. */
import { mkdtempSync, rmSync } from "node:fs";
import { connect as connectHttp2, type ClientHttp2Session } from "node:http2";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from "node:tls";
import { onTestFinished } from "vitest";
import type { LogFields } from "../../base/log/log.ts";
import { silentLog } from "../../base/log/log.ts";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { openPki, serverNames, type Pki } from "../pki/pki.ts";
import type { HttpHandler, HttpResponse } from "../request/http.ts";
import { isUrgent } from "../request/parse-request.ts";
import type { TransportLimits } from "./limits.ts";
import { listen, type Listener } from "./listener.ts";

const loop = createRealLoop({ name: "test" });

export interface TestServer {
  readonly listener: Listener;
  readonly pki: Pki;
  /** Messages of warnings and errors. */
  readonly logged: readonly string[];
  /** Options for connecting a client; `identity` is its client certificate. */
  client(identity?: Pki["admin"]): ConnectionOptions & { readonly port: number };
}

export interface TestServerOptions {
  readonly limits?: Partial<TransportLimits>;
}

/** Starts a listener that closes when the test ends. */
export async function startServer(
  handler: HttpHandler,
  options: TestServerOptions = {},
): Promise<TestServer> {
  const pki = await makePki();
  const logged: string[] = [];
  const note = (message: string, fields?: LogFields): void =>
    void logged.push(`${message}: ${String(fields?.["error"])}`);
  const log = { ...silentLog, warn: note, error: note };
  const tls = { ...pki.server, ca: pki.ca.cert };
  const listener = await listen({
    loop,
    log,
    handler,
    isUrgent,
    tls,
    host: "127.0.0.1",
    port: 0,
    ...options,
  });
  onTestFinished(() => listener.close({ graceMs: 0 }));
  const client = (identity?: Pki["admin"]): ReturnType<TestServer["client"]> => ({
    host: "127.0.0.1",
    port: listener.port,
    ca: pki.ca.cert,
    ...(identity === undefined ? {} : { key: identity.key, cert: identity.cert }),
  });
  return { listener, pki, logged, client };
}

let shared: Promise<Pki> | undefined;

/** One set of certificates for all tests of a process. */
function makePki(): Promise<Pki> {
  return (shared ??= makeForeignPki());
}

/** Certificates of another cluster. */
export async function makeForeignPki(): Promise<Pki> {
  const dir = mkdtempSync(join(tmpdir(), "setpoint-transport-"));
  const pki = await openPki({ dir, names: serverNames([], "10.96.0.1"), loop, log: silentLog });
  rmSync(dir, { recursive: true });
  return pki;
}

export interface ClientRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly identity?: Pki["admin"];
  /** The body, or a function that writes it. */
  readonly body?: string | Uint8Array | ((out: Writable) => void);
}

export interface ClientAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Paused until the test reads it. */
  readonly body: Readable;
  /** Disconnects without reading the rest. */
  leave(): void;
}

export type Send = (server: TestServer, request?: ClientRequest) => Promise<ClientAnswer>;

/** Each request uses a connection of its own. */
export const PROTOCOLS: readonly (readonly [string, Send])[] = [
  ["HTTP/1.1", sendHttp1],
  ["HTTP/2", (server, request) => sendHttp2(openSession(server, request?.identity), request)],
];

function sendHttp1(server: TestServer, request: ClientRequest = {}): Promise<ClientAnswer> {
  const { method = "GET", path = "/", headers = {}, identity, body } = request;
  return new Promise((resolve, reject) => {
    const out = httpsRequest({ ...server.client(identity), method, path, headers, agent: false });
    out.on("error", reject);
    out.on("response", (answer) => {
      answer.on("error", () => undefined);
      const { statusCode: status = 0, headers: fields } = answer;
      resolve({ status, headers: fields, body: answer, leave: () => void answer.destroy() });
    });
    sendBody(out, body);
  });
}

/** Rejects when the stream fails, is refused, or the session ends before an answer. */
export function sendHttp2(session: ClientHttp2Session, request: ClientRequest = {}): Promise<ClientAnswer> {
  const { method = "GET", path = "/", headers = {}, body } = request;
  return new Promise((resolve, reject) => {
    const stream = session.request(
      { ":method": method, ":path": path, ...headers },
      { endStream: body === undefined },
    );
    stream.on("error", reject);
    stream.on("close", () => reject(new Error(`closed without an answer: ${String(stream.rstCode)}`)));
    stream.on("response", (fields) => {
      const status = fields[":status"] ?? 0;
      resolve({ status, headers: fields, body: stream, leave: () => stream.close(8) });
    });
    if (body !== undefined) sendBody(stream, body);
  });
}

export function openSession(server: TestServer, identity?: Pki["admin"]): ClientHttp2Session {
  const options = server.client(identity);
  const session = connectHttp2(`https://127.0.0.1:${String(options.port)}`, { ...options });
  session.on("error", () => undefined);
  onTestFinished(() => session.destroy());
  return session;
}

function sendBody(out: Writable, body: ClientRequest["body"]): void {
  if (typeof body === "function") body(out);
  else out.end(body);
}

/** A connection over which a test writes raw bytes. */
export function openRaw(server: TestServer, options: ConnectionOptions = {}): TLSSocket {
  const socket = connectTls({ ...server.client(), ALPNProtocols: ["http/1.1"], ...options });
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Reads until the end of the stream. */
export async function readAll(from: Readable): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of from as AsyncIterable<Uint8Array>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** As `readAll`, for connections that the other side may cut: returns the text received until then. */
export function readUntilClosed(socket: TLSSocket): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    socket.on("data", (chunk: Uint8Array) => (text += Buffer.from(chunk).toString()));
    socket.once("close", () => resolve(text));
  });
}

export function answer(body: string | HttpResponse["body"], given: Partial<HttpResponse> = {}): HttpResponse {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  return { status: 200, headers: new Map([["content-type", "text/plain"]]), body: bytes, ...given };
}

/** A promise that a test settles from outside. */
export function pending<T = void>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let settle: ((value: T) => void) | undefined;
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: (value) => settle?.(value) };
}
