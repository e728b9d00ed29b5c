/** Finds the verb for a request to a subresource. The API facts list the subresources of each resource. */
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
import { bindPod } from "./binding.ts";
import { approval, ephemeralContainers, finalize, resize } from "./endpoints.ts";
import { evictPod } from "./eviction.ts";
import { patchScale, showScale, updateScale } from "./scale.ts";
import { createToken } from "./token.ts";

type Verbs = Readonly<Partial<Record<AskedVerb, Verb>>>;

const SUBRESOURCES: ReadonlyMap<string, Verbs> = new Map<string, Verbs>([
  ["status", { get, update, patch }],
  ["scale", { get: showScale, update: updateScale, patch: patchScale }],
  ["binding", { create: bindPod }],
  ["eviction", { create: evictPod }],
  ["ephemeralcontainers", ephemeralContainers],
  ["resize", resize],
  ["approval", approval],
  ["finalize", finalize],
  ["token", { create: createToken }],
]);

export function subresourceVerb({ info, resource }: Call): Verb<Resource> {
  const facts = resource.facts.subresources.find(({ name }) => name === info.subresource);
  const verbs = SUBRESOURCES.get(info.subresource);
  // As upstream, a path below a custom kind's subresource is ignored.
  const isPath = info.rest === "" || isCustom(resource);
  if (facts === undefined || verbs === undefined || !isPath)
    throw isCustom(resource) ? notFound(info, info.name) : unknownResource();
  const verb = verbs[info.verb];
  const isServed = facts.verbs.some((served) => served === info.verb);
  if (verb === undefined || !isServed)
    throw isCustom(resource) ? methodNotSupported(info, info.verb) : methodNotAllowed();
  return (call, verbParts) => {
    if (!isStored(call.resource)) throw unknownResource();
    return verb({ ...call, resource: call.resource }, verbParts);
  };
}
