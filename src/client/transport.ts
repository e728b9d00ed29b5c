/**
 * How requests reach a server: over HTTP to any Kubernetes, or within this process, where nothing is put into bytes. A client stands on
 * nothing else.
 *
 * Values that come back are shared: with the server itself when it runs in this process. They are deeply readonly by type and never
 * changed by anybody. Values handed in belong to the caller again as soon as the call returns; they are taken as JSON takes them
 * (members that are undefined are not there).
 */
import type { Status } from "../api/errors/api-error.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface TransportRequest {
  readonly method: Method;
  /** Without query, each part of it encoded, such as `/api/v1/namespaces/default/pods`. */
  readonly path: string;
  /** A list means the parameter several times. */
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  /** A JSON value. */
  readonly body?: unknown;
  /** Of the body; JSON unless given (patches have types of their own). */
  readonly contentType?: string;
  /** `metadata` asks for PartialObjectMetadata in place of whole objects. */
  readonly form?: "object" | "metadata";
  /** Under which name the caller is known to the server's logs and, without fieldManager, owns what it writes. */
  readonly userAgent?: string;
  /** The reconcile that makes this request (DESIGN: every write knows its cause). */
  readonly cause?: string;
  /** Ends the call, and perhaps many others: whoever listens to it leaves it when the call is over. */
  readonly signal?: AbortSignal;
}

export interface TransportResponse {
  readonly code: number;
  /** The body as a JSON value; undefined when there is none. */
  readonly value: unknown;
  /** What the server warns of, as plain text. */
  readonly warnings: readonly string[];
  /** Seconds after which to come back (`Retry-After`). */
  readonly retryAfterSeconds?: number | undefined;
}

export type WatchEventType = "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";

export interface TransportEvent {
  readonly type: WatchEventType;
  /** An object, or a Status when the type is ERROR. */
  readonly object: unknown;
}

export interface TransportStream<T> {
  readonly code: number;
  /** The refusal, when the code is not 2xx: then there are no items. */
  readonly refusal: Status | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** In the order the server sent them. Ends when the server ends it; rejects when the connection breaks. Left early, it is closed. */
  readonly items: AsyncIterable<T>;
}

export interface Transport {
  /** True where values that come back are the server's own: whoever keeps them should keep them as they are, since a copy would cost memory. */
  readonly sharesValues?: boolean;
  /**
   * Resolves with the answer, whatever its code. Rejects when there is none: with the signal's reason when that was aborted, else with an
   * ApiError `ServiceUnavailable` whose cause says what broke; whether the server did what was asked is then unknown.
   */
  send(request: TransportRequest): Promise<TransportResponse>;
  /** A watch; events that came together are handed out together. Never synchronously. */
  watch(request: TransportRequest): Promise<TransportStream<readonly TransportEvent[]>>;
  /** Bytes as they come (logs). */
  read(request: TransportRequest): Promise<TransportStream<Uint8Array>>;
  /** Ends what is kept open between requests. */
  close(): Promise<void>;
}
