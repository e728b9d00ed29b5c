/** PriorityLevelConfiguration of `flowcontrol.apiserver.k8s.io/v1beta1` and `v1beta2`: the shares have another name. */
import { isJsonObject, type JsonObject } from "../../api/json/json-object.ts";
import type { StructSchema } from "../../api/schema/schema.ts";
import type { LegacyVersion } from "./legacy-version.ts";
import { variantOf } from "./struct-variant.ts";

function schema(stored: StructSchema): StructSchema {
  return variantOf(stored, ["spec", "limited"], (fields) =>
    fields.map((field) =>
      field.name === "nominalConcurrencyShares" ? { ...field, name: "assuredConcurrencyShares" } : field,
    ),
  );
}

function convert(level: JsonObject): JsonObject {
  const { spec } = level;
  if (!isJsonObject(spec) || !isJsonObject(spec["limited"])) return level;
  const { assuredConcurrencyShares, ...limited } = spec["limited"];
  if (assuredConcurrencyShares === undefined) return level;
  return {
    ...level,
    spec: { ...spec, limited: { ...limited, nominalConcurrencyShares: assuredConcurrencyShares } },
  };
}

export const legacyPriorityLevel: LegacyVersion = { schema, convert };
