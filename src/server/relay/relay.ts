/**
 * Relays a request to another server and streams the bodies of both directions. A connection switches protocols only after the other
 * server has agreed. Authorization happens before the relay, and the relay follows no redirects.
 */
import type { IncomingMessage } from "node:http";
import { serviceUnavailable } from "../../api/errors/api-error.ts";
import type { ApiError } from "../../api/errors/api-error.ts";
import { stringifyJson } from "../../api/json/json-text.ts";
import type { Loop, Timer } from "../../base/loop/loop.ts";
import type { OpenEgress } from "../egress/create-egress.ts";
import type { DialRequest } from "../egress/dial.ts";
import { EgressError } from "../egress/egress.ts";
import { CUT_TEXTS } from "../egress/error-text.ts";
import type { OutgoingBody, ReceivedResponse } from "../egress/outgoing-request.ts";
import type { AcceptedRequest, HttpResponse } from "../request/http.ts";
import { eventsOf } from "./direct-events.ts";
import { forwardedAnswerHeaders, forwardedRequestHeaders } from "./forwarded-headers.ts";
import type { HeaderFields } from "./forwarded-headers.ts";
import { relinkPage } from "./relayed-page.ts";

export interface RelayParts {
  readonly egress: OpenEgress;
  readonly loop: Loop;
}

/** Server that answers a request, and how it is trusted. */
export type RelayTarget = Pick<DialRequest, "address" | "origin" | "trust" | "pair" | "connectMs">;

/** Target of a request and the headers to add. */
export interface RelayPlace extends RelayTarget {
  /** Name of the user whose request it is. */
  readonly user: string;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: HeaderFields;
  /** Whether a caller within the process expects watch events. */
  readonly isWatch: boolean;
  /** Rewrites links in pages and redirects. Without it, redirects are refused. */
  readonly relink?: (link: string) => string;
  /** Makes the error for clients when there was no response. Default: plain text. */
  readonly unreached?: (why: string) => ApiError;
  /** Wait for the response head, in milliseconds; may be Infinity. Default: longer than any client request may take. */
  readonly headMs?: number;
  /** Called when there was no response. */
  readonly onUnreached?: () => void;
}

/** Requests in flight at one server, over all clients. Each holds two sockets. */
const RELAYED_MAX = 4000;
/** Requests of one user. Followed logs would otherwise keep other users from all aggregated APIs. */
const RELAYED_PER_USER_MAX = 1000;
/** Time until an unread response body is destroyed. The client may have got another answer. */
const UNREAD_MS = 30_000;
/** Wait for the response head. It exceeds the time limit of every client request. */
const HEAD_MS = 65_000;
const READS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

export class Relay {
  readonly #parts: RelayParts;
  #underWay = 0;
  readonly #byUser = new Map<string, number>();

  constructor(parts: RelayParts) {
    this.#parts = parts;
  }

  async send(request: AcceptedRequest, place: RelayPlace): Promise<HttpResponse> {
    const { user } = place;
    const full = this.#findFull(user);
    if (full !== undefined) return refusal(request, 503, full);
    this.#count(user, 1);
    const life = new RelayLife(this.#parts.loop, request.signal, place.headMs ?? HEAD_MS);
    const ended = (): void => {
      this.#count(user, -1);
      life.end();
    };
    try {
      const body = outgoingBody(request, place.method);
      const whole = body instanceof Promise ? await body : body;
      const opened = await this.#parts.egress.open({
        ...outgoingRequest(request, whole, place),
        signal: life.signal,
      });
      life.answered();
      (opened.upgraded?.socket ?? opened.answer).once("close", ended);
      return this.#answer(opened, request, place);
    } catch (error) {
      ended();
      if (!(error instanceof EgressError)) throw error;
      if (!request.signal.aborted) place.onUnreached?.();
      const why = life.isLate ? CUT_TEXTS.deadline : error.message;
      if (place.unreached !== undefined) throw place.unreached(why) as Error;
      return refusal(request, 503, unreachedText(why));
    }
  }

  /** Undefined while there is room for a request of the user. */
  #findFull(user: string): string | undefined {
    if (this.#underWay >= RELAYED_MAX) return `${RELAYED_MAX} requests are being handed on already`;
    return this.#ofUser(user) < RELAYED_PER_USER_MAX
      ? undefined
      : `${RELAYED_PER_USER_MAX} requests of the user are being handed on already`;
  }

  #ofUser(user: string): number {
    return this.#byUser.get(user) ?? 0;
  }

  #count(user: string, change: 1 | -1): void {
    this.#underWay += change;
    const count = this.#ofUser(user) + change;
    if (count === 0) this.#byUser.delete(user);
    else this.#byUser.set(user, count);
  }

  #answer(opened: ReceivedResponse, request: AcceptedRequest, place: RelayPlace): HttpResponse {
    const { answer, upgraded } = opened;
    const { method, isWatch, relink } = place;
    const { statusCode: status = 502 } = answer;
    const headers = forwardedAnswerHeaders(answer.rawHeaders);
    if (upgraded !== undefined) return switchedResponse(answer, opened, headers);
    const location = headers.get("location");
    if (relink !== undefined && location !== undefined) headers.set("location", relink(location));
    if (relink === undefined && isRedirect(status)) {
      answer.destroy();
      return refusal(request, 502, "the backend attempted to redirect this request, which is not permitted");
    }
    const sent = this.#body(answer);
    const body = relink === undefined ? sent : relinkPage({ method, headers, sent }, relink);
    const response = { status, headers, body };
    if (request.direct === undefined || !isWatch || status !== 200) return response;
    return { ...response, direct: { type: "events", events: eventsOf(body) } };
  }

  /** Destroys the response when the reader leaves or never starts to read. */
  #body(answer: IncomingMessage): AsyncIterable<Uint8Array> {
    const { loop } = this.#parts;
    const unread = loop.timer(loop.now() + UNREAD_MS, "periodic", () => void answer.destroy());
    answer.once("close", () => unread.cancel());
    return {
      [Symbol.asyncIterator]() {
        unread.cancel();
        const pieces = answer[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
        return {
          next: () => pieces.next(),
          // The stream's own `return` leaves the connection open until the first read.
          return: () => {
            answer.destroy();
            return Promise.resolve({ done: true, value: undefined });
          },
        };
      },
    };
  }
}

export function unreachedText(why: string): string {
  return `error trying to reach service: ${why}`;
}

/** Aborts the request when the client leaves, or when the response head times out. */
class RelayLife {
  readonly #ending = new AbortController();
  readonly #late: Timer | undefined;
  readonly #leave: () => void;
  /** Whether the response head timed out. */
  isLate = false;

  constructor(loop: Loop, client: AbortSignal, headMs: number) {
    const end = (): void => this.#ending.abort();
    if (Number.isFinite(headMs))
      this.#late = loop.timer(loop.now() + headMs, "periodic", () => {
        this.isLate = true;
        end();
      });
    client.addEventListener("abort", end, { once: true });
    this.#leave = () => client.removeEventListener("abort", end);
    if (client.aborted) end();
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  answered(): void {
    this.#late?.cancel();
  }

  end(): void {
    this.#late?.cancel();
    this.#leave();
  }
}

/** 304 is not a redirect. */
function isRedirect(status: number): boolean {
  return status >= 300 && status <= 399 && status !== 304;
}

/** The response that switches protocols. It sets the upgrade headers itself, since they are never forwarded. */
function switchedResponse(
  answer: IncomingMessage,
  { upgraded }: ReceivedResponse,
  kept: ReadonlyMap<string, string>,
): HttpResponse {
  const headers = new Map([...kept, ["connection", "Upgrade"]]);
  const { upgrade } = answer.headers;
  if (upgrade !== undefined) headers.set("upgrade", upgrade);
  const response = { status: 101, headers, body: new Uint8Array() };
  if (upgraded === undefined) return response;
  return { ...response, switched: { stream: upgraded.socket, head: upgraded.head } };
}

function outgoingRequest(
  request: AcceptedRequest,
  body: OutgoingBody,
  place: RelayPlace,
): Omit<DialRequest, "signal"> {
  const { isUpgrade = false } = request;
  const { address, origin, trust, pair, connectMs, method, target } = place;
  return {
    address,
    origin,
    trust,
    pair,
    connectMs,
    method,
    path: target,
    headers: {
      ...forwardedRequestHeaders(request),
      ...framing(request, body),
      ...(request.direct !== undefined && !request.headers.has("accept") && { accept: "application/json" }),
      ...place.headers,
    },
    body,
    mayUpgrade: isUpgrade,
    isRepeatable: READS.has(method),
  };
}

/** Upper bound of a body that is read as a whole, where the transport offers no stream. */
const WHOLE_BYTES_MAX = 3 * 1024 * 1024;

function outgoingBody(request: AcceptedRequest, method: string): OutgoingBody | Promise<OutgoingBody> {
  const { direct, headers, isUpgrade } = request;
  if (direct !== undefined)
    return direct.body === undefined ? undefined : Buffer.from(stringifyJson(direct.body));
  // HTTP/2 sends neither header when the length is unknown.
  const isAnnounced = headers.has("transfer-encoding") || headers.has("content-length");
  const isEmpty = isAnnounced ? /^0+$/.test(headers.get("content-length") ?? "") : READS.has(method);
  if (isUpgrade === true || isEmpty) return undefined;
  return request.streamBody?.() ?? request.readBody(WHOLE_BYTES_MAX);
}

/** Headers that mark the end of the body or request an upgrade. */
function framing({ headers, isUpgrade }: AcceptedRequest, body: OutgoingBody): HeaderFields {
  if (isUpgrade === true) return { connection: "Upgrade", upgrade: headers.get("upgrade") ?? "" };
  if (body instanceof Uint8Array) return { "content-length": String(body.byteLength) };
  if (body === undefined) return {};
  const length = headers.get("content-length");
  return length === undefined ? { "transfer-encoding": "chunked" } : { "content-length": length };
}

/** Plain text, like upstream's. Callers within the process get a Status. */
export function refusal(request: AcceptedRequest, status: 502 | 503, text: string): HttpResponse {
  if (request.direct !== undefined) throw serviceUnavailable(text);
  const headers = new Map([
    ["content-type", "text/plain; charset=utf-8"],
    ["x-content-type-options", "nosniff"],
  ]);
  return { status, headers, body: Buffer.from(`${text}\n`) };
}
