/** Fills in the defaults of a structural schema. */
import { cloneJson } from "../json/json-clone.ts";
import { isJsonObject, type JsonObject, setOwn } from "../json/json-object.ts";
import type { WorkBudget } from "../work-budget.ts";
import type { Structural } from "./structural.ts";

/**
 * The value with defaults in place of missing fields and of nulls where the schema allows none. The input is not modified,
 * and is itself the result when no default applies.
 */
export function withDefaults(schema: Structural, value: unknown, budget?: WorkBudget): unknown {
  if (!schema.hasDefaults) return value;
  if (Array.isArray(value)) return listWithDefaults(schema, value, budget);
  return isJsonObject(value) ? objectWithDefaults(schema, value, budget) : value;
}

/**
 * A copy of a default, counted against the budget: copies for each item of a long list can outgrow any object.
 */
function copyOf(fallback: unknown, budget: WorkBudget | undefined): unknown {
  budget?.charge(countValues(fallback));
  return cloneJson(fallback);
}

const counts = new WeakMap<object, number>();

function countValues(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  const known = counts.get(value);
  if (known !== undefined) return known;
  let count = 1;
  for (const member of Object.values(value)) count += countValues(member);
  counts.set(value, count);
  return count;
}

function objectWithDefaults(
  schema: Structural,
  value: JsonObject,
  budget: WorkBudget | undefined,
): JsonObject {
  const filled = withMembers(schema, value, budget);
  let changed: Record<string, unknown> | undefined;
  for (const key of Object.keys(filled)) {
    const inner = schema.properties.get(key) ?? schema.additional;
    const after = typeof inner === "object" ? withDefaults(inner, filled[key], budget) : filled[key];
    if (after !== filled[key]) setOwn((changed ??= { ...filled }), key, after);
  }
  return changed ?? filled;
}

/** The object with its missing properties filled in; nested values stay as they are. */
function withMembers(
  { properties }: Structural,
  value: JsonObject,
  budget: WorkBudget | undefined,
): JsonObject {
  let changed: Record<string, unknown> | undefined;
  for (const [name, { fallback, isNullable }] of properties) {
    if (fallback === undefined) continue;
    const isMissing = !Object.hasOwn(value, name) || (value[name] === null && !isNullable);
    if (isMissing) setOwn((changed ??= { ...value }), name, copyOf(fallback, budget));
  }
  return changed ?? value;
}

function listWithDefaults(
  schema: Structural,
  value: readonly unknown[],
  budget: WorkBudget | undefined,
): readonly unknown[] {
  const { items } = schema;
  if (items === undefined) return value;
  let changed: unknown[] | undefined;
  for (const [at, item] of value.entries()) {
    const isReplaced = item === null && !items.isNullable && items.fallback !== undefined;
    const after = withDefaults(items, isReplaced ? copyOf(items.fallback, budget) : item, budget);
    if (after !== item) (changed ??= [...value])[at] = after;
  }
  return changed ?? value;
}
