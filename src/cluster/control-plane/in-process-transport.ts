/**
 * Sends requests to a server in the same process, without serializing them. A request runs as a step of the server's
 * loop, its response as a step of the caller's, so neither runs inside the other.
 */
import { setMaxListeners } from "node:events";
import { serviceUnavailable } from "../../api/errors/api-error.ts";
import type { Status } from "../../api/errors/api-error.ts";
import { copyAsJson } from "../../api/json/json-copy.ts";
import { freezeJson } from "../../api/json/json-freeze.ts";
import type { Lane, Loop } from "../../base/loop/loop.ts";
import { acceptedMediaType } from "../../client/accepted-form.ts";
import {
  addAbortListener,
  removeAbortListener,
  type AbortListener,
  type AbortRegistration,
} from "../../client/call-signal.ts";
import { warningsIn } from "../../client/http/response-head.ts";
import type {
  Transport,
  TransportEvent,
  TransportRequest,
  TransportResponse,
  TransportStream,
} from "../../client/transport.ts";
import type { HttpHandler, HttpRequest, HttpResponse, PeerIdentity } from "../../server/request/http.ts";

export interface InProcessOptions {
  readonly handler: HttpHandler;
  /** Loop of the caller; responses run on it. */
  readonly loop: Loop;
  /** Loop of the server; requests run on it. */
  readonly serverLoop: Loop;
  readonly user: PeerIdentity;
  /**
   * Freezes values that are handed out, so that a caller that changes a shared value fails at once. Too slow outside of
   * tests.
   */
  readonly freezes?: boolean;
}

export function inProcessTransport(options: InProcessOptions): InProcessTransport {
  return new InProcessTransport(options);
}

export class InProcessTransport implements Transport {
  readonly sharesValues = true;
  readonly #options: InProcessOptions;
  readonly #closing: Closing;

  constructor(options: InProcessOptions, closing = new Closing()) {
    this.#options = options;
    this.#closing = closing;
  }

  /** The same transport for another user; closing this one closes it too. */
  actingAs(user: PeerIdentity): Transport {
    return new InProcessTransport({ ...this.#options, user }, this.#closing);
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    const response = await this.#exchange(request, NEVER);
    return {
      code: response.status,
      value: this.#shared(await valueOf(response)),
      warnings: warningsIn({ warning: response.headers.get("warning") }),
      retryAfterSeconds: secondsOf(response),
    };
  }

  async watch(request: TransportRequest): Promise<TransportStream<readonly TransportEvent[]>> {
    const serverSide = this.#serverSide(request.signal);
    const response = await this.#exchange(request, serverSide.signal);
    const { direct, status } = response;
    if (direct?.type !== "events") {
      serverSide.end();
      return {
        code: status,
        refusal: (await valueOf(response)) as Status,
        items: none(),
        ...laterOf(response),
      };
    }
    return {
      code: status,
      refusal: undefined,
      items: this.#sharedEvents(untilLeft(direct.events, serverSide)),
    };
  }

  async read(request: TransportRequest): Promise<TransportStream<Uint8Array>> {
    const serverSide = this.#serverSide(request.signal);
    const response = await this.#exchange(request, serverSide.signal);
    if (response.status >= 400) {
      serverSide.end();
      const refusal = (await valueOf(response)) as Status;
      return { code: response.status, refusal, items: none(), ...laterOf(response) };
    }
    const { body } = response;
    const pieces = body instanceof Uint8Array ? one(body) : body;
    return { code: response.status, refusal: undefined, items: untilLeft(pieces, serverSide) };
  }

  close(): Promise<void> {
    this.#closing.close();
    return Promise.resolve();
  }

  #shared<T>(value: T): T {
    return this.#options.freezes === true ? freezeJson(value) : value;
  }

  #sharedEvents(batches: AsyncIterable<readonly TransportEvent[]>): AsyncIterable<readonly TransportEvent[]> {
    return this.#options.freezes === true ? frozen(batches) : batches;
  }

  /** Ends with the caller's signal, with the transport, or when `end` is called. */
  #serverSide(signal: AbortSignal | undefined): ServerSide {
    const controller = new AbortController();
    const sources = [this.#closing.signal, ...(signal === undefined ? [] : [signal])];
    const end = (): void => {
      for (const source of sources) source.removeEventListener("abort", end);
      controller.abort();
    };
    for (const source of sources) source.addEventListener("abort", end);
    if (sources.some(({ aborted }) => aborted)) end();
    return { signal: controller.signal, end };
  }

  #exchange(request: TransportRequest, signal: AbortSignal): Promise<HttpResponse> {
    const { handler, loop, serverLoop, user } = this.#options;
    const lane = laneOf(request.path);
    const asked = httpRequest(request, user, signal);
    const ended = loop.inFlight(`${request.method} ${request.path}`);
    return new Promise<HttpResponse>((resolve, reject) => {
      const settled = this.#abortable(request.signal, (reason) => {
        ended();
        reject(reason);
      });
      const reply = (response: HttpResponse): void => {
        if (!settled()) return;
        ended();
        resolve(response);
      };
      serverLoop.post(lane, async () => {
        const response = await handler(asked);
        loop.post(lane, () => reply(response));
      });
    });
  }

  /** Calls `abort` at most once, and never after the returned function. That function returns false if `abort` came first. */
  #abortable(signal: AbortSignal | undefined, abort: (reason: Error) => void): () => boolean {
    const closing = this.#closing.signal;
    let isSettled = false;
    let ofCaller: AbortRegistration | undefined;
    let ofTransport: AbortRegistration | undefined;
    const settle = (): boolean => {
      if (isSettled) return false;
      isSettled = true;
      if (signal !== undefined) removeAbortListener(signal, ofCaller);
      removeAbortListener(closing, ofTransport);
      return true;
    };
    const follower: AbortListener = {
      abort: () => {
        if (settle()) abort(signal?.aborted === true ? (signal.reason as Error) : closed());
      },
    };
    if (signal !== undefined) ofCaller = addAbortListener(signal, follower);
    if (!isSettled) ofTransport = addAbortListener(closing, follower);
    return settle;
  }
}

/** Aborts everything in flight when the transport is closed. */
class Closing {
  readonly #controller = new AbortController();

  constructor() {
    // Every stream adds a listener.
    setMaxListeners(0, this.signal);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  close(): void {
    this.#controller.abort(new Error("the client was closed"));
  }
}

/** The server's side of a watch or of a stream. */
interface ServerSide {
  readonly signal: AbortSignal;
  end(): void;
}

/** The server finishes a request that it has accepted, even if the caller no longer waits. */
const NEVER = new AbortController().signal;

function closed(): Error {
  return serviceUnavailable("the client was closed");
}

/** Lease renewals overtake all other requests: a lost lease costs more than any delayed request. */
function laneOf(path: string): Lane {
  return path.startsWith("/apis/coordination.k8s.io/") ? "health" : "loop";
}

function httpRequest(request: TransportRequest, peer: PeerIdentity, signal: AbortSignal): HttpRequest {
  const { method, path, query, body, contentType, userAgent, cause } = request;
  const headers = new Map<string, string>();
  if (body !== undefined) headers.set("content-type", contentType ?? "application/json");
  const accepted = acceptedMediaType(request);
  if (accepted !== undefined) headers.set("accept", accepted);
  if (userAgent !== undefined) headers.set("user-agent", userAgent);
  if (cause !== undefined) headers.set("setpoint-cause", cause);
  return {
    method,
    target: query === undefined ? path : targetOf(path, query),
    headers,
    peer,
    signal,
    direct: { body: copyAsJson(body) },
    readBody: () => Promise.resolve(new Uint8Array(0)),
  };
}

function targetOf(path: string, query: NonNullable<TransportRequest["query"]>): string {
  let text = "";
  for (const [name, values] of Object.entries(query)) {
    for (const value of typeof values === "string" ? [values] : values)
      text += `${text === "" ? "?" : "&"}${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  }
  return path + text;
}

/** Responses that are no objects (discovery, version) arrive as bytes. */
async function valueOf({ direct, body, headers }: HttpResponse): Promise<unknown> {
  if (direct?.type === "value") return direct.value;
  const pieces: Uint8Array[] = [];
  if (body instanceof Uint8Array) pieces.push(body);
  else for await (const piece of body) pieces.push(piece);
  const text = Buffer.concat(pieces).toString();
  if (text === "") return undefined;
  return headers.get("content-type")?.startsWith("application/json") === true ? JSON.parse(text) : text;
}

function secondsOf({ headers }: HttpResponse): number | undefined {
  const text = headers.get("retry-after");
  return text === undefined ? undefined : Number(text);
}

function laterOf(response: HttpResponse): { readonly retryAfterSeconds?: number } {
  const retryAfterSeconds = secondsOf(response);
  return retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
}

/** Ends the server's side when the reader leaves. */
async function* untilLeft<T>(items: AsyncIterable<T>, serverSide: ServerSide): AsyncGenerator<T> {
  try {
    yield* items;
  } finally {
    serverSide.end();
  }
}

async function* frozen<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const item of items) yield freezeJson(item);
}

async function* one<T>(item: T): AsyncGenerator<T> {
  yield item;
}

async function* none(): AsyncGenerator<never> {}
