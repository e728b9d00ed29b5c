/**
 * A request and its response as the server sees them, independent of transport: HTTP/1.1, HTTP/2 or an in-process
 * call.
 */
import type { Duplex } from "node:stream";
import type { MaybePromise } from "../../base/loop/maybe-promise.ts";

export interface HttpRequest {
  readonly method: string;
  /** Path and query as sent, for example `/api/v1/pods?limit=500`. */
  readonly target: string;
  /** Lower-case names; repeated headers joined with ", ". */
  readonly headers: ReadonlyMap<string, string>;
  /** Each value of a header as sent, for values that may contain a comma. Absent where no header was repeated. */
  valuesOf?(name: string): readonly string[];
  /** Identity from the client certificate; parsed once per connection. */
  readonly peer: PeerIdentity | undefined;
  /** Address of the client's end of the connection. */
  readonly remoteAddress?: string | undefined;
  /** Aborted when the client disconnects or the server stops. */
  readonly signal: AbortSignal;
  /**
   * Reads the body, once. The server reads no byte of the body before this call. A longer body rejects with ApiError
   * `RequestEntityTooLarge`; its rest stays unread.
   */
  readBody(maxBytes: number): Promise<Uint8Array>;
  /** Receives the parsed body before the request handler uses it. The audit log sets it. */
  onBody?: ((body: unknown) => void) | undefined;
  /**
   * The body as a stream, instead of `readBody`. It reads the next chunk only after the caller took the last one.
   * Absent for requests without a stream.
   */
  streamBody?(): AsyncIterable<Uint8Array>;
  /** The client asks to switch protocols on this connection; only then may the response be `switched`. */
  readonly isUpgrade?: boolean;
  /** The request's entry in the queue for the server's thread. Absent where requests are not queued. */
  readonly queueEntry?: QueueEntry;
  /** Set by in-process callers: body and response are values, and are not serialized. */
  readonly direct?: DirectBody;
}

export interface QueueEntry {
  /**
   * Names of the queues that count the request while it waits: the user, or address and connection before
   * authentication.
   */
  readonly share: readonly string[];
  /** True if the request is already queued for this user: its credential was verified before. */
  isOwnedBy(user: string): boolean;
  /** Queues the rest of the request for a user that was just authenticated. */
  queueFor(user: string, step: QueuedStep): void;
  /** Records that the credential was rejected: the next request with it is queued for its connection. */
  noteRefusal(): void;
}

/** Exactly one of these is called, later. */
export interface QueuedStep {
  begin(): void;
  /** Rejects the request because too many requests wait. */
  refuse(error: Error): void;
}

/** A request after parsing. Stages read method and target from `RequestInfo` only, so all stages agree on them. */
export type AcceptedRequest = Omit<HttpRequest, "method" | "target">;

/** A JSON value that the request owns alone; undefined without a body. */
export interface DirectBody {
  readonly body: unknown;
}

export interface PeerIdentity {
  readonly user: string;
  readonly groups: readonly string[];
  /** Absent if the certificate states none. */
  readonly uid?: string;
  /** SHA-256 of the client certificate, in lower-case hexadecimal; absent without a certificate. */
  readonly fingerprint?: string;
  /** Expiry of the client certificate, in milliseconds since 1970. */
  readonly expiresAt?: number;
  /**
   * `front-proxy`: may name other users, and is no user itself. `stranger`: showed a certificate of an unknown
   * authority; it needs another credential. Absent: a client.
   */
  readonly role?: "front-proxy" | "stranger";
}

export interface HttpResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: ReadonlyMap<string, string>;
  /**
   * Whole bytes, or chunks. The server asks for a chunk only after it sent the one
   * before. It calls `return` on the iterator when the client disconnects.
   */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
  /**
   * Appends a newline, as Go's JSON encoder does. It is not in `body`, because other responses may share the body.
   */
  readonly isLine?: boolean;
  /** Used instead of a body: chunks that arrive as events happen. */
  readonly feed?: Feed;
  /** Set with status 101: the stream that takes over the connection. */
  readonly switched?: SwitchedStream;
  /**
   * Result of a direct request for a resource, instead of a body. Its values are the server's own: callers never
   * change them.
   */
  readonly direct?: DirectAnswer;
}

/** Releases the resources of a response that will not be sent, such as seats and connections. */
export async function releaseResponse({ body, feed, switched }: HttpResponse): Promise<void> {
  switched?.stream.destroy();
  feed?.stop();
  if (!(body instanceof Uint8Array)) await body[Symbol.asyncIterator]().return?.();
}

/** Pushes chunks for as long as the client listens; a body is pulled instead. */
export interface Feed {
  /** Starts the feed. Called once. */
  start(sink: FeedSink): void;
  /** Called when the sink has room again after `send` returned false. */
  resume(): void;
  /** Called when the client disconnects or the response is discarded, also before `start`. */
  stop(): void;
}

export interface FeedSink {
  /** Returns false when the sink has no room until `Feed.resume`. */
  send(piece: Uint8Array): boolean;
  /** Ends the response. An error aborts it, so that the client notices the failure. */
  end(error?: unknown): void;
}

/** The sender of the response joins this stream with the client's connection, and destroys both together. */
export interface SwitchedStream {
  readonly stream: Duplex;
  /** Bytes already received from the stream. */
  readonly head: Uint8Array;
}

export type DirectAnswer =
  | { readonly type: "value"; readonly value: unknown }
  | { readonly type: "events"; readonly events: AsyncIterable<readonly DirectEvent[]> };

export interface DirectEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: unknown;
}

/** Neither throws nor rejects: a failure is a response too. Returns synchronously where nothing has to be awaited. */
export type HttpHandler = (request: HttpRequest) => MaybePromise<HttpResponse>;
