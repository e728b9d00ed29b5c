/** Checks the list extensions of a schema: the list type, and the keys of items. */
import type { FieldErrors, FieldPath } from "../errors/field-error.ts";
import type { JSONSchemaProps } from "../generated/types/apiextensions-v1.ts";
import { isSchema } from "./structural.ts";

const LIST_TYPE = "x-kubernetes-list-type";
const MAP_KEYS = "x-kubernetes-list-map-keys";
const LIST_TYPES = ["atomic", "set", "map"];

export function checkListMarks(schema: JSONSchemaProps, path: FieldPath, errors: FieldErrors): void {
  const listType = schema[LIST_TYPE];
  const keys = schema[MAP_KEYS] ?? [];
  if (listType !== undefined) checkListType(schema, listType, { path, errors });
  if (keys.length > 0 && listType !== "map") {
    const detail = `must be map if ${MAP_KEYS} is non-empty`;
    if (listType === undefined) errors.required(path.child(LIST_TYPE), detail);
    else errors.invalid(path.child(LIST_TYPE), listType, detail);
  }
  if (listType === "map") checkKeys(schema, keys, { path, errors });
  if (listType === "map" || listType === "set") checkItems(schema, listType, { path, errors });
}

interface Place {
  readonly path: FieldPath;
  readonly errors: FieldErrors;
}

function checkListType(schema: JSONSchemaProps, listType: string, { path, errors }: Place): void {
  const { type = "" } = schema;
  const detail = `must be array if ${LIST_TYPE} is specified`;
  if (type === "") errors.required(path.child("type"), detail);
  else if (type !== "array") errors.invalid(path.child("type"), type, detail);
  else if (listType === "set" && isSchema(schema.items)) checkSetItems(schema.items, { path, errors });
  if (!LIST_TYPES.includes(listType)) errors.notSupported(path.child(LIST_TYPE), listType, LIST_TYPES);
}

/** Items of a set must be atomic: the whole value identifies an item, so no manager can own a part of it. */
function checkSetItems(items: JSONSchemaProps, { path, errors }: Place): void {
  const detail = `must be atomic as item of a list with ${LIST_TYPE}=set`;
  const itemType = items[LIST_TYPE];
  if (items.type === "array" && itemType !== undefined && itemType !== "atomic")
    errors.invalid(path.child("items", LIST_TYPE), itemType, detail);
  if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic")
    errors.invalid(path.child("items", "x-kubernetes-map-type"), itemType, detail);
}

function checkKeys(schema: JSONSchemaProps, keys: readonly string[], { path, errors }: Place): void {
  if (keys.length === 0) errors.required(path.child(MAP_KEYS), `must not be empty if ${LIST_TYPE} is map`);
  if (schema.items === undefined)
    errors.required(path.child("items"), `must have a schema if ${LIST_TYPE} is map`);
  if (!isSchema(schema.items)) return;
  const { type = "" } = schema.items;
  if (type !== "object") {
    const detail = `must be object if parent array's ${LIST_TYPE} is map`;
    errors.invalid(path.child("items", "type"), type, detail);
    return;
  }
  for (const key of keys) checkKey(schema.items, key, { path, errors, keys });
  if (new Set(keys).size < keys.length)
    errors.invalid(path.child(MAP_KEYS), keys, "must not contain duplicate entries");
}

function checkKey(
  items: JSONSchemaProps,
  key: string,
  { path, errors, keys }: Place & { readonly keys: readonly string[] },
): void {
  const property = propertyOf(items, key);
  if (property === undefined)
    errors.invalid(path.child(MAP_KEYS), keys, "entries must all be names of item properties");
  else if (property.type === "array" || property.type === "object")
    errors.invalid(
      path.child("items", "properties").key(key).child("type"),
      items.type,
      `must be a scalar type if parent array's ${LIST_TYPE} is map`,
    );
}

function propertyOf({ properties = {} }: JSONSchemaProps, name: string): JSONSchemaProps | undefined {
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function checkItems(schema: JSONSchemaProps, listType: string, { path, errors }: Place): void {
  if (!isSchema(schema.items)) return;
  const { nullable, required = [] } = schema.items;
  if (nullable === true)
    errors.forbidden(path.child("items", "nullable"), `cannot be nullable when ${LIST_TYPE} is ${listType}`);
  if (listType !== "map") return;
  for (const key of schema[MAP_KEYS] ?? []) {
    const property = propertyOf(schema.items, key);
    if (property === undefined) continue;
    const at = path.child("items", "properties").key(key);
    const known = `this property is in ${MAP_KEYS}, so it`;
    if (!required.includes(key) && property.default === undefined)
      errors.required(at.child("default"), `${known} must have a default or be a required property`);
    if (property.nullable === true) errors.forbidden(at.child("nullable"), `${known} cannot be nullable`);
  }
}
