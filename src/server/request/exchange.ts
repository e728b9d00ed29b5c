/** The pipeline through which a request passes: exchange, stage and reply. */
import type { AcceptedRequest, HttpResponse } from "./http.ts";
import type { RequestInfo } from "./request-info.ts";
import type { RequestNotes } from "./request-notes.ts";
import type { User } from "./user.ts";

/** A request in the pipeline, with the facts that earlier stages have established. */
export interface Exchange {
  readonly request: AcceptedRequest;
  readonly query: URLSearchParams;
  readonly info: RequestInfo;
  readonly user: User | undefined;
  /** The authenticated user, while the request impersonates `user`. */
  readonly impersonatedBy?: User;
  readonly notes: RequestNotes;
}

/** A synchronous reply skips the promises: for a small read they would cost more than the read. */
export type Reply = HttpResponse | Promise<HttpResponse>;
export type Next = (exchange: Exchange) => Reply;
export type Stage = (exchange: Exchange, next: Next) => Reply;

/**
 * Answers paths that are not resources: health, discovery, schemas, metrics. Returns undefined for other routes'
 * paths.
 */
export type Route = (exchange: Exchange) => Promise<HttpResponse> | undefined;
