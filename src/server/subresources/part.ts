/** A subresource that shows the whole object and writes a part of it. */
import type { Verb } from "../call.ts";
import { get } from "../verbs/get.ts";
import { patch } from "../verbs/patch.ts";
import { update } from "../verbs/update.ts";
import type { EndpointRules } from "../write/revise.ts";

export function partOf(endpoint: EndpointRules): Readonly<Record<"get" | "update" | "patch", Verb>> {
  return {
    get,
    update: (call, workshop) => update({ ...call, endpoint }, workshop),
    patch: (call, workshop) => patch({ ...call, endpoint }, workshop),
  };
}
