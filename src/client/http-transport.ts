/** Transport to any Kubernetes API server, over HTTP/1.1 and TLS. */
import { Agent as HttpAgent } from "node:http";
import type { IncomingMessage } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { RequestOptions } from "node:https";
import { isApiError, serviceUnavailable, toStatus, tooManyRequests } from "../api/errors/api-error.ts";
import { stringifyJson } from "../api/json/json-text.ts";
import { checkServerName } from "../base/keys/server-identity.ts";
import type { Loop } from "../base/loop/loop.ts";
import { endableSignal } from "./call-signal.ts";
import type { EndableSignal } from "./call-signal.ts";
import { Credentials } from "./credentials/credentials.ts";
import type { CurrentCredentials } from "./credentials/credentials.ts";
import type { Endpoint } from "./endpoint.ts";
import { ByteStream } from "./http/byte-stream.ts";
import { EventStream } from "./http/event-stream.ts";
import { openExchange } from "./http/http-exchange.ts";
import type { Exchange } from "./http/http-exchange.ts";
import { headersOf, identityHeaders, targetOf } from "./http/request-head.ts";
import type { BodyFormat } from "./http/request-head.ts";
import { retryAfterIn, warningsIn } from "./http/response-head.ts";
import { connectSocket } from "./http/server-socket.ts";
import type { ServerDialer, ServerSocket } from "./http/server-socket.ts";
import { readValue } from "./http/whole-body.ts";
import { OwnedStream } from "./owned-stream.ts";
import { errorFromResponse } from "./response-error.ts";
import type {
  Transport,
  TransportEvent,
  TransportRequest,
  TransportResponse,
  TransportStream,
} from "./transport.ts";

/** Server, credentials and limits of an HTTP transport. */
export interface HttpTransportOptions extends Endpoint {
  /** Source of time and timers. */
  readonly loop: Loop;
  /** Timeout until the whole response has arrived, or the headers of a stream. In milliseconds. Default: 60,000. */
  readonly timeoutMs?: number;
  /** Upper bound of a response that is not a stream, in bytes. Default: 512 MiB. */
  readonly maxAnswerBytes?: number;
}

/** Sockets for requests; more than a server serves one client concurrently. Each stream has a socket of its own. */
const SOCKETS_MAX = 32;
const IDLE_SOCKETS_MAX = 8;
/**
 * Less than the servers' idle timeout: the client closes the connection, so that the server does not close it during
 * a write.
 */
const IDLE_MS = 60_000;
const STREAMS_MAX = 1000;
/** Detects a server that is gone without closing the connection. */
const KEEP_ALIVE_MS = 30_000;
const DEFAULT_TIMEOUT_MS = 60_000;
/** The longest possible string in Node. */
const DEFAULT_RESPONSE_BYTES = 512 * 1024 * 1024;
/** An error response has a few lines. */
const REFUSAL_BYTES_MAX = 1024 * 1024;

/** Makes a transport over HTTP. It connects with the first request. */
export function httpTransport(options: HttpTransportOptions): Transport & ServerDialer {
  return new HttpTransport(options);
}

class HttpTransport implements Transport, ServerDialer {
  readonly #options: HttpTransportOptions;
  readonly #url: URL;
  readonly #credentials: Credentials;
  readonly #shared: HttpAgent;
  readonly #streaming: HttpAgent;
  readonly #closing = new AbortController();
  #streams = 0;

  constructor(options: HttpTransportOptions) {
    this.#options = options;
    this.#url = serverUrl(options.server);
    this.#credentials = new Credentials(options, options.loop);
    const Agent = this.#isTls ? HttpsAgent : HttpAgent;
    const keptAlive = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS, timeout: IDLE_MS };
    this.#shared = new Agent({ ...keptAlive, maxSockets: SOCKETS_MAX, maxFreeSockets: IDLE_SOCKETS_MAX });
    this.#streaming = new Agent({ keepAlive: false });
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    const { loop, maxAnswerBytes = DEFAULT_RESPONSE_BYTES } = this.#options;
    const prepared = this.#prepare(request, "value");
    try {
      const { response } = await this.#authenticatedExchange(prepared);
      return {
        code: response.statusCode ?? 0,
        value: await loop.outside("socket", readValue(response, maxAnswerBytes)),
        warnings: warningsIn(response.headers),
        retryAfterSeconds: retryAfterIn(response.headers),
      };
    } catch (error) {
      throw this.#clientError(error, prepared.call.signal);
    } finally {
      prepared.call.release();
    }
  }

  watch(request: TransportRequest): Promise<TransportStream<readonly TransportEvent[]>> {
    return this.#stream(this.#prepare(request, "events"), (body) => new EventStream(new ByteStream(body)));
  }

  read(request: TransportRequest): Promise<TransportStream<Uint8Array>> {
    return this.#stream(this.#prepare(request, "bytes"), (body) => new ByteStream(body));
  }

  async dial(signal: AbortSignal): Promise<ServerSocket> {
    const { loop, timeoutMs = DEFAULT_TIMEOUT_MS, user } = this.#options;
    const call = endableSignal([signal, this.#closing.signal]);
    try {
      const credentials = await unlessAborted(this.#credentials.current(), call.signal);
      const tls = this.#isTls ? this.#tlsOptions(credentials) : undefined;
      const place = { host: this.#host, port: this.#port, tls };
      const socket = await connectSocket({ ...place, loop, signal: call.signal, timeoutMs });
      socket.once("close", () => call.release());
      return {
        socket,
        authority: this.#url.host,
        headers: identityHeaders(credentials, user?.impersonation),
        pathPrefix: this.#pathPrefix,
      };
    } catch (error) {
      call.release();
      throw this.#clientError(error, call.signal);
    }
  }

  close(): Promise<void> {
    this.#closing.abort(serviceUnavailable("the client was closed"));
    this.#credentials.close();
    this.#shared.destroy();
    this.#streaming.destroy();
    return Promise.resolve();
  }

  async #stream<T>(
    prepared: PreparedCall,
    itemsOf: (body: IncomingMessage) => AsyncIterableIterator<T>,
  ): Promise<TransportStream<T>> {
    try {
      const exchange = await this.#authenticatedExchange(this.#counted(prepared));
      const { response } = exchange;
      const { statusCode: code = 0, headers } = response;
      if (code !== 200) return await this.#refused(prepared, response);
      exchange.liftDeadline();
      response.socket.setKeepAlive(true, KEEP_ALIVE_MS);
      const explain = (error: unknown): Error => this.#clientError(error, prepared.call.signal);
      const items = new OwnedStream(this.#inLoop(itemsOf(response)), { ...prepared.call, explain });
      return { code, refusal: undefined, retryAfterSeconds: retryAfterIn(headers), items };
    } catch (error) {
      prepared.call.release();
      throw this.#clientError(error, prepared.call.signal);
    }
  }

  async #refused(prepared: PreparedCall, response: IncomingMessage): Promise<TransportStream<never>> {
    const { statusCode: code = 0, headers } = response;
    const value = await this.#options.loop.outside("socket", readValue(response, REFUSAL_BYTES_MAX));
    prepared.call.release();
    const retryAfterSeconds = retryAfterIn(headers);
    const refusal = toStatus(errorFromResponse({ code, value, retryAfterSeconds }));
    return { code, refusal, retryAfterSeconds, items: none() };
  }

  /** Streams last until their reader ends them, so their number is bounded instead of their time. */
  #counted(prepared: PreparedCall): PreparedCall {
    if (this.#streams >= STREAMS_MAX) {
      throw tooManyRequests(`this client already has ${STREAMS_MAX} open streams`, 1);
    }
    this.#streams++;
    prepared.call.onRelease(() => this.#streams--);
    return prepared;
  }

  /** Serializes the body at once: the caller may change it after the call. */
  #prepare(request: TransportRequest, reading: BodyFormat): PreparedCall {
    const { signal, body } = request;
    const signals = [...(signal === undefined ? [] : [signal]), this.#closing.signal];
    const bytes = body === undefined ? undefined : Buffer.from(stringifyJson(body));
    return { request, reading, bytes, call: endableSignal(signals) };
  }

  /** On 401 it retries once with renewed credentials: the server has not carried out the request. */
  async #authenticatedExchange(prepared: PreparedCall): Promise<Exchange> {
    const { loop } = this.#options;
    const { signal } = prepared.call;
    const credentials = await unlessAborted(this.#credentials.current(), signal);
    const first = await loop.outside("socket", this.#exchange(prepared, credentials));
    if (first.response.statusCode !== 401) return first;
    const renewed = await unlessAborted(this.#credentials.renewed(credentials), signal);
    if (renewed === undefined) return first;
    first.response.destroy();
    return loop.outside("socket", this.#exchange(prepared, renewed));
  }

  #exchange(
    { request, reading, bytes, call }: PreparedCall,
    credentials: CurrentCredentials,
  ): Promise<Exchange> {
    const { loop, timeoutMs = DEFAULT_TIMEOUT_MS, user } = this.#options;
    const impersonation = user?.impersonation;
    const headers = headersOf(request, { reading, credentials, impersonation, bodyBytes: bytes?.byteLength });
    const options = {
      agent: reading === "value" ? this.#shared : this.#streaming,
      host: this.#host,
      port: this.#port,
      method: request.method,
      path: this.#pathPrefix + targetOf(request),
      headers,
      ...this.#tlsOptions(credentials),
    };
    return openExchange({ loop, isTls: this.#isTls, options, body: bytes, signal: call.signal, timeoutMs });
  }

  get #isTls(): boolean {
    return this.#url.protocol === "https:";
  }

  get #host(): string {
    return this.#url.hostname.replace(/^\[(.*)\]$/, "$1");
  }

  get #port(): number {
    return Number(this.#url.port || (this.#isTls ? 443 : 80));
  }

  get #pathPrefix(): string {
    return this.#url.pathname.replace(/\/$/, "");
  }

  #tlsOptions({ ca, cert, key }: CurrentCredentials): TlsOptions {
    const { tlsServerName, verification = "full" } = this.#options;
    return {
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(tlsServerName !== undefined && { servername: tlsServerName }),
      // As client-go: every certificate of the bundle is an anchor, and common names do not count.
      allowPartialTrustChain: true,
      checkServerIdentity: checkServerName,
      rejectUnauthorized: verification === "full",
    };
  }

  #inLoop<T>(items: AsyncIterableIterator<T>): AsyncIterable<T> {
    const { loop } = this.#options;
    const iterator: AsyncIterator<T> = {
      next: () => loop.outside("socket", items.next()),
      return: async () => (await items.return?.()) ?? { done: true, value: undefined },
    };
    return { [Symbol.asyncIterator]: () => iterator };
  }

  #clientError(error: unknown, signal: AbortSignal): Error {
    if (signal.aborted) return signal.reason as Error;
    if (isApiError(error)) return error;
    const { message, code } = error as Error & { readonly code?: unknown };
    const why = message === "" ? String(code) : message;
    return serviceUnavailable(`no response from ${this.#url.origin}: ${why}`, { cause: error });
  }
}

interface PreparedCall {
  readonly request: TransportRequest;
  readonly reading: BodyFormat;
  readonly bytes: Uint8Array | undefined;
  /** Aborted by the caller, and when the transport is closed. */
  readonly call: EndableSignal;
}

type TlsOptions = Pick<
  RequestOptions,
  | "ca"
  | "cert"
  | "key"
  | "servername"
  | "rejectUnauthorized"
  | "allowPartialTrustChain"
  | "checkServerIdentity"
>;

function serverUrl(server: string): URL {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url?.protocol === "https:" || url?.protocol === "http:") return url;
  throw new TypeError(
    `the server must be a URL such as https://127.0.0.1:6443, found ${JSON.stringify(server)}`,
  );
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    work.then(resolve, reject);
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    if (signal.aborted) reject(signal.reason as Error);
  });
}

async function* none(): AsyncGenerator<never> {}
