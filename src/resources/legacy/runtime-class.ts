/** RuntimeClass of `node.k8s.io/v1alpha1`: its fields lie in a spec. */
import { isJsonObject, type JsonObject } from "../../api/json/json-object.ts";
import { StructSchema } from "../../api/schema/schema.ts";
import type { LegacyVersion } from "./legacy-version.ts";
import { fieldOf, legacyField, replacing, variantOf } from "./struct-variant.ts";

function schema(stored: StructSchema): StructSchema {
  const spec = new StructSchema({
    name: "RuntimeClassSpec",
    definition: "node.v1alpha1.RuntimeClassSpec",
    fields: () => [
      legacyField("runtimeHandler", { type: "string" }, 1),
      { ...fieldOf(stored, "overhead"), wirePath: [2] },
      { ...fieldOf(stored, "scheduling"), wirePath: [3] },
    ],
  });
  return variantOf(
    stored,
    [],
    replacing(["handler", "overhead", "scheduling"], [legacyField("spec", spec, 2)]),
  );
}

function convert({ spec, ...rest }: JsonObject): JsonObject {
  if (!isJsonObject(spec)) return { ...rest, handler: "" };
  const { runtimeHandler = "", overhead, scheduling } = spec;
  return {
    ...rest,
    handler: runtimeHandler,
    ...(overhead !== undefined && { overhead }),
    ...(scheduling !== undefined && { scheduling }),
  };
}

export const legacyRuntimeClass: LegacyVersion = { schema, convert };
