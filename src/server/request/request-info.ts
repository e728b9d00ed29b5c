/** The parsed request. Every stage reads this value; only `parse-request.ts` builds it from method and target. */
export type RequestVerb =
  | "get"
  | "list"
  | "watch"
  | "create"
  | "update"
  | "patch"
  | "delete"
  | "deletecollection";

/** Empty for a method without a resource verb, such as OPTIONS: only a rule for all verbs allows it. */
export type AskedVerb = RequestVerb | "proxy" | "";

export interface SentRequest {
  readonly method: string;
  /** Path as sent. */
  readonly rawPath: string;
  /** Query as sent, with its question mark; empty without a query. */
  readonly rawQuery: string;
}

export interface ResourceRequest extends SentRequest {
  readonly type: "resource";
  readonly verb: AskedVerb;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Empty for cluster-scoped requests and for all namespaces. */
  readonly namespace: string;
  /** Empty for collections. */
  readonly name: string;
  /** Empty for the resource itself. */
  readonly subresource: string;
  /** Decoded path, up to and including the subresource. */
  readonly path: string;
  /**
   * The path after the subresource as sent, such as `/a%20b`. After `proxy` it may be any text, elsewhere it consists
   * of parts.
   */
  readonly rest: string;
  /** Namespace whose roles apply: for a Namespace object, its own name. */
  readonly accessNamespace: string;
  /** Name for rules with resourceNames: the object's name, or the only name that a list selects. */
  readonly accessName: string;
  /** As sent, for verbs that select. */
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

export interface OtherRequest extends SentRequest {
  readonly type: "other";
  /** The method in lower case. */
  readonly verb: string;
  /** Decoded path. */
  readonly path: string;
  /** Reason why the pipeline refuses the request at once. */
  readonly problem?: string;
}

export type RequestInfo = ResourceRequest | OtherRequest;

export interface ParsedRequest {
  readonly info: RequestInfo;
  readonly query: URLSearchParams;
}
