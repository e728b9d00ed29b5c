/**
 * A request and its answer as the server sees them, whatever brought them: HTTP/1.1, HTTP/2 or a call within the process.
 */

export interface HttpRequest {
  readonly method: string;
  /** Path and query as sent, such as `/api/v1/pods?limit=500`. */
  readonly target: string;
  /** Lower-case names; repeated headers joined with ", ". */
  readonly headers: ReadonlyMap<string, string>;
  /** Who the connection is, by its client certificate; parsed once per connection. */
  readonly peer: PeerIdentity | undefined;
  /** Aborted when the client is gone or the server ends. */
  readonly signal: AbortSignal;
  /**
   * Reads the body, once. No byte of it is read before this is called; longer bodies reject with ApiError
   * `RequestEntityTooLarge` without being read to their end.
   */
  readBody(maxBytes: number): Promise<Uint8Array>;
  /** Set by callers within the process: body and answer are values then, and nothing is put into bytes. */
  readonly direct?: DirectBody;
}

/** A JSON value that nobody else holds; undefined where there is no body. */
export interface DirectBody {
  readonly body: unknown;
}

export interface PeerIdentity {
  readonly user: string;
  readonly groups: readonly string[];
}

export interface HttpResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: ReadonlyMap<string, string>;
  /**
   * Bytes that are sent as they are, or pieces that are asked for as the client takes them: no piece is asked for while
   * the one before waits to be sent. Ended early (`return`) when the client is gone.
   */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
  /** The answer to a direct request for a resource, in place of a body. Its values are the server's own: never changed. */
  readonly direct?: DirectAnswer;
}

export type DirectAnswer =
  | { readonly type: "value"; readonly value: unknown }
  | { readonly type: "events"; readonly events: AsyncIterable<readonly DirectEvent[]> };

export interface DirectEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: unknown;
}

/** Never rejects: what goes wrong is an answer too. */
export type HttpHandler = (request: HttpRequest) => Promise<HttpResponse>;
