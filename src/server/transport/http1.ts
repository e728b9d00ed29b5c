/**
 * Carries exchanges over HTTP/1.1. Answers unparsable bytes in order (400, 408, 413, 431), then closes the connection.
 */
import type { EventEmitter } from "node:events";
import { createServer, ServerResponse, type IncomingMessage, type Server } from "node:http";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import type { SwitchedStream } from "../request/http.ts";
import type { ClientConnection } from "./client-connection.ts";
import type { Connection } from "./connections.ts";
import { discardRest } from "./discard-rest.ts";
import { HttpExchange, type AnswerHead, type ExchangeParts, type Wire } from "./http-exchange.ts";
import { EXPECTATION_REFUSAL, faultAnswer, headText, HOST_REFUSALS } from "./http1-text.ts";
import { joined } from "./joined-streams.ts";
import type { TransportLimits } from "./limits.ts";

/**
 * Up to this length a response is handed to Node as latin1 text. It then goes out in one piece with its head. That
 * saves up to a seventh of the cost of a small response. Longer ones cost more to copy.
 */
const TEXT_BYTES_MAX = 16 * 1024;

/** The host values that Go accepts. */
const HOST = /^[\w!$%&'()*+,\-.:;=[\]~]*$/;
export interface Http1 {
  /** Takes a socket after its TLS handshake. */
  accept(socket: TLSSocket, client: ClientConnection): Connection;
  close(): void;
}

export function createHttp1(parts: ExchangeParts): Http1 {
  const server = createServer(serverOptions(parts.limits));
  // Node would silently drop headers above its default of 2000; `maxHeaderSize` bounds them anyway.
  server.maxHeadersCount = 0;
  const connections = new WeakMap<Duplex, Http1Connection>();
  const chunks = new Chunks();
  const serve = (req: IncomingMessage, res: ServerResponse): void =>
    connections.get(req.socket)?.serve(req, res);
  server.on("request", serve).on("checkContinue", serve);
  // Without a listener Node responds itself, on a socket that may already belong to another exchange.
  server.on("checkExpectation", (req: IncomingMessage) =>
    connections.get(req.socket)?.refuse(EXPECTATION_REFUSAL),
  );
  // Without a listener Node responds itself, ahead of the response to an earlier request.
  server.on("clientError", ({ code }: NodeJS.ErrnoException, socket) => connections.get(socket)?.fail(code));
  server.on("upgrade", (req, socket, head) => connections.get(socket)?.serveUpgrade(req, head));
  startTimeouts(server);
  return {
    accept(socket, client) {
      const connection = new Http1Connection(socket, chunks, { parts, client });
      connections.set(socket, connection);
      server.emit("connection", socket);
      return connection;
    },
    close() {
      server.close();
    },
  };
}

function serverOptions(limits: TransportLimits): Parameters<typeof createServer>[0] & object {
  return {
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.headersTimeoutMs + limits.bodyTimeoutMs,
    keepAliveTimeout: limits.idleTimeoutMs,
    connectionsCheckingInterval: Math.ceil(limits.headersTimeoutMs / 2),
    insecureHTTPParser: false,
    // Otherwise Node responds itself, as it would to an unknown `expect`.
    requireHostHeader: false,
  };
}

/** Node checks for slow requests only after this event. This server never listens: it is handed its sockets. */
function startTimeouts(server: Server): void {
  server.emit("listening");
}

interface ConnectionParts {
  readonly parts: ExchangeParts;
  readonly client: ClientConnection;
}

class Http1Connection implements Connection {
  /** In order of arrival; mostly one. Not a Set: V8 keeps entries of a Set alive longer. */
  readonly exchanges: HttpExchange[] = [];
  readonly #socket: TLSSocket;
  readonly #chunks: Chunks;
  readonly #parts: ExchangeParts;
  readonly #client: ClientConnection;
  #state: "open" | "finishing" = "open";
  /** Last response, after bytes that are no valid request. Nothing after them can be trusted either. */
  #refusal: string | undefined;
  /** Last valid host header: clients send the same one repeatedly. */
  #host: string | undefined;
  #last: IncomingMessage | undefined;

  constructor(socket: TLSSocket, chunks: Chunks, { parts, client }: ConnectionParts) {
    this.#socket = socket;
    this.#client = client;
    this.#chunks = chunks;
    this.#parts = parts;
    // Node does not report the close to pipelined responses that wait behind another one.
    socket.once("close", () => {
      for (const exchange of this.exchanges.splice(0)) exchange.closed();
    });
  }

  get isFinishing(): boolean {
    return this.#state === "finishing";
  }

  serve(req: IncomingMessage, res: ServerResponse): void {
    if (this.#refusal !== undefined) return;
    this.#last = req;
    const { method = "", url: target = "" } = req;
    const wire = new Http1Wire(req, res, { connection: this, chunks: this.#chunks });
    if (!this.#hasRightHost(wire)) return;
    const exchange = new HttpExchange({ method, target, client: this.#client, wire }, this.#parts);
    this.exchanges.push(exchange);
    res.on("close", () => {
      this.#forget(exchange);
      exchange.closed();
      this.#startNext();
      this.#endIfDone();
    });
    if (this.exchanges.length === 1) exchange.start();
    else if (this.exchanges.length > this.#parts.limits.maxRequestsAhead) this.#socket.destroy();
  }

  /** Refuses the request if not. Two host headers, joined with a space, fail like one that contains a space. */
  #hasRightHost(wire: Http1Wire): boolean {
    const host = wire.readHeaders().get("host");
    if (host !== undefined && host === this.#host) return true;
    if (host === undefined && wire.incoming.httpVersion === "1.0") return true;
    if (host === undefined || !HOST.test(host)) {
      this.refuse(host === undefined ? HOST_REFUSALS.missing : HOST_REFUSALS.malformed);
      return false;
    }
    this.#host = host;
    return true;
  }

  /** Sends `answer` after the responses to earlier requests, then closes. */
  refuse(answer: string): void {
    if (this.#refusal !== undefined) return;
    this.#refusal = answer;
    this.#endIfDone();
  }

  /** Handles a broken connection, or a malformed or late request or body. */
  fail(code: string | undefined): void {
    const answer = faultAnswer(code);
    if (this.#last?.complete !== false && this.#socket.writable) return this.refuse(answer);
    // The client would take a response to the last request for one to the first.
    const [first, ...others] = this.exchanges;
    if (first?.isUnanswered === true && others.length === 0) this.#socket.write(answer);
    return void this.#socket.destroy();
  }

  #forget(exchange: HttpExchange): void {
    const at = this.exchanges.indexOf(exchange);
    if (at >= 0) this.exchanges.splice(at, 1);
  }

  /**
   * Pipelined requests are carried out one after the other, because their responses go out in order. A request carried
   * out early would hold its resources until its response is due.
   */
  #startNext(): void {
    const [next] = this.exchanges;
    if (!this.#socket.destroyed) next?.start();
  }

  /**
   * Handles an upgrade request. It passes the handler like any other, and is the last request of its connection. `head`
   * holds bytes that the client sent ahead; they are used only if the response switches protocols.
   */
  serveUpgrade(req: IncomingMessage, head: Buffer): void {
    const socket = this.#socket;
    // Node removes its own error handler from an upgraded socket.
    socket.on("error", () => undefined);
    // The client could not tell where an earlier, unfinished response ends.
    if (this.exchanges.length > 0) {
      socket.destroy();
      return;
    }
    if (this.#refusal !== undefined) return;
    const { method = "", url: target = "" } = req;
    const res = new ServerResponse(req);
    res.assignSocket(socket);
    socket.on("drain", () => res.emit("drain"));
    res.on("finish", () => socket.destroySoon());
    const wire = new Http1Wire(req, res, { connection: this, chunks: this.#chunks, head });
    if (!this.#hasRightHost(wire)) return;
    const exchange = new HttpExchange(
      { method, target, client: this.#client, wire, isUpgrade: true },
      this.#parts,
    );
    this.exchanges.push(exchange);
    exchange.start();
  }

  finish(): void {
    this.#state = "finishing";
    this.#endIfDone();
  }

  /** Bytes already written are still sent. */
  #endIfDone(): void {
    if (this.exchanges.length > 0 || (this.#state === "open" && this.#refusal === undefined)) return;
    if (this.#refusal !== undefined && this.#socket.writable) this.#socket.write(this.#refusal);
    this.#socket.destroySoon();
  }
}

interface WireParts {
  readonly connection: Http1Connection;
  readonly chunks: Chunks;
  /** Bytes received after an upgrade request. */
  readonly head?: Buffer;
}

class Http1Wire implements Wire {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly #parts: WireParts;
  #headers: ReadonlyMap<string, string> | undefined;
  #wasInvited = false;

  constructor(req: IncomingMessage, res: ServerResponse, parts: WireParts) {
    this.incoming = req;
    this.outgoing = res;
    this.#parts = parts;
  }

  get remoteAddress(): string | undefined {
    return this.incoming.socket.remoteAddress;
  }

  get announcedBytes(): number | undefined {
    if (this.#parts.head !== undefined) return 0;
    const headers = this.readHeaders();
    const length = headers.get("content-length");
    if (length !== undefined) return Number(length);
    return headers.has("transfer-encoding") ? undefined : 0;
  }

  get rawHeaders(): readonly string[] {
    return this.incoming.rawHeaders;
  }

  /** Parses the raw list: Node would build its own headers object in addition. */
  readHeaders(): ReadonlyMap<string, string> {
    return (this.#headers ??= headersFromList(this.incoming.rawHeaders));
  }

  /** Whether the client waits for 100 Continue before it sends its body. */
  get #isInvitationDue(): boolean {
    return !this.#wasInvited && this.readHeaders().has("expect");
  }

  isWhole(): boolean {
    return this.incoming.complete;
  }

  inviteBody(): void {
    if (!this.#isInvitationDue) return;
    this.#wasInvited = true;
    this.outgoing.writeContinue();
  }

  answer(head: AnswerHead, body: Uint8Array | undefined): void {
    this.#writeHead(head);
    const end = head.isLine === true && body !== undefined ? "\n" : "";
    if (body !== undefined && body.byteLength <= TEXT_BYTES_MAX)
      this.outgoing.end(asText(body) + end, "latin1");
    else if (end === "") this.outgoing.end(body);
    else this.#endCorked(body, end);
  }

  /** Sends body and newline in one write, without a copy. */
  #endCorked(body: Uint8Array | undefined, end: string): void {
    this.outgoing.cork();
    this.outgoing.write(body);
    this.outgoing.end(end, "latin1");
  }

  /** Flushes the head: a watch may have no event for minutes. */
  begin(head: AnswerHead): void {
    this.#writeHead(head);
    this.outgoing.flushHeaders();
  }

  /** Writes a piece with its framing in one write; Node would make three. */
  write(piece: Uint8Array): boolean {
    return this.incoming.socket.write(this.outgoing.chunkedEncoding ? this.#parts.chunks.of(piece) : piece);
  }

  get drains(): EventEmitter {
    return this.incoming.socket;
  }

  cut(): void {
    this.incoming.socket.destroy();
  }

  splice({ status, headers }: AnswerHead, switched: SwitchedStream): Promise<void> {
    const { socket } = this.incoming;
    this.outgoing.detachSocket(socket);
    socket.write(headText(status, headers), "latin1");
    const { head = EMPTY } = this.#parts;
    return joined({ stream: socket, head }, switched);
  }

  #writeHead({ status, headers, lengthBytes }: AnswerHead): void {
    const list: string[] = [];
    for (const [name, value] of headers) list.push(name, value);
    if (lengthBytes !== undefined && !headers.has("content-length")) {
      list.push("content-length", String(lengthBytes));
    }
    if (this.#parts.connection.isFinishing || this.#isEndUnclear()) list.push("connection", "close");
    this.outgoing.writeHead(status, list);
    if (!this.incoming.complete) discardRest(this.incoming, () => this.cut());
  }

  /**
   * A client that got no 100 Continue may or may not send its body. A client that asked for an upgrade may have sent
   * bytes of another protocol. The next bytes must not be parsed as a request.
   */
  #isEndUnclear(): boolean {
    return this.#isInvitationDue || this.readHeaders().has("upgrade");
  }
}

/** Lower-case names, repeated headers joined, from a list in which names and values alternate. */
function headersFromList(raw: readonly string[]): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] ?? "").toLowerCase();
    const value = raw[at + 1] ?? "";
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
}

function asText({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("latin1");
}

const EMPTY = Buffer.alloc(0);

/** Watchers at the same position need one chunk; the others serve slower watchers and watchers of other objects. */
const KEPT = 8;

interface Framed {
  readonly piece: Uint8Array;
  readonly chunk: Uint8Array;
}

/** Frames pieces as HTTP/1.1 chunks. Watchers get the same pieces one after the other, and so share the chunks. */
export class Chunks {
  /** Newest first. */
  #kept: Framed[] = [];

  of(piece: Uint8Array): Uint8Array {
    for (const framed of this.#kept) if (framed.piece === piece) return framed.chunk;
    const chunk = chunkOf(piece);
    this.#kept = [{ piece, chunk }, ...this.#kept.slice(0, KEPT - 1)];
    return chunk;
  }
}

function chunkOf(piece: Uint8Array): Uint8Array {
  const head = `${piece.byteLength.toString(16)}\r\n`;
  const end = head.length + piece.byteLength;
  const chunk = Buffer.allocUnsafe(end + 2);
  chunk.write(head, "latin1");
  chunk.set(piece, head.length);
  chunk.write("\r\n", end, "latin1");
  return chunk;
}
