/**
 * Applies strategic merge patches, which depend on the schema of the kind. Lists merge by key where the schema says so.
 * Directives in the patch delete, replace, keep or order. Clients compute the patches; this file only applies them.
 *
 * Inputs are not changed; the result shares unchanged parts with them.
 */
import { badRequest } from "../errors/api-error.ts";
import { isJsonObject, type JsonObject, setOwn } from "../json/json-object.ts";
import { stringifyJson } from "../json/json-text.ts";
import type { Schema, StructSchema } from "../schema/schema.ts";
import { goJsonWord, goTypeName } from "./go-text.ts";
import { withoutNulls } from "./merge-patch.ts";
import {
  DELETE_FROM_LIST,
  DIRECTIVE,
  type ListPatchRule,
  type MergeMaps,
  mergeLists,
  orderedList,
  RETAIN_KEYS,
  SET_ORDER,
  unknownDirective,
  withoutDirectives,
} from "./strategic-list.ts";

export function applyStrategicMergePatch(
  document: JsonObject,
  patch: unknown,
  schema: StructSchema,
): JsonObject {
  if (!isJsonObject(patch)) {
    const word = goJsonWord(patch);
    throw badRequest(`json: cannot unmarshal ${word} into Go value of type map[string]interface {}`);
  }
  return mergeMaps(document, patch, schema);
}

/** The schema's rule for a field: how its lists merge, and the schema below it. */
interface PatchRule extends ListPatchRule {
  readonly schema: Schema | undefined;
  readonly replaces: boolean;
}

const mergeMaps: MergeMaps = (original, patch, schema) => {
  if (Object.hasOwn(patch, DIRECTIVE)) return directed(patch);
  const merged: Record<string, unknown> = { ...original };
  const rest: Record<string, unknown> = { ...patch };
  retainKeys(merged, rest);
  for (const key of Object.keys(rest)) {
    if (key.startsWith(SET_ORDER)) orderList(merged, rest, { key, schema });
  }
  for (const key of Object.keys(rest)) {
    if (key.startsWith(DELETE_FROM_LIST)) deleteFromList(merged, rest, key);
  }
  for (const key of Object.keys(rest)) mergeField(merged, key, { value: rest[key], schema });
  return merged;
};

/** `$patch: replace` returns the rest of the patch; `$patch: delete` returns an empty map. */
function directed(patch: JsonObject): JsonObject {
  const directive = patch[DIRECTIVE];
  if (directive === "delete") return {};
  if (directive === "replace") {
    const { [DIRECTIVE]: _, ...rest } = patch;
    return rest;
  }
  throw unknownDirective();
}

function mergeField(
  merged: Record<string, unknown>,
  key: string,
  { value, schema }: { readonly value: unknown; readonly schema: Schema | undefined },
): void {
  const current = Object.hasOwn(merged, key) ? merged[key] : undefined;
  if (value === null) {
    delete merged[key];
  } else if (isJsonObject(value) && isJsonObject(current)) {
    const rule = ruleOf(schema, key);
    setOwn(merged, key, rule.replaces ? value : mergeMaps(current, value, rule.schema));
  } else if (Array.isArray(value) && Array.isArray(current)) {
    const rule = ruleOf(schema, key);
    setOwn(merged, key, rule.merges ? mergeLists(current, value, { ...rule, mergeMaps }) : value);
  } else {
    setTaken(merged, key, value);
  }
}

/** Sets the patch's value where the document has no value to merge with. Nulls and directives are removed. */
function setTaken(merged: Record<string, unknown>, key: string, value: unknown): void {
  const taken = withoutDirectives(withoutNulls(value));
  if (taken === undefined) delete merged[key];
  else setOwn(merged, key, taken);
}

/** `$retainKeys` lists all keys to keep; the patch may set no other key. */
function retainKeys(merged: Record<string, unknown>, rest: Record<string, unknown>): void {
  if (!Object.hasOwn(rest, RETAIN_KEYS)) return;
  const listed = rest[RETAIN_KEYS];
  if (!Array.isArray(listed)) throw badRequest("invalid patch format of retainKeys");
  delete rest[RETAIN_KEYS];
  const kept = new Set<unknown>(listed);
  for (const key of Object.keys(rest)) {
    if (rest[key] === null || key.startsWith(DELETE_FROM_LIST) || key.startsWith(SET_ORDER)) continue;
    if (!kept.has(key)) throw badRequest("invalid patch format of retainKeys");
  }
  for (const key of Object.keys(merged)) {
    if (!kept.has(key)) delete merged[key];
  }
}

interface ListDirective {
  readonly key: string;
  readonly schema: Schema | undefined;
}

/** Applies `$setElementOrder/f` and the patch of `f`, if any: merges, then orders. Removes both from the patch. */
function orderList(
  merged: Record<string, unknown>,
  rest: Record<string, unknown>,
  { key, schema }: ListDirective,
): void {
  const order = rest[key];
  const field = fieldOfDirective(key, SET_ORDER, "invalid patch format of setElementOrder list");
  if (!Array.isArray(order)) throw badRequest(badType("[]interface {}", order));
  const original = listMember(merged, field);
  const patch = listMember(rest, field);
  delete rest[key];
  if (original === undefined && patch === undefined) return;
  delete rest[field];
  const rule = ruleOf(schema, field);
  setOwn(merged, field, orderedList({ original, patch, order }, { ...rule, mergeMaps }));
}

/** `$deleteFromPrimitiveList/f` removes the scalars in its list. Removes itself from the patch. */
function deleteFromList(merged: Record<string, unknown>, rest: Record<string, unknown>, key: string): void {
  const removed = rest[key];
  const field = fieldOfDirective(key, DELETE_FROM_LIST, "invalid patch format of primitive list");
  delete rest[key];
  const current = Object.hasOwn(merged, field) ? merged[field] : undefined;
  if (removed === null) delete merged[field];
  if (!Array.isArray(removed) || !Array.isArray(current)) return;
  const unwanted = new Set(removed.map(stringifyJson));
  setOwn(
    merged,
    field,
    current.filter((item: unknown) => !unwanted.has(stringifyJson(item))),
  );
}

function fieldOfDirective(key: string, prefix: string, failure: string): string {
  if (!key.startsWith(`${prefix}/`)) throw badRequest(failure);
  return key.slice(prefix.length + 1);
}

function listMember(holder: JsonObject, key: string): readonly unknown[] | undefined {
  if (!Object.hasOwn(holder, key)) return undefined;
  const value = holder[key];
  if (!Array.isArray(value)) throw badRequest(badType("[]interface {}", value));
  return value as readonly unknown[];
}

function badType(expected: string, actual: unknown): string {
  return `expected a ${expected}, but received a ${goTypeName(actual)}`;
}

/** Inside raw JSON there is no schema: maps merge, lists are replaced. */
function ruleOf(schema: Schema | undefined, key: string): PatchRule {
  const struct = schema?.type === "either" ? schema.struct : schema;
  if (struct?.type !== "struct") {
    const values = struct?.type === "map" ? struct.values : undefined;
    return { schema: values, items: itemsOf(values), merges: false, replaces: false, mergeKey: "" };
  }
  const field = struct.byName.get(key);
  if (field === undefined) {
    if (struct.keepsUnknown)
      return { schema: undefined, items: undefined, merges: false, replaces: false, mergeKey: "" };
    throw badRequest(`unable to find api field in struct ${struct.name} for the json field "${key}"`);
  }
  return {
    schema: field.schema,
    items: itemsOf(field.schema),
    merges: field.patchStrategies.includes("merge"),
    replaces: field.patchStrategies.includes("replace"),
    mergeKey: field.mergeKey ?? "",
  };
}

function itemsOf(schema: Schema | undefined): Schema | undefined {
  return schema?.type === "list" ? schema.items : undefined;
}
