/** Schemas of older versions, as differences from a published one: only the fields that changed are written down. */
import type { FieldOptions, ListSchema, Schema, StructField } from "../../api/schema/schema.ts";
import { StructSchema } from "../../api/schema/schema.ts";

type FieldChange = (fields: readonly StructField[]) => readonly FieldOptions[];

/** The same schema, with other fields in the struct at `path`. Lists on the way stand for their items. */
export function variantOf(struct: StructSchema, path: readonly string[], change: FieldChange): StructSchema {
  const [name, ...rest] = path;
  const inner = (field: StructField): FieldOptions =>
    field.name === name ? { ...field, schema: within(field.schema, rest, change) } : field;
  const fields = (): readonly FieldOptions[] =>
    name === undefined ? change(struct.fields) : struct.fields.map(inner);
  const { definition, atomic, keepsUnknown } = struct;
  return new StructSchema({ name: struct.name, definition, atomic, keepsUnknown, fields });
}

function within(schema: Schema, path: readonly string[], change: FieldChange): StructSchema | ListSchema {
  if (schema.type === "struct") return variantOf(schema, path, change);
  if (schema.type === "list") return { ...schema, items: within(schema.items, path, change) };
  throw new Error(`expected a struct or a list, found ${schema.type}`);
}

/** Puts other fields in the place of those that are named. */
export function replacing(names: readonly string[], others: readonly FieldOptions[]): FieldChange {
  return (fields) => [...fields.filter(({ name }) => !names.includes(name)), ...others];
}

/** A field of an older version. Its zero value is never filled in. */
export function legacyField(name: string, schema: Schema, wireNumber: number): FieldOptions {
  return {
    name,
    schema,
    pointer: true,
    always: false,
    wirePath: [wireNumber],
    patchStrategies: [],
    mergeKey: undefined,
    required: false,
    defaultValue: undefined,
  };
}

/** The field of that name, which the published API has. */
export function fieldOf(struct: StructSchema, name: string): StructField {
  const field = struct.byName.get(name);
  if (field === undefined) throw new Error(`${struct.definition} has no field ${name}`);
  return field;
}
