/** What a request asks for. Every stage reads this value, and `parse-request.ts` alone makes it of method and target. */
export type RequestVerb =
  | "get"
  | "list"
  | "watch"
  | "create"
  | "update"
  | "patch"
  | "delete"
  | "deletecollection";

/** Empty for a method that means nothing for resources, such as OPTIONS: only a rule for all verbs allows it. */
export type AskedVerb = RequestVerb | "proxy" | "";

export interface SentRequest {
  readonly method: string;
  /** Path as sent. */
  readonly rawPath: string;
  /** Query as sent, with its question mark; empty without one. */
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
  /** Path without escapes, up to and including the subresource. */
  readonly path: string;
  /** The path behind the subresource as sent, such as `/a%20b`. Behind `proxy` it may be anything, elsewhere it has parts. */
  readonly rest: string;
  /** Namespace whose roles count: for a namespace itself, its own name. */
  readonly accessNamespace: string;
  /** Name that roles may be limited to: of the object, or the only one that a list selects. */
  readonly accessName: string;
  /** As sent, where the verb is one that selects. */
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

export interface OtherRequest extends SentRequest {
  readonly type: "other";
  /** The method in lower case. */
  readonly verb: string;
  /** Path without escapes. */
  readonly path: string;
  /** Why the request is refused before anything else is done with it. */
  readonly problem?: string;
}

export type RequestInfo = ResourceRequest | OtherRequest;

export interface ParsedRequest {
  readonly info: RequestInfo;
  readonly query: URLSearchParams;
}

/** Method and path belong together: a watch by path only reads, and only an object of a name is updated. */
export function isMethodFit({ verb, method, name, subresource }: ResourceRequest): boolean {
  if (verb === "" || verb === "proxy") return false;
  if (verb === "watch") return method === "GET" || method === "HEAD";
  if (verb === "create") return name === "" || subresource !== "";
  return name !== "" || (verb !== "update" && verb !== "patch");
}

/** How much of a resource a request is about: one object, those of a namespace, or all. For counting. */
export function scopeOf({ verb, name, namespace }: ResourceRequest): "resource" | "namespace" | "cluster" {
  if (name !== "" || verb === "create") return "resource";
  return namespace === "" ? "cluster" : "namespace";
}

/** Given in any way but as a no: Go's clients write `true`, people `1` or nothing. */
export function isTrue(text: string | null): boolean {
  return text !== null && !/^(?:false|0)$/i.test(text);
}
