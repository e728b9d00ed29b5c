/** Definitions of types with a special JSON form that are not structs. */
import type { JsonObject } from "../../../api/json/json-object.ts";
import type { DefinitionContext } from "./definition-context.ts";
import type { Dialect } from "./definition-name.ts";

const APIEXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.";

export const SPECIAL = {
  quantity: "io.k8s.apimachinery.pkg.api.resource.Quantity",
  time: "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
  microTime: "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime",
  intOrString: "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
  rawExtension: "io.k8s.apimachinery.pkg.runtime.RawExtension",
  fieldsV1: "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1",
  patch: "io.k8s.apimachinery.pkg.apis.meta.v1.Patch",
  json: `${APIEXTENSIONS}JSON`,
  boolean: `${APIEXTENSIONS}JSONSchemaPropsOrBool`,
  structs: `${APIEXTENSIONS}JSONSchemaPropsOrArray`,
  strings: `${APIEXTENSIONS}JSONSchemaPropsOrStringArray`,
} as const;

const SHAPES: Readonly<Record<string, JsonObject>> = {
  [SPECIAL.time]: { type: "string", format: "date-time" },
  [SPECIAL.microTime]: { type: "string", format: "date-time" },
  [SPECIAL.rawExtension]: { type: "object" },
  [SPECIAL.fieldsV1]: { type: "object" },
  [SPECIAL.patch]: { type: "object" },
  [SPECIAL.json]: {},
  [SPECIAL.boolean]: {},
  [SPECIAL.structs]: {},
  [SPECIAL.strings]: {},
};

/** OpenAPI v2 cannot express a choice of two types. */
const SHAPES_BY_DIALECT: Readonly<Record<Dialect, Readonly<Record<string, JsonObject>>>> = {
  v2: {
    [SPECIAL.quantity]: { type: "string" },
    [SPECIAL.intOrString]: { type: "string", format: "int-or-string" },
  },
  v3: {
    [SPECIAL.quantity]: { oneOf: [{ type: "string" }, { type: "number" }] },
    [SPECIAL.intOrString]: { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
  },
};

export function specialShape(name: string, { dialect, descriptions }: DefinitionContext): JsonObject {
  const description = descriptions.ofSpecial(name.slice(name.lastIndexOf(".") + 1));
  const shape = SHAPES_BY_DIALECT[dialect][name] ?? SHAPES[name];
  return { ...(description !== undefined && { description }), ...shape };
}
