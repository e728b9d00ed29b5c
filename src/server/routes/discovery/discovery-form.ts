import { mediaTypeOf } from "../../representation/form.ts";
import type { Media } from "../../representation/form.ts";
/** Chooses the format of a discovery response from the Accept header. */
import { asksFor, parseAccept } from "../../request/media-type.ts";
import type { AcceptClause } from "../../request/media-type.ts";
/** A plain document in a media type, or the aggregated document in JSON. */
export type DiscoveryForm = Media | "v2";

const PLAIN: readonly Media[] = ["json", "yaml", "protobuf"];
export const PLAIN_TYPES: readonly string[] = PLAIN.map(mediaTypeOf);

export const DISCOVERY_TYPES: Readonly<Record<DiscoveryForm, string>> = {
  json: mediaTypeOf("json"),
  yaml: mediaTypeOf("yaml"),
  protobuf: mediaTypeOf("protobuf"),
  v2: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
};

export interface DiscoveryOffer {
  /** Present on paths with an aggregated form. */
  readonly groups?: unknown;
  readonly isKind: boolean;
}

/** Undefined when no format is acceptable. A document without a kind is always JSON. */
export function chooseDiscoveryForm(
  accept: string | undefined,
  offer: DiscoveryOffer,
): DiscoveryForm | undefined {
  if (!offer.isKind || accept === undefined || accept.trim() === "") return "json";
  for (const clause of parseAccept(accept)) {
    const form = formOf(clause, offer);
    if (form !== undefined) return form;
  }
  return undefined;
}

function formOf(clause: AcceptClause, { groups }: DiscoveryOffer): DiscoveryForm | undefined {
  const { parameters } = clause;
  const isPlain = !parameters.has("as") && !parameters.has("g") && !parameters.has("v");
  if (isPlain) return PLAIN.find((media) => asksFor(clause, mediaTypeOf(media)));
  if (groups === undefined || !asksFor(clause, mediaTypeOf("json"))) return undefined;
  const isAggregated =
    parameters.get("as") === "APIGroupDiscoveryList" && parameters.get("g") === "apidiscovery.k8s.io";
  return isAggregated && parameters.get("v") === "v2" ? "v2" : undefined;
}
