/** EndpointSlice of `discovery.k8s.io/v1beta1`: the zone of an endpoint is one of the texts of its topology. */
import { isJsonObject, type JsonObject } from "../../api/json/json-object.ts";
import type { StructSchema } from "../../api/schema/schema.ts";
import type { LegacyVersion } from "./legacy-version.ts";
import { variantOf } from "./struct-variant.ts";

const ZONE = "topology.kubernetes.io/zone";
const HOSTNAME = "kubernetes.io/hostname";
const HINTS_WIRE_NUMBER = 7;

function schema(stored: StructSchema): StructSchema {
  return variantOf(stored, ["endpoints"], (fields) =>
    fields.flatMap((field) => {
      if (field.name === "zone") return [];
      if (field.name === "deprecatedTopology") return [{ ...field, name: "topology" }];
      return [field.name === "hints" ? { ...field, wirePath: [HINTS_WIRE_NUMBER] } : field];
    }),
  );
}

function convert(slice: JsonObject): JsonObject {
  const { endpoints } = slice;
  return Array.isArray(endpoints) ? { ...slice, endpoints: endpoints.map(convertEndpoint) } : slice;
}

function convertEndpoint(endpoint: unknown): unknown {
  if (!isJsonObject(endpoint) || !isJsonObject(endpoint["topology"])) return endpoint;
  const { topology, ...rest } = endpoint;
  const { [ZONE]: zone, ...others } = topology as JsonObject;
  const kept = Object.entries(others).filter(
    ([name, value]) => name !== HOSTNAME || value !== endpoint["nodeName"],
  );
  return {
    ...rest,
    ...(zone !== undefined && { zone }),
    ...(kept.length > 0 && { deprecatedTopology: Object.fromEntries(kept) }),
  };
}

export const legacyEndpointSlice: LegacyVersion = { schema, convert };
