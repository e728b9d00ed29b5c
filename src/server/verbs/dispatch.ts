/** Finds the resource that a request names and runs the verb that answers it. */
import {
  badRequest,
  internalError,
  methodNotAllowed,
  methodNotSupported,
  unknownResource,
} from "../../api/errors/api-error.ts";
import { pathSegmentName } from "../../api/values/names.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { findDeprecation, isCustom, isStored } from "../objects/registry.ts";
import type { Registry, Resource, StoredResource } from "../objects/registry.ts";
import { toApiError } from "../objects/store-errors.ts";
import type { Answer } from "../request/answer.ts";
import type { Call } from "../request/call.ts";
import type { AcceptedRequest } from "../request/http.ts";
import { RequestPace } from "../request/pace.ts";
import type { Pace } from "../request/pace.ts";
import { isMethodFit } from "../request/parse-request.ts";
import type { AskedVerb, ResourceRequest } from "../request/request-info.ts";
import type { RequestNotes } from "../request/request-notes.ts";
import type { User } from "../request/user.ts";
import { authorOf } from "../write/journal.ts";
import type { Author } from "../write/journal.ts";
import type { WriteCall, WriteOrigin } from "../write/write-call.ts";
import { writerRoleOf } from "../write/write-purpose.ts";
import type { WriterRole } from "../write/write-purpose.ts";
import { create } from "./create.ts";
import { deleteCollection } from "./delete-collection.ts";
import { remove } from "./delete.ts";
import { patch } from "./patch.ts";
import { get } from "./read/get.ts";
import { list } from "./read/list.ts";
import { subresourceVerb } from "./subresources/subresources.ts";
import { update } from "./update.ts";
import type { Verb, VerbParts } from "./verb.ts";
import { virtualVerb } from "./virtual/virtual-resources.ts";
import { watch } from "./watch/watch.ts";

const VERBS: Readonly<Partial<Record<AskedVerb, Verb>>> = {
  get,
  list,
  watch,
  create,
  update,
  patch,
  delete: remove,
  deletecollection: deleteCollection,
};

export const READS: ReadonlySet<AskedVerb> = new Set<AskedVerb>(["get", "list", "watch"]);

export interface ResourceExchange {
  readonly request: AcceptedRequest;
  readonly info: ResourceRequest;
  readonly query: URLSearchParams;
  readonly user: User;
  readonly notes: RequestNotes;
}

/** Resolves the request to a call on a served resource; throws when there is none. */
export function resolve(exchange: ResourceExchange, registry: Registry): Call {
  const call = findCall(exchange, registry);
  if (call !== undefined) return call;
  refuseBroken(exchange.info, registry);
  throw unknownResource();
}

/** Throws for a kind with a broken definition. The definition exists, and its key tells the reader where to look. */
export function refuseBroken(info: ResourceRequest, registry: Registry): void {
  const problem = registry.findProblem(info);
  if (problem !== undefined) throw internalError(new Error(problem));
}

/** Undefined when the server does not serve the resource at this path. */
export function findCall(
  { request, info, query, user, notes }: ResourceExchange,
  registry: Registry,
): Call | undefined {
  const resource = registry.find(info);
  if (resource === undefined) return undefined;
  const { namespaced } = resource.facts;
  if (!namespaced && info.namespace !== "") return undefined;
  if (namespaced && info.namespace === "" && !isAcross(info, resource)) return undefined;
  if (info.name === "" && info.subresource !== "" && !isCustom(resource)) return undefined;
  return { request, info, query, user, notes, resource };
}

/** Throws for a method without a route upstream, whatever the path names. */
export function requireFit({ info, resource }: Call): void {
  if (!isMethodFit(info)) throw isCustom(resource) ? methodNotSupported(info, info.verb) : methodNotAllowed();
}

/** Tells whether a request may cover all namespaces. Built-in kinds route the other verbs there too, and refuse them. */
function isAcross({ name, verb }: ResourceRequest, resource: Resource): boolean {
  return name === "" && (!isCustom(resource) || verb === "list" || verb === "watch");
}

/** Throws or rejects with an ApiError for a mistake of the client. Any other error is a fault of the server. */
export function dispatch(call: Call, verbParts: VerbParts): Answer | Promise<Answer> {
  const deprecation = findDeprecation(call.resource);
  // Every request for a deprecated API gets the warning, whatever its outcome.
  if (deprecation !== undefined) {
    call.notes.warn(deprecation);
    verbParts.tally.askedForDeprecated(call.info);
  }
  try {
    const answer = run({ ...call, origin: new RequestOrigin(call, verbParts.loop) }, verbParts);
    return answer instanceof Promise ? answer.catch((error: unknown) => refuse(error, call)) : answer;
  } catch (error) {
    return refuse(error, call);
  }
}

/** Origin of a request's writes. A read never asks for it, so it is computed on demand. */
class RequestOrigin implements WriteOrigin {
  readonly #call: Call;
  readonly #loop: Loop;
  #author: Author | undefined;
  #pace: Pace | undefined;

  constructor(call: Call, loop: Loop) {
    this.#call = call;
    this.#loop = loop;
  }

  get author(): Author {
    return (this.#author ??= authorOf(this.#call));
  }

  get writer(): WriterRole {
    return writerRoleOf(this.#call.user);
  }

  get pace(): Pace {
    return (this.#pace ??= new RequestPace(this.#loop));
  }
}

function refuse(error: unknown, { info }: Call): never {
  throw toApiError(error, { group: info.group, resource: info.resource }, info.name) as Error;
}

/** Names that would address another key. A create takes its name from the body. */
const UNFIT = /^\.\.?$|[/%]/;

function requireSegment({ name, verb }: ResourceRequest): void {
  if (!UNFIT.test(name) || verb === "create") return;
  const why = pathSegmentName(name).join(";");
  throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${why}`);
}

function run(call: WriteCall, verbParts: VerbParts): Answer | Promise<Answer> {
  const { info, resource } = call;
  requireSegment(info);
  if (info.subresource !== "") return subresourceVerb(call)(call, verbParts);
  const isServed = resource.facts.verbs.some((served) => served === info.verb);
  if (!isStored(resource)) {
    if (!isServed) throw methodNotAllowed();
    return virtualVerb(resource)(call, verbParts);
  }
  const verb = VERBS[info.verb];
  if (!isServed || verb === undefined)
    throw methodNotSupported({ group: info.group, resource: info.resource }, info.verb);
  return verb(call as WriteCall<StoredResource>, verbParts);
}
