/** A subresource that shows the whole object and writes one part of it. */
import type { EndpointRules } from "../../objects/endpoint-rules.ts";
import { patch } from "../patch.ts";
import { get } from "../read/get.ts";
import { update } from "../update.ts";
import type { Verb } from "../verb.ts";

export function partOf(endpoint: EndpointRules): Readonly<Record<"get" | "update" | "patch", Verb>> {
  return {
    get,
    update: (call, verbParts) => update({ ...call, endpoint }, verbParts),
    patch: (call, verbParts) => patch({ ...call, endpoint }, verbParts),
  };
}
