/**
 * CEL types of the published API, for checks of expressions that never run. Uncertain types are dyn. Objects are seen as
 * JSON, where a time is a text.
 */
import type { ScalarType, Schema, StructSchema } from "../schema/schema.ts";
import { BOOL, type CelType, DOUBLE, DYN, INT, listOf, mapOf, objectType, STRING } from "./type.ts";

const SCALARS: Readonly<Partial<Record<ScalarType, CelType>>> = {
  string: STRING,
  int32: INT,
  int64: INT,
  float: DOUBLE,
  boolean: BOOL,
};

const known = new WeakMap<StructSchema, CelType>();

/** Type of a struct. Fields are looked up on first use, because a schema may contain itself. */
export function typeOfStruct(schema: StructSchema): CelType {
  const made = known.get(schema);
  if (made !== undefined) return made;
  const type = schema.keepsUnknown ? DYN : recordOf(schema);
  known.set(schema, type);
  return type;
}

function recordOf(schema: StructSchema): CelType {
  return objectType(schema.definition, {
    find: (jsonName) => {
      const field = schema.byName.get(jsonName);
      return field === undefined ? undefined : { type: typeOfNode(field.schema), jsonName };
    },
    get names() {
      return schema.byName.keys();
    },
  });
}

function typeOfNode(schema: Schema): CelType {
  if (schema.type === "struct") return typeOfStruct(schema);
  if (schema.type === "list") return listOf(typeOfNode(schema.items));
  if (schema.type === "map") return mapOf(STRING, typeOfNode(schema.values));
  return schema.type === "either" ? DYN : (SCALARS[schema.type] ?? DYN);
}
