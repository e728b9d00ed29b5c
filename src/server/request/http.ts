/**
 * A request and its answer as the server sees them, whatever brought them: HTTP/1.1, HTTP/2 or a call within the process.
 */
import type { Duplex } from "node:stream";
import type { Soon } from "../../base/loop/soon.ts";

export interface HttpRequest {
  readonly method: string;
  /** Path and query as sent, such as `/api/v1/pods?limit=500`. */
  readonly target: string;
  /** Lower-case names; repeated headers joined with ", ". */
  readonly headers: ReadonlyMap<string, string>;
  /** Each value of a header apart, as it was sent: for values that may hold a comma. Without it, nothing was sent twice. */
  valuesOf?(name: string): readonly string[];
  /** Who the connection is, by its client certificate; parsed once per connection. */
  readonly peer: PeerIdentity | undefined;
  /** Of the other end of the connection. */
  readonly remoteAddress?: string | undefined;
  /** Aborted when the client is gone or the server ends. */
  readonly signal: AbortSignal;
  /**
   * Reads the body, once. No byte of it is read before this is called; longer bodies reject with ApiError
   * `RequestEntityTooLarge` without being read to their end.
   */
  readBody(maxBytes: number): Promise<Uint8Array>;
  /** Set by whoever wants to see the body as a value, once that is read: before anything is made of it. */
  onBody?: ((body: unknown) => void) | undefined;
  /** The body as it comes, in place of `readBody`: no piece is asked for before the one before was taken. Absent where there is no stream. */
  streamBody?(): AsyncIterable<Uint8Array>;
  /** The client asks to go on in another protocol on this connection; only then may the answer be `switched`. */
  readonly isUpgrade?: boolean;
  /** Whose turn of the server's thread the request has. Absent where requests take no turns. */
  readonly turn?: TurnHolder;
  /** Set by callers within the process: body and answer are values then, and nothing is put into bytes. */
  readonly direct?: DirectBody;
}

export interface TurnHolder {
  /** Under which queues count what the request waits for: the user, or address and connection while it is not verified. */
  readonly share: readonly string[];
  /** Whether the request has a turn of this user: its credential was verified before. */
  isTurnOf(user: string): boolean;
  /** Waits for a turn of a user that is verified now. */
  takeTurnOf(user: string, turn: UserTurn): void;
  /** The credential of the request is no good: its next request takes a turn of its connection. */
  noteRefusal(): void;
}

/** Exactly one of these is called, later. */
export interface UserTurn {
  begin(): void;
  /** Too many requests wait. */
  refuse(error: Error): void;
}

/** A request behind its parser: method and target are read from `RequestInfo` only, so that no stage reads them otherwise. */
export type AcceptedRequest = Omit<HttpRequest, "method" | "target">;

/** A JSON value that nobody else holds; undefined where there is no body. */
export interface DirectBody {
  readonly body: unknown;
}

export interface PeerIdentity {
  readonly user: string;
  readonly groups: readonly string[];
  /** Absent where its certificate states none. */
  readonly uid?: string;
  /** SHA-256 of the certificate that was shown, in lower-case hexadecimal digits; absent where there was none to show. */
  readonly fingerprint?: string;
  /** When that certificate ends, in milliseconds since 1970. */
  readonly expiresAt?: number;
  /**
   * `front-proxy`: it may speak for others, and is nobody itself. `stranger`: it showed a certificate that nobody here vouches for, and is
   * nobody unless something else says who it is. Absent: a client.
   */
  readonly role?: "front-proxy" | "stranger";
}

export interface HttpResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: ReadonlyMap<string, string>;
  /**
   * Bytes that are sent as they are, or text of which each character is one byte, or pieces that are asked for as the client takes them: no piece is asked for while
   * the one before waits to be sent. Ended early (`return`) when the client is gone.
   */
  readonly body: WholeBody | AsyncIterable<Uint8Array>;
  /** A newline follows the body, as it does where Go writes JSON: apart from it, since the body may be what others get too. */
  readonly isLine?: boolean;
  /** In place of a body: pieces that come when something happens. */
  readonly feed?: Feed;
  /** With status 101: what the connection becomes from now on. */
  readonly switched?: SwitchedStream;
  /** The answer to a direct request for a resource, in place of a body. Its values are the server's own: never changed. */
  readonly direct?: DirectAnswer;
}

/** Text is what is at hand right after a write; each of its characters is one byte. */
export type WholeBody = Uint8Array | string;

export function bytesOf(body: WholeBody): Uint8Array {
  return typeof body === "string" ? Buffer.from(body, "latin1") : body;
}

export function isWhole(body: HttpResponse["body"]): body is WholeBody {
  return typeof body === "string" || body instanceof Uint8Array;
}

/** Of an answer that nobody will send: what it holds, such as seats and connections, is given back. */
export async function letGo({ body, feed, switched }: HttpResponse): Promise<void> {
  switched?.stream.destroy();
  feed?.stop();
  if (!isWhole(body)) await body[Symbol.asyncIterator]().return?.();
}

/** Hands over pieces when there are some, for as long as the client listens: nobody asks for each, as with a body. */
export interface Feed {
  /** Begins, once. */
  start(outlet: Outlet): void;
  /** There is room again after `send` said that there was none. */
  resume(): void;
  /** Nobody listens any more, or nobody ever will. */
  stop(): void;
}

export interface Outlet {
  /** False when there is no room for another piece until `Feed.resume`. */
  send(piece: Uint8Array): boolean;
  /** Nothing more will come. With an error the answer is broken off, so that its client can tell. */
  end(error?: unknown): void;
}

/** Whoever sends the answer joins the client's connection with it, and destroys both together. */
export interface SwitchedStream {
  readonly stream: Duplex;
  /** What has come from there already. */
  readonly head: Uint8Array;
}

export type DirectAnswer =
  | { readonly type: "value"; readonly value: unknown }
  | { readonly type: "events"; readonly events: AsyncIterable<readonly DirectEvent[]> };

export interface DirectEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: unknown;
}

/** Neither throws nor rejects: what goes wrong is an answer too. What waits for nothing is answered at once. */
export type HttpHandler = (request: HttpRequest) => Soon<HttpResponse>;
