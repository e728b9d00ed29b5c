/** Adapts field sets to a schema. */
import type { ListSchema, MapSchema, Schema, StructSchema } from "../../schema/schema.ts";
import { asMember, EMPTY, type FieldSet, isEmpty, MEMBER, rewrite } from "./field-set.ts";
import { granularList, granularMap, isNamed, memberSchema } from "./granularity.ts";
import { SELF } from "./path-element.ts";

/** The set where every struct field with members below it is a member too; keys of maps and list items are not. */
export function withNamedFields(set: FieldSet, schema: Schema): FieldSet {
  if (isEmpty(set)) return set;
  return (
    rewrite(set, (child, element) => {
      const inner = element === SELF ? undefined : childSchema(schema, element);
      if (inner === undefined) return child;
      const below = withNamedFields(child, inner);
      return isNamedField(schema, element) ? asMember(below) : below;
    }) ?? EMPTY
  );
}

/**
 * The set adapted to the current schema. When a map, list or struct became atomic, owners of a part own the whole. Schemas
 * of custom resources may change in this way. Returns the set itself when it fits.
 */
export function alignedWith(set: FieldSet, schema: Schema): FieldSet {
  return (
    rewrite(set, (child, element) => {
      if (element === SELF || isEmpty(child)) return child;
      const inner = childSchema(schema, element);
      if (inner === undefined) return child;
      return isGranular(inner) ? alignedWith(child, inner) : MEMBER;
    }) ?? EMPTY
  );
}

function isGranular(schema: Schema): schema is StructSchema | MapSchema | ListSchema {
  return granularMap(schema) !== undefined || granularList(schema) !== undefined;
}

function isNamedField(schema: Schema, element: string): boolean {
  return schema.type === "struct" && isNamed(schema, element.slice(2));
}

/** The schema below an element; `undefined` when the element does not fit the schema. */
function childSchema(schema: Schema, element: string): Schema | undefined {
  if (schema.type === "struct" || schema.type === "map") {
    return element.startsWith("f:") ? memberSchema(schema, element.slice(2)) : undefined;
  }
  return schema.type === "list" && !element.startsWith("f:") ? schema.items : undefined;
}
