/**
 * Calls an etcd cluster: picks a reachable endpoint, signs in, and tells for each failure whether the request may have
 * been executed. Only reads and requests that etcd refused are ever sent twice.
 */
import type { Loop } from "../../../base/loop/loop.ts";
import { StoreError } from "../../store-error.ts";
import { EtcdEndpoint, type EtcdTls } from "./etcd-endpoint.ts";
import {
  isConnectionFailure,
  isServiceError,
  isTimeout,
  isTokenRefused,
  isAuthDisabled,
  toStoreError,
} from "./etcd-error.ts";
import { AUTHENTICATE, STATUS, type Method } from "./etcd-protocol.ts";
import { plainReason } from "./plain-reason.ts";
import type { WatchStream } from "./watch-stream.ts";

export interface EtcdCredentials {
  readonly user: string;
  readonly password: string;
}

export interface ConnectionOptions {
  readonly loop: Loop;
  /** `http://HOST:PORT` or `https://HOST:PORT`, at least one; all are members of one cluster. */
  readonly endpoints: readonly string[];
  readonly tls?: EtcdTls | undefined;
  readonly credentials?: EtcdCredentials | undefined;
  /** Timeout of every request, including the connection. */
  readonly requestTimeoutMs?: number | undefined;
}

export interface OpenWatch {
  readonly stream: WatchStream;
  readonly failed: () => void;
}

/** Far above the response time of a healthy etcd, and short enough for a waiting writer. */
const REQUEST_TIMEOUT_MS = 5_000;
/** Connection timeout of one endpoint while there are others. */
const CONNECT_MS = 2_000;

export class EtcdConnection {
  readonly requestTimeoutMs: number;
  readonly #loop: Loop;
  readonly #endpoints: readonly EtcdEndpoint[];
  readonly #credentials: EtcdCredentials | undefined;
  /** Index of the endpoint to try first; advances when it fails. Starts at random, so that servers spread over the members. */
  #current: number;
  /** Token of the signed-in user; resolves with undefined while etcd requires no authentication. */
  #token: Promise<string | undefined> | undefined;

  constructor({ loop, endpoints, tls, credentials, requestTimeoutMs }: ConnectionOptions) {
    if (endpoints.length === 0) throw new StoreError("Unavailable", "expected at least one etcd endpoint");
    this.#loop = loop;
    this.#endpoints = endpoints.map((url) => new EtcdEndpoint(url, tls));
    this.#current = loop.random("etcd-endpoint").below(endpoints.length);
    this.#credentials = credentials;
    this.requestTimeoutMs = requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
  }

  /** Fails with StoreError: `Unavailable` when nothing was executed, `OutcomeUnknown` when a write may have been. */
  call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    timeoutMs = this.requestTimeoutMs,
  ): Promise<Response> {
    return this.#loop.outside("etcd", this.#call(method, request, this.#loop.now() + timeoutMs));
  }

  /**
   * Opens a stream for watches. Its owner calls `failed` when it breaks or goes silent: the next stream uses another
   * endpoint.
   */
  async openWatch({ token: wanted }: { token: "new" | "known" }): Promise<OpenWatch> {
    if (wanted === "new") this.#token = undefined;
    const deadline = this.#loop.now() + this.requestTimeoutMs;
    const opening = this.#readyEndpoint(deadline).then(async (endpoint) => ({
      endpoint,
      token: await this.#signIn(deadline),
    }));
    const { endpoint, token } = await this.#loop.outside("etcd", opening);
    return { stream: endpoint.openWatch(token), failed: () => this.#moveOn(endpoint) };
  }

  close(): void {
    for (const endpoint of this.#endpoints) endpoint.close();
  }

  async #call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    deadline: number,
  ): Promise<Response> {
    for (let attempt = 1; ; attempt++) {
      const signedIn = this.#signIn(deadline);
      const token = await signedIn;
      const endpoint = await this.#readyEndpoint(deadline);
      try {
        return await endpoint.call(method, request, { deadline: this.#share(deadline, method.kind), token });
      } catch (error) {
        if (!isServiceError(error)) throw error;
        if (isTimeout(error)) this.#leave(endpoint);
        if (isConnectionFailure(error)) this.#moveOn(endpoint);
        if (isTokenRefused(error)) this.#forget(signedIn);
        const isWorthMore = isTokenRefused(error) || (method.kind === "read" && isConnectionFailure(error));
        const isLast = attempt > this.#endpoints.length || this.#loop.now() >= deadline;
        if (!isWorthMore || isLast) throw toStoreError(error, method.kind);
      }
    }
  }

  /** A read keeps time to try another endpoint when the first stays silent. */
  #share(deadline: number, kind: "read" | "write"): number {
    if (kind === "write" || this.#endpoints.length === 1) return deadline;
    const now = this.#loop.now();
    return now + (deadline - now) / 2;
  }

  /** One sign-in shared by all calls, until it fails or etcd refuses its token. */
  #signIn(deadline: number): Promise<string | undefined> {
    if (this.#credentials === undefined) return Promise.resolve(undefined);
    if (this.#token !== undefined) return this.#token;
    const token = this.#authenticate(this.#credentials, deadline);
    token.catch(() => this.#forget(token));
    this.#token = token;
    return token;
  }

  /**
   * Skipped if another call has signed in since: checking a password is expensive for etcd, and many calls are refused
   * at once.
   */
  #forget(token: Promise<string | undefined>): void {
    if (this.#token === token) this.#token = undefined;
  }

  async #authenticate({ user, password }: EtcdCredentials, deadline: number): Promise<string | undefined> {
    const endpoint = await this.#readyEndpoint(deadline);
    try {
      const request = { name: user, password };
      return (await endpoint.call(AUTHENTICATE, request, { deadline, token: undefined })).token;
    } catch (error) {
      if (!isServiceError(error)) throw error;
      if (isAuthDisabled(error)) return undefined;
      if (isConnectionFailure(error)) this.#moveOn(endpoint);
      throw toStoreError(error, "read");
    }
  }

  /** Returns the first endpoint, from the current one on, that connects. When this fails, nothing was sent. */
  async #readyEndpoint(deadline: number): Promise<EtcdEndpoint> {
    let last = this.#endpoint();
    for (let tried = 0; tried < this.#endpoints.length; tried++) {
      last = this.#endpoint();
      const isAlone = this.#endpoints.length === 1;
      if (await last.isReady(isAlone ? deadline : Math.min(deadline, this.#loop.now() + CONNECT_MS)))
        return last;
      this.#moveOn(last);
    }
    throw await this.#whyNot(last);
  }

  #endpoint(): EtcdEndpoint {
    const endpoint = this.#endpoints[this.#current % this.#endpoints.length];
    if (endpoint === undefined) throw new Error("a connection has at least one endpoint");
    return endpoint;
  }

  #moveOn(from: EtcdEndpoint): void {
    if (this.#endpoint() === from) this.#current += 1;
  }

  /** An endpoint that does not answer would not serve a watch either; others may. */
  #leave(endpoint: EtcdEndpoint): void {
    if (this.#endpoints.length > 1 && this.#endpoint() === endpoint)
      endpoint.endWatches(new Error("etcd did not answer here"));
  }

  /** A channel reveals the reason of its failure only when a request is sent. */
  async #whyNot(endpoint: EtcdEndpoint): Promise<StoreError> {
    let reason = "it answers now";
    try {
      await endpoint.call(STATUS, {}, { deadline: this.#loop.now() + 100, token: undefined });
    } catch (error) {
      reason = isServiceError(error) ? plainReason(error.details) : String(error);
    }
    return new StoreError("Unavailable", `no connection to etcd at ${endpoint.address}: ${reason}`);
  }
}
