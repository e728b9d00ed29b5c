/** A request on its way through the pipeline. */
import type { User } from "./call.ts";
import type { HttpRequest, HttpResponse } from "./http.ts";
import type { RequestInfo } from "./request-info.ts";

/** A request on its way, with what the stages found out. */
export interface Exchange {
  readonly request: HttpRequest;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly info: RequestInfo;
  readonly user: User | undefined;
}

export type Next = (exchange: Exchange) => Promise<HttpResponse>;
export type Stage = (exchange: Exchange, next: Next) => Promise<HttpResponse>;

/** Answers paths that are no resources: health, discovery, schemas, metrics. Undefined: not mine. */
export type Site = (exchange: Exchange) => Promise<HttpResponse> | undefined;
