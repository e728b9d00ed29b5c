/** A request on its way through the pipeline. */
import type { AcceptedRequest, HttpResponse } from "./http.ts";
import type { RequestInfo } from "./request-info.ts";
import type { RequestNotes } from "./request-notes.ts";
import type { User } from "./user.ts";

/** A request on its way, with what the stages found out. */
export interface Exchange {
  readonly request: AcceptedRequest;
  readonly query: URLSearchParams;
  readonly info: RequestInfo;
  readonly user: User | undefined;
  /** Who it really is, while they act as `user`. */
  readonly impersonatedBy?: User;
  readonly notes: RequestNotes;
}

/** What waits for nothing is answered at once: a small read costs less than the promises of all its stages would. */
export type Reply = HttpResponse | Promise<HttpResponse>;
export type Next = (exchange: Exchange) => Reply;
export type Stage = (exchange: Exchange, next: Next) => Reply;

export function changedReply(reply: Reply, change: (response: HttpResponse) => HttpResponse): Reply {
  return reply instanceof Promise ? reply.then(change) : change(reply);
}

/** Answers paths that are no resources: health, discovery, schemas, metrics. Undefined: not mine. */
export type Site = (exchange: Exchange) => Promise<HttpResponse> | undefined;
