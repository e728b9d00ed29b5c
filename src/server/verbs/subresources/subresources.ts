/** From a request for a subresource to what answers it. Which ones a resource has is a fact of the API. */
import {
  methodNotAllowed,
  methodNotSupported,
  notFound,
  unknownResource,
} from "../../../api/errors/api-error.ts";
import { isCustom, isStored } from "../../objects/registry.ts";
import type { Resource } from "../../objects/registry.ts";
import type { Call } from "../../request/call.ts";
import type { AskedVerb } from "../../request/request-info.ts";
import { patch } from "../patch.ts";
import { get } from "../read/get.ts";
import { update } from "../update.ts";
import type { Verb } from "../verb.ts";
import { approval } from "./approval.ts";
import { bindPod } from "./binding.ts";
import { ephemeralContainers } from "./ephemeral-containers.ts";
import { evictPod } from "./eviction.ts";
import { finalizeNamespace } from "./finalize.ts";
import { partOf } from "./part.ts";
import { resize } from "./resize.ts";
import { patchScale, showScale, updateScale } from "./scale.ts";
import { createToken } from "./token.ts";
import { unavailable } from "./unavailable.ts";

type Verbs = Readonly<Partial<Record<AskedVerb, Verb>>>;

/** The connections: whatever method opens them, they lead to a node. */
const CONNECT: Verbs = {
  get: unavailable,
  create: unavailable,
  update: unavailable,
  patch: unavailable,
  delete: unavailable,
};

const SUBRESOURCES: ReadonlyMap<string, Verbs> = new Map<string, Verbs>([
  ["status", { get, update, patch }],
  ["scale", { get: showScale, update: updateScale, patch: patchScale }],
  ["binding", { create: bindPod }],
  ["eviction", { create: evictPod }],
  ["ephemeralcontainers", partOf(ephemeralContainers)],
  ["resize", partOf(resize)],
  ["approval", partOf(approval)],
  ["finalize", { update: finalizeNamespace }],
  ["token", { create: createToken }],
  ["log", CONNECT],
  ["exec", CONNECT],
  ["attach", CONNECT],
  ["portforward", CONNECT],
  ["proxy", CONNECT],
]);

export function subresourceVerb({ info, resource }: Call): Verb<Resource> {
  const facts = resource.facts.subresources.find(({ name }) => name === info.subresource);
  const verbs = SUBRESOURCES.get(info.subresource);
  // As upstream: behind the subresource of a custom kind nobody looks.
  const isPath = info.rest === "" || info.subresource === "proxy" || isCustom(resource);
  if (facts === undefined || verbs === undefined || !isPath)
    throw isCustom(resource) ? notFound(info, info.name) : unknownResource();
  const verb = verbs[info.verb];
  const isServed = facts.verbs.some((served) => served === info.verb);
  if (verb === undefined || !isServed)
    throw isCustom(resource) ? methodNotSupported(info, info.verb) : methodNotAllowed();
  return (call, workshop) => {
    if (!isStored(call.resource)) throw unknownResource();
    return verb({ ...call, resource: call.resource }, workshop);
  };
}
