/** Carries exchanges over HTTP/2. Uses Node's stream API: its request and response objects cost a sixth more. */
import type { EventEmitter } from "node:events";
import {
  constants,
  performServerHandshake,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from "node:http2";
import type { TLSSocket } from "node:tls";
import type { ClientConnection } from "./client-connection.ts";
import type { Connection } from "./connections.ts";
import { discardRest } from "./discard-rest.ts";
import { HttpExchange, NEWLINE, type AnswerHead, type ExchangeParts, type Wire } from "./http-exchange.ts";
import type { TransportLimits } from "./limits.ts";
import { RateBudget } from "./rate-budget.ts";

/**
 * Memory bound of one session, mostly responses that wait for the client. Each stream holds at most a piece of 64 KiB
 * plus a buffer of 16 KiB. Node refuses new streams above the bound; a hundred slow readers reach its default of 10 MB.
 */
const MAX_SESSION_MEMORY_MB = 128;

/** Bytes of a body that a client may send unread, per stream: twelve round trips for the largest body. */
const STREAM_WINDOW_BYTES = 256 * 1024;
/** Window of all streams together, once a request on the connection was verified; until then the protocol's 64 KiB. */
const SESSION_WINDOW_BYTES = 1024 * 1024;

/** Node's default is 1000; a correct client sends none. */
const MAX_INVALID_FRAMES = 100;

const { NGHTTP2_ENHANCE_YOUR_CALM } = constants;

/** Takes a socket after its TLS handshake. */
export function acceptHttp2(socket: TLSSocket, client: ClientConnection, parts: ExchangeParts): Connection {
  const session = performServerHandshake(socket, sessionOptions(parts.limits));
  return new Http2Connection(session, { client, parts });
}

function sessionOptions({ maxStreamsPerSession, maxHeaderBytes }: TransportLimits): ServerOptions {
  return {
    maxSessionMemory: MAX_SESSION_MEMORY_MB,
    maxSessionInvalidFrames: MAX_INVALID_FRAMES,
    settings: {
      maxConcurrentStreams: maxStreamsPerSession,
      initialWindowSize: STREAM_WINDOW_BYTES,
      maxHeaderListSize: maxHeaderBytes,
    },
  };
}

interface Http2ConnectionOptions {
  readonly client: ClientConnection;
  readonly parts: ExchangeParts;
}

/** In `raw`, names and values alternate. */
type StreamEvent = [
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  flags: number,
  raw: readonly string[],
];

class Http2Connection implements Connection {
  readonly exchanges = new Set<HttpExchange>();
  readonly #session: ServerHttp2Session;
  readonly #options: Http2ConnectionOptions;
  /**
   * Requests that the client may cancel before they are answered (CVE-2023-44487). A cancel costs the client nothing
   * and the server a request, and reset streams do not count as concurrent.
   */
  readonly #resets: RateBudget;
  /** Whether a ping is unanswered. */
  #isAwaited = false;

  constructor(session: ServerHttp2Session, options: Http2ConnectionOptions) {
    this.#session = session;
    this.#options = options;
    const { loop, limits } = options.parts;
    const { maxResetBurst: burst, maxResetsPerSecond: perSecond } = limits;
    this.#resets = new RateBudget({ burst, perSecond }, loop.elapsed());
    options.client.whenTrusted(() => {
      if (!session.destroyed) session.setLocalWindowSize(SESSION_WINDOW_BYTES);
    });
    session.on("error", this.#noteFailure);
    session.setTimeout(limits.headersTimeoutMs);
    session.on("timeout", () => this.#closeIfUnused());
    session.once("stream", () => session.setTimeout(limits.idleTimeoutMs));
    session.on("stream", (...[stream, headers, , raw]: StreamEvent) => this.#serve(stream, headers, raw));
  }

  /** Sends GOAWAY: no new streams; open streams continue. */
  finish(): void {
    this.#session.close();
  }

  /** Only logs: Node has already closed the stream or the session. */
  readonly #noteFailure = (error: Error): void => {
    this.#options.parts.log.debug("an HTTP/2 client failed", { error });
  };

  #serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[]): void {
    const { client, parts } = this.#options;
    stream.on("error", this.#noteFailure);
    const { ":method": method, ":path": target } = headers;
    // CONNECT, which the server does not support, has no path.
    if (method === undefined || target === undefined) {
      stream.respond({ ":status": 400 }, { endStream: true });
      return;
    }
    const wire = new Http2Wire(stream, { headers, raw, parts });
    const exchange = new HttpExchange({ method, target, client, wire }, parts);
    this.exchanges.add(exchange);
    stream.on("close", () => this.#closed(exchange));
    exchange.start();
  }

  #closed(exchange: HttpExchange): void {
    this.exchanges.delete(exchange);
    const wasTakenBack = exchange.isUnanswered;
    exchange.closed();
    if (wasTakenBack && !this.#resets.take(this.#options.parts.loop.elapsed())) {
      this.#session.destroy(undefined, NGHTTP2_ENHANCE_YOUR_CALM);
    }
  }

  /**
   * Long watches may be idle, so an idle session is pinged and closed only if the ping fails. After an invalid frame a
   * session stops reading its socket, so it would never see the close.
   */
  #closeIfUnused(): void {
    const session = this.#session;
    const { idleTimeoutMs, headersTimeoutMs } = this.#options.parts.limits;
    if (this.exchanges.size === 0) return session.close();
    if (this.#isAwaited) return session.destroy();
    this.#isAwaited = true;
    session.ping(() => {
      this.#isAwaited = false;
      session.setTimeout(idleTimeoutMs);
    });
    return session.setTimeout(headersTimeoutMs);
  }
}

interface Http2WireOptions {
  readonly headers: IncomingHttpHeaders;
  readonly raw: readonly string[];
  readonly parts: ExchangeParts;
}

class Http2Wire implements Wire {
  readonly incoming: ServerHttp2Stream;
  readonly outgoing: ServerHttp2Stream;
  readonly rawHeaders: readonly string[];
  readonly #headers: IncomingHttpHeaders;
  readonly #parts: ExchangeParts;

  constructor(stream: ServerHttp2Stream, { headers, raw, parts }: Http2WireOptions) {
    this.rawHeaders = raw;
    this.incoming = stream;
    this.outgoing = stream;
    this.#headers = headers;
    this.#parts = parts;
  }

  get remoteAddress(): string | undefined {
    return this.incoming.session?.socket.remoteAddress;
  }

  get announcedBytes(): number | undefined {
    if (this.incoming.endAfterHeaders) return 0;
    const length = this.#headers["content-length"];
    return length === undefined ? undefined : Number(length);
  }

  readHeaders(): ReadonlyMap<string, string> {
    return headersFromFields(this.#headers);
  }

  /** An aborted stream emits `end` like any other, but is closed by then. */
  isWhole(): boolean {
    return !this.incoming.closed && !this.incoming.destroyed;
  }

  inviteBody(): void {
    if (this.#headers.expect?.toLowerCase() !== "100-continue") return;
    if (!this.outgoing.closed) this.outgoing.additionalHeaders({ ":status": 100 });
  }

  answer(head: AnswerHead, body: Uint8Array | undefined): void {
    const endStream = body === undefined || body.length === 0;
    this.outgoing.respond(headersOf(head), { endStream });
    if (!endStream) this.#end(body, head);
    this.#discardRest();
  }

  #end(body: Uint8Array, { isLine }: AnswerHead): void {
    if (isLine !== true) return void this.outgoing.end(body);
    // A second frame costs more than the copy; long bodies are streamed in pieces instead.
    this.outgoing.end(Buffer.concat([body, NEWLINE]));
  }

  begin(head: AnswerHead): void {
    this.outgoing.respond(headersOf(head));
    this.outgoing.once("finish", () => this.#discardRest());
  }

  write(piece: Uint8Array): boolean {
    return this.outgoing.write(piece);
  }

  get drains(): EventEmitter {
    return this.outgoing;
  }

  /** Destroys with an error: `close` would first end the stream as if it were complete. */
  cut(): void {
    this.outgoing.destroy(new Error("the response was cut off"));
  }

  /**
   * Clients stop sending a body once they have the response. The stream is not reset: if the client has left, Node
   * would produce empty frames forever and block the thread.
   */
  #discardRest(): void {
    const { incoming } = this;
    if (incoming.endAfterHeaders || incoming.readableEnded) return;
    discardRest(incoming, () => this.cut());
    const { loop, limits } = this.#parts;
    const late = loop.timer(loop.now() + limits.headersTimeoutMs, "periodic", () => this.cut());
    incoming.once("close", () => late.cancel());
  }
}

function headersOf({ status, headers, lengthBytes }: AnswerHead): Record<string, string | number> {
  const fields: Record<string, string | number> = { ":status": status };
  for (const [name, value] of headers) fields[name] = value;
  if (lengthBytes !== undefined) fields["content-length"] ??= lengthBytes;
  return fields;
}

/**
 * Converts HTTP/2 headers. Node has joined repeated ones, and keeps only the first of single-value headers such as
 * `authorization`. Pseudo-headers are left out; `:authority` becomes `host`.
 */
function headersFromFields(fields: IncomingHttpHeaders): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const name in fields) {
    const value = fields[name];
    const text = Array.isArray(value) ? value.join(", ") : (value ?? "");
    if (name === ":authority") headers.set("host", text);
    else if (!name.startsWith(":")) headers.set(name, text);
  }
  return headers;
}
