/**
 * Makes calls through a transport: throttles them, retries them where that is safe, and turns error responses into
 * ApiErrors.
 */
import { copyAsJson } from "../api/json/json-copy.ts";
import type { Loop } from "../base/loop/loop.ts";
import { callSignal, endableSignal } from "./call-signal.ts";
import { OwnedStream } from "./owned-stream.ts";
import { errorFromResponse, retryAfterOf } from "./response-error.ts";
import { mayRetry, pauseUnlessAborted, Attempts } from "./retry.ts";
import type { Failure, RetryOptions } from "./retry.ts";
import { StoppedCalls } from "./stopped-calls.ts";
import { Throttle } from "./throttle.ts";
import type { ThrottleOptions } from "./throttle.ts";
import type {
  Transport,
  TransportEvent,
  TransportRequest,
  TransportResponse,
  TransportStream,
} from "./transport.ts";

/** Options of a client's calls. */
export interface CallerOptions {
  /** Source of time, timers and randomness. */
  readonly loop: Loop;
  /** Retries after transient failures; "none" turns them off. Default: the defaults of `RetryOptions`. */
  readonly retry?: RetryOptions | "none";
  /** Limit of the request rate. Default: unlimited. */
  readonly throttle?: ThrottleOptions;
  /** Called with each warning of the server. */
  readonly onWarning?: (warning: string) => void;
}

export interface CallRequest extends Omit<TransportRequest, "signal"> {
  /** Each of them aborts the call. */
  readonly signals: readonly AbortSignal[];
}

/** Common part of all responses, streams included. */
interface ResponseHead {
  readonly code: number;
  readonly retryAfterSeconds?: number | undefined;
}

export class Caller {
  readonly #transport: Transport;
  readonly #options: CallerOptions;
  readonly #throttle: Throttle | undefined;
  readonly #stopped: StoppedCalls;

  constructor(transport: Transport, options: CallerOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#stopped = new StoppedCalls(options.loop);
    this.#throttle =
      options.throttle === undefined ? undefined : new Throttle(options.throttle, options.loop);
  }

  /** Returns the value of the response. Rejects with an ApiError for an error response. */
  async send(request: CallRequest): Promise<unknown> {
    const call = callSignal(request.signals);
    try {
      const response = await this.#try(request, call.signal, (made) => this.#transport.send(made));
      this.#warn(response);
      if (!isSuccess(response)) throw errorFromResponse({ ...response, path: request.path });
      return response.value;
    } finally {
      call.release();
    }
  }

  watch(request: CallRequest): Promise<AsyncIterable<readonly TransportEvent[]>> {
    return this.#open(request, (made) => this.#transport.watch(made));
  }

  read(request: CallRequest): Promise<AsyncIterable<Uint8Array>> {
    return this.#open(request, (made) => this.#transport.read(made));
  }

  /** The call lasts until the stream ends or is closed. */
  async #open<T>(
    request: CallRequest,
    make: (request: TransportRequest) => Promise<TransportStream<T>>,
  ): Promise<AsyncIterable<T>> {
    const call = endableSignal(request.signals);
    try {
      const stream = await this.#try(request, call.signal, make);
      if (!isSuccess(stream))
        throw errorFromResponse({ ...stream, value: stream.refusal, path: request.path });
      return new OwnedStream(stream.items, call);
    } catch (error) {
      call.release();
      throw error;
    }
  }

  async #try<R extends ResponseHead>(
    request: CallRequest,
    signal: AbortSignal | undefined,
    make: (request: TransportRequest) => Promise<R>,
  ): Promise<R> {
    const { loop, retry = {} } = this.#options;
    const made = this.#prepared(request, signal);
    const startedAt = loop.elapsed();
    let attempts: Attempts | undefined;
    if (signal?.aborted === true) await this.#stopped.refuse(request.signals);
    for (;;) {
      signal?.throwIfAborted();
      await this.#throttle?.take(signal);
      const tried = await this.#settled(make(made));
      const failure = failureOf(tried);
      if (failure === undefined || !mayRetry(request.method, failure)) return resultOf(tried);
      attempts ??= new Attempts(retry === "none" ? { tries: 1 } : retry, loop, startedAt);
      const waitMs = attempts.findWaitMs(failure);
      if (waitMs === undefined) return resultOf(tried);
      await pauseUnlessAborted(loop, waitMs, signal);
    }
  }

  /**
   * Copies a body that may have to wait: the caller may change it after the call. Assigns members one by one: this
   * runs for every call, and a spread is slower.
   */
  #prepared(request: CallRequest, signal: AbortSignal | undefined): TransportRequest {
    const { retry, throttle } = this.#options;
    const { method, path, query, body, contentType, form, userAgent, cause } = request;
    const mayWait = retry !== "none" || throttle !== undefined;
    const made: { -readonly [Member in keyof TransportRequest]: TransportRequest[Member] } = { method, path };
    if (query !== undefined) made.query = query;
    if (body !== undefined) made.body = mayWait ? copyAsJson(body) : body;
    if (contentType !== undefined) made.contentType = contentType;
    if (form !== undefined) made.form = form;
    if (userAgent !== undefined) made.userAgent = userAgent;
    if (cause !== undefined) made.cause = cause;
    if (signal !== undefined) made.signal = signal;
    return made;
  }

  /** An error arrives in a later step: a closed transport may reject at once. */
  #settled<R>(response: Promise<R>): Promise<Tried<R>> {
    return response.then(
      (given) => ({ response: given }),
      async (error: unknown) => {
        await this.#stopped.nextStep();
        return { error };
      },
    );
  }

  #warn({ warnings }: TransportResponse): void {
    const { onWarning } = this.#options;
    if (onWarning !== undefined) for (const warning of warnings) onWarning(warning);
  }
}

type Tried<R> = { readonly response: R } | { readonly error: unknown };

function failureOf<R extends ResponseHead>(tried: Tried<R>): Failure | undefined {
  if ("error" in tried) return tried;
  const { response } = tried;
  if (isSuccess(response)) return undefined;
  const { code, retryAfterSeconds } = response;
  const value = "value" in response ? response.value : "refusal" in response ? response.refusal : undefined;
  return { code, retryAfterSeconds: retryAfterOf({ code, value, retryAfterSeconds }) };
}

function resultOf<R>(tried: Tried<R>): R {
  if ("error" in tried) throw tried.error;
  return tried.response;
}

/** A redirect counts as a failure: credentials must not go to another server. */
function isSuccess({ code }: ResponseHead): boolean {
  return code >= 200 && code < 300;
}
