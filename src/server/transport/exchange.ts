/**
 * One request and its answer, whichever protocol carries them: hands the request to the handler as a step of the loop,
 * and the answer to the wire. Ends the handler's work when the client is gone.
 */
import type { Writable } from "node:stream";
import { tooManyRequests, toStatus } from "../../api/errors/api-error.ts";
import { assert } from "../../base/assert.ts";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { isWhole } from "../request/http.ts";
import type {
  Feed,
  HttpHandler,
  HttpRequest,
  HttpResponse,
  PeerIdentity,
  SwitchedStream,
  TurnHolder,
  UserTurn,
  WholeBody,
} from "../request/http.ts";
import { withoutMapping } from "./address-block.ts";
import { receiveBody, type BodyBudget, type BodySource } from "./body.ts";
import type { ClientConnection } from "./client-connection.ts";
import { headerValues } from "./headers.ts";
import type { TransportLimits } from "./limits.ts";
import { Outflow, PIECE_BYTES, type PieceSink } from "./outflow.ts";
import { PulledFeed } from "./pulled-feed.ts";
import type { RequestTurns } from "./request-turns.ts";
import type { Turn, TurnOwner } from "./turns.ts";

/** What all exchanges of a listener share. */
export interface Surroundings {
  readonly loop: Loop;
  readonly log: Log;
  readonly handler: HttpHandler;
  readonly limits: TransportLimits;
  readonly budget: BodyBudget;
  readonly turns: RequestTurns;
}

/** What HTTP/1.1 and HTTP/2 do differently. */
export interface Wire extends BodySource, PieceSink {
  readonly outgoing: Writable;
  /** Of the client; undefined once it is gone. */
  readonly remoteAddress: string | undefined;
  /** Called at most once, since it costs. */
  readHeaders(): ReadonlyMap<string, string>;
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders: readonly string[];
  /** Tells a client that waits for it (`expect: 100-continue`) to send the body. */
  inviteBody(): void;
  /** Sends a whole answer. Throws when the headers cannot be sent as they are; nothing was sent then. */
  answer(head: AnswerHead, body: WholeBody | undefined): void;
  /** Sends the head of an answer whose body follows through `outgoing`. Throws as `answer` does. */
  begin(head: AnswerHead): void;
  /** Sends the head and joins the connection with the stream; resolves when both are closed. Absent where a connection carries several requests. */
  splice?(head: AnswerHead, switched: SwitchedStream): Promise<void>;
  /** Breaks the answer off so that the client can tell that it is not complete. */
  cut(): void;
}

export interface AnswerHead {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  /** Of the body, where it is known. */
  readonly lengthBytes: number | undefined;
  /** A whole body ends with a newline that is not part of it; counted in its length. */
  readonly isLine?: boolean;
}

export interface ExchangeStart {
  readonly method: string;
  readonly target: string;
  readonly client: ClientConnection;
  readonly wire: Wire;
  readonly isUpgrade?: boolean;
}

/** `answering` from its first byte until the last was handed over; `gone` when the client left before that. */
type ExchangeState = "running" | "answering" | "done" | "gone";

export class Exchange implements HttpRequest, Turn, TurnHolder {
  readonly method: string;
  readonly target: string;
  readonly peer: PeerIdentity | undefined;
  readonly isUpgrade: boolean;
  onBody: HttpRequest["onBody"];
  readonly #surroundings: Surroundings;
  readonly #client: ClientConnection;
  readonly #wire: Wire;
  #state: ExchangeState = "running";
  /** Whose turn the request has, or waits for. */
  #owner: TurnOwner | undefined;
  #headers: ReadonlyMap<string, string> | undefined;
  #abort: AbortController | undefined;
  #abortReason: Error | undefined;
  #isBodyRead = false;
  /** Answered at once, and not handed over yet. */
  #ready: HttpResponse | undefined;
  #feed: Feed | undefined;
  #outflow: Outflow | undefined;

  constructor(start: ExchangeStart, surroundings: Surroundings) {
    this.method = start.method;
    this.target = start.target;
    this.#client = start.client;
    this.peer = start.client.peer;
    this.isUpgrade = start.isUpgrade ?? false;
    this.#wire = start.wire;
    this.#surroundings = surroundings;
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

  /** Made when first asked for, because most requests are answered before anybody could wait for it. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#abortReason !== undefined) this.#abort.abort(this.#abortReason);
    }
    return this.#abort.signal;
  }

  /** True until an answer was begun or the client was gone. */
  get isUnanswered(): boolean {
    return this.#state === "running";
  }

  readBody(maxBytes: number): Promise<Uint8Array> {
    assert(!this.#isBodyRead, "the body of a request is read once");
    this.#isBodyRead = true;
    const { loop, budget, limits } = this.#surroundings;
    if ((this.#wire.announcedBytes ?? 0) <= maxBytes) this.#wire.inviteBody();
    return receiveBody(this.#wire, { loop, budget, timeoutMs: limits.bodyTimeoutMs, maxBytes });
  }

  /** What is left unread stays so; the connection outlives it. */
  streamBody(): AsyncIterable<Uint8Array> {
    assert(!this.#isBodyRead, "the body of a request is read once");
    this.#isBodyRead = true;
    this.#wire.inviteBody();
    return this.#wire.incoming.iterator({ destroyOnReturn: false });
  }

  /** Takes its turn on the loop, then runs. */
  start(): void {
    this.#owner = this.#client.ownerOf(this.peer, () => this.headers);
    this.#surroundings.turns.take(this.#owner, this);
  }

  get turn(): TurnHolder {
    return this;
  }

  get share(): readonly string[] {
    const { user, path } = this.#owner ?? NO_OWNER;
    return user === undefined ? [STRANGERS, ...path] : [`user ${user}`];
  }

  isTurnOf(user: string): boolean {
    return this.#owner?.user === user;
  }

  takeTurnOf(user: string, turn: UserTurn): void {
    const owner = this.#client.verified(this.headers, user);
    this.#owner = owner;
    this.#surroundings.turns.take(owner, {
      method: this.method,
      target: this.target,
      carryOut: () => turn.begin(),
      handOver: () => undefined,
      turnAway: () => turn.refuse(tooManyWaiting()),
    });
  }

  noteRefusal(): void {
    this.#client.refused(this.headers);
  }

  /** Tells the handler to come to an end; an answer can still be given. */
  abort(reason: Error): void {
    if (this.#abortReason !== undefined) return;
    this.#abortReason = reason;
    this.#abort?.abort(reason);
  }

  /** The wire is closed. Unless the answer was complete, the client left early. */
  closed(): void {
    if (this.#state === "gone" || this.#state === "done") return;
    this.#state = "gone";
    this.abort(new Error("the client is gone"));
    this.#outflow?.stop();
    this.#feed?.stop();
  }

  carryOut(): void {
    if (this.#isGone()) return;
    try {
      const reply = this.#surroundings.handler(this);
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

  handOver(): void {
    const response = this.#ready;
    if (response === undefined) return;
    this.#ready = undefined;
    this.#answer(response);
  }

  turnAway(): void {
    this.#answer(errorResponse(tooManyWaiting()));
  }

  /** A handler never fails; should one have a bug, the client is told so. */
  #failure(error: unknown): HttpResponse {
    this.#surroundings.log.error("a request handler failed", { target: this.target, error });
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

  /** Settles when a connection that was switched is closed. */
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
    this.#wire.answer(head, body !== undefined && isWhole(body) ? body : undefined);
    this.#state = "done";
  }

  async #splice(head: AnswerHead, switched: SwitchedStream): Promise<void> {
    if (this.#wire.splice === undefined || !this.isUpgrade) {
      switched.stream.destroy();
      throw new Error("a connection was to be switched that cannot be");
    }
    const end = (): void => void switched.stream.destroy();
    this.signal.addEventListener("abort", end, { once: true });
    await this.#wire.splice(head, switched);
    this.#state = "done";
  }

  #stream(head: AnswerHead, feed: Feed): void {
    this.#feed = feed;
    this.#wire.begin(head);
    const { loop, limits } = this.#surroundings;
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

  /** Ended as if complete, half an answer would be taken for a whole one. */
  #breakOff(error: unknown): void {
    if (this.#isGone()) return;
    this.#surroundings.log.error("an answer broke off", { target: this.target, error });
    this.#wire.cut();
  }

  #isGone(): boolean {
    return this.#state === "gone";
  }

  #discard(response: HttpResponse): void {
    response.switched?.stream.destroy();
    this.#feedOf(response)?.stop();
  }

  /** Undefined for what goes out in one piece. */
  #feedOf({ body, feed, isLine }: HttpResponse): Feed | undefined {
    if (feed !== undefined) return feed;
    if (typeof body === "string") return undefined;
    if (!(body instanceof Uint8Array)) return new PulledFeed(body, this.#surroundings.log);
    if (body.byteLength <= PIECE_BYTES) return undefined;
    return new PulledFeed(piecesOf(isLine === true ? [body, NEWLINE] : [body]), this.#surroundings.log);
  }
}

/** Where it is known before the last piece is. */
function lengthOf({ body, feed, isLine }: HttpResponse): number | undefined {
  if (feed !== undefined || !isWhole(body)) return undefined;
  return body.length + (isLine === true ? 1 : 0);
}

export const NEWLINE: Uint8Array = Buffer.from("\n");

async function* piecesOf(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

/** Before the request has asked for a turn. */
const NO_OWNER: TurnOwner = { user: undefined, path: [] };
/** All clients together that are not verified. */
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
