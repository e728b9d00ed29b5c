/** Carries exchanges over HTTP/2, on Node's stream interface: its request and response objects cost a sixth more. */
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
import type { WholeBody } from "../request/http.ts";
import type { ClientConnection } from "./client-connection.ts";
import type { Connection } from "./connections.ts";
import { discardRest } from "./discard-rest.ts";
import { Exchange, NEWLINE, type AnswerHead, type Surroundings, type Wire } from "./exchange.ts";
import { headersFromFields } from "./headers.ts";
import type { TransportLimits } from "./limits.ts";
import { RateBudget } from "./rate-budget.ts";

/**
 * What one session may hold, mostly answers that wait for the client: each stream holds at most a piece of 64 KiB and
 * 16 KiB of its own. Node refuses new streams above it, and its default of 10 MB is reached by a hundred slow readers.
 */
const MAX_SESSION_MEMORY_MB = 128;

/** How much of a body a client may send before anybody reads it: twelve round trips for the largest body, kept per stream. */
const STREAM_WINDOW_BYTES = 256 * 1024;
/** Of all streams together, once a request on the connection was verified; until then the protocol's own 64 KiB. */
const SESSION_WINDOW_BYTES = 1024 * 1024;

/** Node's default is 1000; an honest client sends none. */
const MAX_INVALID_FRAMES = 100;

const { NGHTTP2_ENHANCE_YOUR_CALM } = constants;

/** Takes a socket whose handshake is done. */
export function acceptHttp2(
  socket: TLSSocket,
  client: ClientConnection,
  surroundings: Surroundings,
): Connection {
  const session = performServerHandshake(socket, sessionOptions(surroundings.limits));
  return new Http2Connection(session, { client, surroundings });
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
  readonly surroundings: Surroundings;
}

/** The last are names and values in turn. */
type StreamEvent = [
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  flags: number,
  raw: readonly string[],
];

class Http2Connection implements Connection {
  readonly exchanges = new Set<Exchange>();
  readonly #session: ServerHttp2Session;
  readonly #options: Http2ConnectionOptions;
  /**
   * Requests that the client may take back before they were answered (CVE-2023-44487). Taking one back costs the client
   * nothing and the server a request, and streams that are reset do not count as concurrent.
   */
  readonly #resets: RateBudget;
  /** Whether it was asked for a sign of life, and has not given it yet. */
  #isAwaited = false;

  constructor(session: ServerHttp2Session, options: Http2ConnectionOptions) {
    this.#session = session;
    this.#options = options;
    const { loop, limits } = options.surroundings;
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

  /** Tells the client not to begin anything new here; open streams go on. */
  finish(): void {
    this.#session.close();
  }

  /** By then Node has ended the stream or the session. */
  readonly #noteFailure = (error: Error): void => {
    this.#options.surroundings.log.debug("an HTTP/2 client failed", { error });
  };

  #serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[]): void {
    const { client, surroundings } = this.#options;
    stream.on("error", this.#noteFailure);
    const { ":method": method, ":path": target } = headers;
    // CONNECT, which nobody here offers, has no path.
    if (method === undefined || target === undefined) {
      stream.respond({ ":status": 400 }, { endStream: true });
      return;
    }
    const wire = new Http2Wire(stream, { headers, raw, surroundings });
    const exchange = new Exchange({ method, target, client, wire }, surroundings);
    this.exchanges.add(exchange);
    stream.on("close", () => this.#closed(exchange));
    exchange.start();
  }

  #closed(exchange: Exchange): void {
    this.exchanges.delete(exchange);
    const wasTakenBack = exchange.isUnanswered;
    exchange.closed();
    if (wasTakenBack && !this.#resets.take(this.#options.surroundings.loop.elapsed())) {
      this.#session.destroy(undefined, NGHTTP2_ENHANCE_YOUR_CALM);
    }
  }

  /**
   * Long watches may be silent for as long as they like, while somebody is there who hears them: a session that a wrong frame has brought to
   * its end says nothing any more, and its socket is no longer read, so that it would never be known to be closed.
   */
  #closeIfUnused(): void {
    const session = this.#session;
    const { idleTimeoutMs, headersTimeoutMs } = this.#options.surroundings.limits;
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
  readonly surroundings: Surroundings;
}

class Http2Wire implements Wire {
  readonly incoming: ServerHttp2Stream;
  readonly outgoing: ServerHttp2Stream;
  readonly rawHeaders: readonly string[];
  readonly #headers: IncomingHttpHeaders;
  readonly #surroundings: Surroundings;

  constructor(stream: ServerHttp2Stream, { headers, raw, surroundings }: Http2WireOptions) {
    this.rawHeaders = raw;
    this.incoming = stream;
    this.outgoing = stream;
    this.#headers = headers;
    this.#surroundings = surroundings;
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

  /** A stream that the client broke off ends as any other, but it is closed by then. */
  isWhole(): boolean {
    return !this.incoming.closed && !this.incoming.destroyed;
  }

  inviteBody(): void {
    if (this.#headers.expect?.toLowerCase() !== "100-continue") return;
    if (!this.outgoing.closed) this.outgoing.additionalHeaders({ ":status": 100 });
  }

  answer(head: AnswerHead, body: WholeBody | undefined): void {
    const endStream = body === undefined || body.length === 0;
    this.outgoing.respond(headersOf(head), { endStream });
    if (!endStream) this.#end(body, head);
    this.#discardRest();
  }

  #end(body: WholeBody, { isLine }: AnswerHead): void {
    if (isLine !== true) return void this.outgoing.end(body, "latin1");
    if (typeof body === "string") return void this.outgoing.end(`${body}\n`, "latin1");
    // A second frame costs more than the copy: what is long comes in pieces.
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

  /** Closed otherwise, the stream would first be ended as if nothing were missing. */
  cut(): void {
    this.outgoing.destroy(new Error("the answer was cut"));
  }

  /**
   * Clients stop sending a body once its answer is there. The stream is not reset for it: where the client has left meanwhile, Node.js would make empty frames for ever,
   * with nobody else getting a turn.
   */
  #discardRest(): void {
    const { incoming } = this;
    if (incoming.endAfterHeaders || incoming.readableEnded) return;
    discardRest(incoming, () => this.cut());
    const { loop, limits } = this.#surroundings;
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
