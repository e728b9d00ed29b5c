/** Merges an `Object{…}` apply configuration into an object, as server-side apply would. */
import { findConfigMistakes } from "../../../api/apply/fields/check-config.ts";
import { merge } from "../../../api/apply/fields/merge.ts";
import type { Run } from "../../../api/cel/run.ts";
import { valueToJson } from "../../../api/cel/value-json.ts";
import { CelList, CelMap, type CelValue, PlainRecord } from "../../../api/cel/value.ts";
import { isJsonObject, type JsonObject } from "../../../api/json/json-object.ts";
import type { Schema, StructSchema } from "../../../api/schema/schema.ts";
import { OBJECT_TYPE } from "../../../resources/admission/policy-environment.ts";

/** The expression has a value that cannot be applied. The message is upstream's. */
export class MutationError extends Error {}

/** Throws a MutationError. */
export function applyConfiguration(
  value: CelValue,
  { object, schema }: { readonly object: JsonObject; readonly schema: StructSchema },
  run: Run,
): JsonObject {
  if (!(value instanceof PlainRecord))
    throw new MutationError("type mismatch: the expression makes no Object");
  checkTypeNames(value, run);
  const config = {
    ...(valueToJson(value, run) as JsonObject),
    apiVersion: object["apiVersion"],
    kind: object["kind"],
  };
  const mistakes = findConfigMistakes(config, schema);
  if (mistakes !== undefined)
    throw new MutationError(
      `error applying patch: failed to convert patch object to typed object: ${mistakes}`,
    );
  const atomics = findAtomics(config, schema, "");
  if (atomics.length > 0)
    throw new MutationError(
      `error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(", ")}`,
    );
  return merge(object, config, schema) as JsonObject;
}

/** Types are named after their field path: the value of the field `spec` of `Object` must be an `Object.spec`. */
export function checkTypeNames(record: PlainRecord, run: Run): void {
  for (const field of record.fields())
    checkNested(record.find(field) ?? null, `${record.typeName}.${field}`, run);
}

function checkNested(value: CelValue, expected: string, run: Run): void {
  run.charge(1);
  if (value instanceof PlainRecord && isPart(value.typeName)) {
    if (value.typeName !== expected)
      throw new MutationError(
        `type mismatch: unexpected type name ${JSON.stringify(value.typeName)}, expected ${JSON.stringify(expected)}, which matches field name path from root Object type`,
      );
    checkTypeNames(value, run);
  } else if (value instanceof CelList) {
    for (let at = 0; at < value.size; at++) checkNested(value.at(at), expected, run);
  } else if (value instanceof CelMap) {
    for (const key of value.keys()) checkNested(value.find(key) ?? null, expected, run);
  }
}

function isPart(typeName: string): boolean {
  return typeName === OBJECT_TYPE || typeName.startsWith(`${OBJECT_TYPE}.`);
}

/** Paths of atomic values, which would be replaced as a whole although the author may expect a merge. */
function findAtomics(value: unknown, schema: Schema, path: string): readonly string[] {
  if (isJsonObject(value) && schema.type === "struct") {
    const below = Object.keys(value).flatMap((key) => {
      const field = schema.byName.get(key);
      return field === undefined ? [] : findAtomics(value[key], field.schema, `${path}.${key}`);
    });
    return schema.atomic ? [path, ...below] : below;
  }
  if (isJsonObject(value) && schema.type === "map") return schema.atomic ? [path] : [];
  if (!Array.isArray(value) || schema.type !== "list") return [];
  const below = value.flatMap((item, at) => findAtomics(item, schema.items, `${path}[${at}]`));
  return schema.listType === "atomic" ? [path, ...below] : below;
}
