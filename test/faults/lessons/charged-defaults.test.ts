/** A body is charged at least one unit per value that results from each item, including every default that a kind fills in. */
import { expect, test } from "vitest";
import { cloneJson } from "../../../src/api/json/json-clone.ts";
import { toNormalForm } from "../../../src/api/schema/normal-form.ts";
import { apiVersionOf } from "../../../src/api/schema/resource-facts.ts";
import { unitsOfEntry, unitsOfItem, unitsOfStruct } from "../../../src/api/work-budget.ts";
import { kinds } from "../../../src/resources/index.ts";
import type { ApiObject, Draft, KindRules } from "../../../src/resources/rules/kind-rules.ts";
import { type KindSample, kindSamples, listsAndMaps, placeText, withValue } from "./every-place.ts";

function rulesOf({ facts }: KindSample): KindRules | undefined {
  const apiVersion = apiVersionOf(facts);
  const found = kinds.find((kind) => kind.apiVersion === apiVersion && kind.kind === facts.kind);
  return found?.rules as KindRules | undefined;
}

function countValues(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce<number>((count, member) => count + countValues(member), 1);
}

/** Number of values of an object at validation. */
function valuesOf(object: unknown, { schema }: KindSample, rules: KindRules | undefined): number {
  const draft = cloneJson(toNormalForm(schema, object).value);
  rules?.defaults?.(draft as Draft<ApiObject>);
  return countValues(draft);
}

test("an empty item is charged for all that it becomes, in every list and map of every kind", () => {
  const seen = new Set<string>();
  const cheap: unknown[] = [];
  let count = 0;

  for (const sample of kindSamples()) {
    const rules = rulesOf(sample);
    for (const place of listsAndMaps({ steps: [], schema: sample.schema }, seen)) {
      const { schema, steps } = place;
      const inner = schema.type === "map" ? schema.values : schema.items;
      if (inner.type !== "struct") continue;
      const filled = (items: number): unknown => {
        const empty = Array.from({ length: items }, () => ({}));
        const entries = Object.fromEntries(empty.map((item, at) => [`a${String(at)}`, item]));
        return withValue(sample.object, steps, schema.type === "map" ? entries : empty);
      };
      const values = valuesOf(filled(4), sample, rules) - valuesOf(filled(3), sample, rules);
      const units =
        (schema.type === "map" ? unitsOfEntry(schema) : unitsOfItem(schema)) + unitsOfStruct(inner);
      if (values > units) cheap.push([sample.facts.kind, placeText(place), values, units]);
      count += 1;
    }
  }

  expect(cheap).toEqual([]);
  expect(count).toBeGreaterThan(150);
});
