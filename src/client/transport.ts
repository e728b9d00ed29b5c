import type { Status } from "../api/errors/api-error.ts";
/**
 * The way of requests to a server: over HTTP to any Kubernetes, or within this process without serialization. A
 * client needs nothing else.
 *
 * Returned values are shared, in this process with the server itself: they are deeply readonly by type and must not
 * be changed. The caller may change passed values after the call; the transport reads them as JSON does (members that
 * are undefined are absent).
 */

/** HTTP method of a request. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Form of a response: whole objects, their metadata only, a table for people, or discovery in one document. */
export type ResponseForm = "object" | "metadata" | "table" | "discovery";

/** A request to the API server. */
export interface TransportRequest {
  readonly method: Method;
  /** Path without query, its parts percent-encoded, for example `/api/v1/namespaces/default/pods`. */
  readonly path: string;
  /** A list repeats the parameter. */
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  /** Body as a JSON value. */
  readonly body?: unknown;
  /** Media type of the body. Default: JSON; patches have types of their own. */
  readonly contentType?: string;
  /** Form of the response. Default: `object`. */
  readonly form?: ResponseForm;
  /**
   * `User-Agent` header. The server logs it and, without a field manager, derives the owner of written fields from
   * it.
   */
  readonly userAgent?: string;
  /** Cause of the write as text (`cause-text.ts`). Journalled by Setpoint, ignored by other servers. */
  readonly cause?: string;
  /** Aborts the call. It may be shared by many calls: remove each listener when the call is over. */
  readonly signal?: AbortSignal;
}

/** A complete response. */
export interface TransportResponse {
  /** HTTP status code. */
  readonly code: number;
  /** Body as a JSON value; undefined without a body. */
  readonly value: unknown;
  /** Warnings of the server, as plain text. */
  readonly warnings: readonly string[];
  /** Seconds after which to retry (`Retry-After`). */
  readonly retryAfterSeconds?: number | undefined;
}

/** Type of a watch event; BOOKMARK and ERROR carry no changed object. */
export type WatchEventType = "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";

/** An event of a watch. */
export interface TransportEvent {
  readonly type: WatchEventType;
  /** The object, or a Status for an ERROR. */
  readonly object: unknown;
}

/** A streamed response. */
export interface TransportStream<T> {
  readonly code: number;
  /** The error, when the code is not 2xx; there are no items then. */
  readonly refusal: Status | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /**
   * Items in the server's order. Ends when the server ends it; rejects when the connection breaks. Leaving the loop
   * early closes it.
   */
  readonly items: AsyncIterable<T>;
}

/** Connection to an API server. */
export interface Transport {
  /**
   * True where returned values are the server's own objects: caches should keep them unchanged, since a copy costs
   * memory.
   */
  readonly sharesValues?: boolean;
  /**
   * Resolves with the response, whatever its code. Without a response it rejects: with the signal's reason if
   * aborted, else with an ApiError `ServiceUnavailable` whose cause is the failure. The server may have carried out
   * the request then.
   */
  send(request: TransportRequest): Promise<TransportResponse>;
  /** Opens a watch. Events that arrive together form one item. Never emits synchronously. */
  watch(request: TransportRequest): Promise<TransportStream<readonly TransportEvent[]>>;
  /** Opens a stream of bytes, for example a log. */
  read(request: TransportRequest): Promise<TransportStream<Uint8Array>>;
  /** Closes the connections. */
  close(): Promise<void>;
}
