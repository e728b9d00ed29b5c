/**
 * One request and its response, over HTTP/1.1 or HTTP/2. Hands the request to the handler as a step of the loop, and
 * the response to the wire. Aborts the handler's work when the client disconnects.
 */
import type { Writable } from "node:stream";
import { tooManyRequests, toStatus } from "../../api/errors/api-error.ts";
import { assert } from "../../base/assert.ts";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type {
  Feed,
  HttpHandler,
  HttpRequest,
  HttpResponse,
  PeerIdentity,
  SwitchedStream,
  QueuedStep,
  QueueEntry,
} from "../request/http.ts";
import { withoutMapping } from "./address-block.ts";
import type { ClientConnection } from "./client-connection.ts";
import type { TransportLimits } from "./limits.ts";
import { Outflow, PIECE_BYTES, type PieceSink } from "./outflow.ts";
import { PulledFeed } from "./pulled-feed.ts";
import type { QueueOwner } from "./queue-owner.ts";
import { receiveBody, type BodyBudget, type BodySource } from "./receive-body.ts";
import type { QueuedRequest, RequestQueue } from "./request-queue.ts";

/** Dependencies that all exchanges of a listener share. */
export interface ExchangeParts {
  readonly loop: Loop;
  readonly log: Log;
  readonly handler: HttpHandler;
  readonly limits: TransportLimits;
  readonly budget: BodyBudget;
  readonly queue: RequestQueue;
}

/** The parts that differ between HTTP/1.1 and HTTP/2. */
export interface Wire extends BodySource, PieceSink {
  readonly outgoing: Writable;
  /** Address of the client; undefined once it has disconnected. */
  readonly remoteAddress: string | undefined;
  /** Parses the headers. Called at most once, because parsing is expensive. */
  readHeaders(): ReadonlyMap<string, string>;
  /** Names and values alternate, as the client sent them. */
  readonly rawHeaders: readonly string[];
  /** Sends 100 Continue to a client that waits for it (`expect: 100-continue`). */
  inviteBody(): void;
  /** Sends a whole response. Throws, and sends nothing, when the headers are invalid. */
  answer(head: AnswerHead, body: Uint8Array | undefined): void;
  /** Sends the head of a response whose body follows through `outgoing`. Throws as `answer` does. */
  begin(head: AnswerHead): void;
  /**
   * Sends the head and joins the connection with the stream; resolves when both are closed. Absent in HTTP/2, where a
   * connection carries several requests.
   */
  splice?(head: AnswerHead, switched: SwitchedStream): Promise<void>;
  /** Aborts the response so that the client can tell that it is incomplete. */
  cut(): void;
}

export interface AnswerHead {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  /** Length of the body, if known. */
  readonly lengthBytes: number | undefined;
  /** Whether a newline is sent after the whole body. `lengthBytes` includes it. */
  readonly isLine?: boolean;
}

export interface HttpExchangeStart {
  readonly method: string;
  readonly target: string;
  readonly client: ClientConnection;
  readonly wire: Wire;
  readonly isUpgrade?: boolean;
}

/** `answering`: from the first byte of the response to the last. `gone`: the client disconnected before that. */
type HttpExchangeState = "running" | "answering" | "done" | "gone";

export class HttpExchange implements HttpRequest, QueuedRequest, QueueEntry {
  readonly method: string;
  readonly target: string;
  readonly peer: PeerIdentity | undefined;
  readonly isUpgrade: boolean;
  onBody: HttpRequest["onBody"];
  readonly #parts: ExchangeParts;
  readonly #client: ClientConnection;
  readonly #wire: Wire;
  #state: HttpExchangeState = "running";
  /** Owner under which the request waits or runs. */
  #owner: QueueOwner | undefined;
  #headers: ReadonlyMap<string, string> | undefined;
  #abort: AbortController | undefined;
  #abortReason: Error | undefined;
  #isBodyRead = false;
  /** Response of a synchronous handler, not sent yet. */
  #ready: HttpResponse | undefined;
  #feed: Feed | undefined;
  #outflow: Outflow | undefined;

  constructor(start: HttpExchangeStart, parts: ExchangeParts) {
    this.method = start.method;
    this.target = start.target;
    this.#client = start.client;
    this.peer = start.client.peer;
    this.isUpgrade = start.isUpgrade ?? false;
    this.#wire = start.wire;
    this.#parts = parts;
  }

  get headers(): ReadonlyMap<string, string> {
    return (this.#headers ??= this.#wire.readHeaders());
  }

  get remoteAddress(): string | undefined {
    const { remoteAddress } = this.#wire;
    return remoteAddress === undefined ? undefined : withoutMapping(remoteAddress);
  }

  valuesOf(name: string): readonly string[] {
    return headerValues(this.#wire.rawHeaders, name);
  }

  /** Created on first use: most requests are answered without it. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#abortReason !== undefined) this.#abort.abort(this.#abortReason);
    }
    return this.#abort.signal;
  }

  /** True until a response was begun or the client disconnected. */
  get isUnanswered(): boolean {
    return this.#state === "running";
  }

  readBody(maxBytes: number): Promise<Uint8Array> {
    assert(!this.#isBodyRead, "the body of a request is read once");
    this.#isBodyRead = true;
    const { loop, budget, limits } = this.#parts;
    if ((this.#wire.announcedBytes ?? 0) <= maxBytes) this.#wire.inviteBody();
    return receiveBody(this.#wire, { loop, budget, timeoutMs: limits.bodyTimeoutMs, maxBytes });
  }

  /** Unread bytes stay unread; the connection stays open when the iteration ends. */
  streamBody(): AsyncIterable<Uint8Array> {
    assert(!this.#isBodyRead, "the body of a request is read once");
    this.#isBodyRead = true;
    this.#wire.inviteBody();
    return this.#wire.incoming.iterator({ destroyOnReturn: false });
  }

  /** Queues the request for the server's thread. */
  start(): void {
    this.#owner = this.#client.ownerOf(this.peer, () => this.headers);
    this.#parts.queue.push(this.#owner, this);
  }

  get queueEntry(): QueueEntry {
    return this;
  }

  get share(): readonly string[] {
    const { user, path } = this.#owner ?? NO_OWNER;
    return user === undefined ? [STRANGERS, ...path] : [`user ${user}`];
  }

  isOwnedBy(user: string): boolean {
    return this.#owner?.user === user;
  }

  queueFor(user: string, step: QueuedStep): void {
    const owner = this.#client.verified(this.headers, user);
    this.#owner = owner;
    this.#parts.queue.push(owner, {
      method: this.method,
      target: this.target,
      run: () => step.begin(),
      respond: () => undefined,
      refuse: () => step.refuse(tooManyWaiting()),
    });
  }

  noteRefusal(): void {
    this.#client.refused(this.headers);
  }

  /** Aborts the handler's signal; the handler can still respond. */
  abort(reason: Error): void {
    if (this.#abortReason !== undefined) return;
    this.#abortReason = reason;
    this.#abort?.abort(reason);
  }

  /** The wire is closed. If the response is incomplete, the client left early. */
  closed(): void {
    if (this.#state === "gone" || this.#state === "done") return;
    this.#state = "gone";
    this.abort(new Error("the client is gone"));
    this.#outflow?.stop();
    this.#feed?.stop();
  }

  run(): void {
    if (this.#isGone()) return;
    try {
      const reply = this.#parts.handler(this);
      if (reply instanceof Promise)
        reply.then(
          (response) => this.#answer(response),
          (error: unknown) => this.#answer(this.#failure(error)),
        );
      else this.#ready = reply;
    } catch (error) {
      this.#ready = this.#failure(error);
    }
  }

  respond(): void {
    const response = this.#ready;
    if (response === undefined) return;
    this.#ready = undefined;
    this.#answer(response);
  }

  refuse(): void {
    this.#answer(errorResponse(tooManyWaiting()));
  }

  /** Handlers never throw by contract. If a bug makes one throw, the client gets the error. */
  #failure(error: unknown): HttpResponse {
    this.#parts.log.error("a request handler failed", { target: this.target, error });
    return errorResponse(error);
  }

  #answer(response: HttpResponse): void {
    if (this.#isGone()) return this.#discard(response);
    try {
      this.#send(response)?.catch((error: unknown) => this.#breakOff(error));
    } catch (error) {
      this.#breakOff(error);
    }
    return undefined;
  }

  /** The promise settles when an upgraded connection is closed. */
  #send(response: HttpResponse): Promise<void> | undefined {
    const { status, headers, switched, isLine = false } = response;
    this.#state = "answering";
    if (switched !== undefined) return this.#splice({ status, headers, lengthBytes: undefined }, switched);
    const lengthBytes = status === 204 ? undefined : lengthOf(response);
    const head = { status, headers, lengthBytes, isLine };
    const isBodiless = this.method === "HEAD" || status === 204 || status === 304;
    if (isBodiless) this.#discard(response);
    const feed = isBodiless ? undefined : this.#feedOf(response);
    if (feed === undefined) this.#answerWhole(head, isBodiless ? undefined : response.body);
    else this.#stream(head, feed);
    return undefined;
  }

  #answerWhole(head: AnswerHead, body: HttpResponse["body"] | undefined): void {
    this.#wire.answer(head, body !== undefined && body instanceof Uint8Array ? body : undefined);
    this.#state = "done";
  }

  async #splice(head: AnswerHead, switched: SwitchedStream): Promise<void> {
    if (this.#wire.splice === undefined || !this.isUpgrade) {
      switched.stream.destroy();
      throw new Error("this connection cannot switch protocols");
    }
    const end = (): void => void switched.stream.destroy();
    this.signal.addEventListener("abort", end, { once: true });
    await this.#wire.splice(head, switched);
    this.#state = "done";
  }

  #stream(head: AnswerHead, feed: Feed): void {
    this.#feed = feed;
    this.#wire.begin(head);
    const { loop, limits } = this.#parts;
    const outflow = new Outflow({
      out: this.#wire,
      loop,
      stallTimeoutMs: limits.stallTimeoutMs,
      onStalled: () => this.#wire.cut(),
      onRoom: () => feed.resume(),
    });
    this.#outflow = outflow;
    feed.start({ send: (piece) => outflow.send(piece), end: (error) => this.#end(error) });
  }

  #end(error: unknown): void {
    this.#feed = undefined;
    this.#outflow?.stop();
    if (error !== undefined) return this.#breakOff(error);
    if (this.#isGone()) return undefined;
    this.#wire.outgoing.end();
    this.#state = "done";
    return undefined;
  }

  /** Cuts the wire: a normal end would make half a response look complete. */
  #breakOff(error: unknown): void {
    if (this.#isGone()) return;
    // At the end of the server, sources without an end of their own fail by its abort.
    if (this.#abortReason === undefined)
      this.#parts.log.error("a response was cut off", { target: this.target, error });
    this.#wire.cut();
  }

  #isGone(): boolean {
    return this.#state === "gone";
  }

  #discard(response: HttpResponse): void {
    response.switched?.stream.destroy();
    this.#feedOf(response)?.stop();
  }

  /** Undefined for a body that is sent in one piece. */
  #feedOf({ body, feed, isLine }: HttpResponse): Feed | undefined {
    if (feed !== undefined) return feed;
    if (typeof body === "string") return undefined;
    if (!(body instanceof Uint8Array)) return new PulledFeed(body, this.#parts.log);
    if (body.byteLength <= PIECE_BYTES) return undefined;
    return new PulledFeed(piecesOf(isLine === true ? [body, NEWLINE] : [body]), this.#parts.log);
  }
}

/** Undefined where the length is known only with the last piece. */
function lengthOf({ body, feed, isLine }: HttpResponse): number | undefined {
  if (feed !== undefined || !(body instanceof Uint8Array)) return undefined;
  return body.length + (isLine === true ? 1 : 0);
}

export const NEWLINE: Uint8Array = Buffer.from("\n");

async function* piecesOf(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

/** Owner until the request is queued. */
const NO_OWNER: QueueOwner = { user: undefined, path: [] };
/** Share of all unverified clients together. */
const STRANGERS = "";

const RETRY_AFTER_SECONDS = 1;

function tooManyWaiting(): Error {
  return tooManyRequests("Too many requests, please try again later.", RETRY_AFTER_SECONDS);
}

function errorResponse(error: unknown): HttpResponse {
  const status = toStatus(error);
  const headers = new Map([["content-type", "application/json"]]);
  const { retryAfterSeconds } = status.details ?? {};
  if (retryAfterSeconds !== undefined) headers.set("retry-after", String(retryAfterSeconds));
  return { status: status.code ?? 500, headers, body: Buffer.from(JSON.stringify(status)) };
}

/** Each value of one header, from a list in which names and values alternate. */
function headerValues(raw: readonly string[], name: string): readonly string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    if (raw[at]?.toLowerCase() === name) values.push(raw[at + 1] ?? "");
  }
  return values;
}
