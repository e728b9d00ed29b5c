/** A subresource that shows the whole object and writes a part of it. */
import type { Verb } from "../../request/call.ts";
import type { EndpointRules } from "../../write/revise.ts";
import { patch } from "../patch.ts";
import { get } from "../read/get.ts";
import { update } from "../update.ts";

export function partOf(endpoint: EndpointRules): Readonly<Record<"get" | "update" | "patch", Verb>> {
  return {
    get,
    update: (call, workshop) => update({ ...call, endpoint }, workshop),
    patch: (call, workshop) => patch({ ...call, endpoint }, workshop),
  };
}
