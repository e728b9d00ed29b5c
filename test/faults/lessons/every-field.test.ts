/**
 * Names that every JavaScript object inherits, as the value of every field and as a key of every map of every kind, never cause an internal
 * error.
 */
import { expect, test } from "vitest";
import type { Schema } from "../../../src/api/schema/schema.ts";
import { TestApi } from "../../api-harness.ts";
import { collectionOf, kindSamples, type Place, withValue } from "./every-place.ts";

/** Every scalar and map within; fields of the same struct once, wherever it is used. */
function* places({ steps, schema }: Place, seen: Set<string>): Generator<Place> {
  if (schema.type === "list") yield* places({ steps: [...steps, "first"], schema: schema.items }, seen);
  else if (schema.type === "map") {
    yield { steps, schema };
    yield* places({ steps: [...steps, { key: "constructor" }], schema: schema.values }, seen);
  } else if (schema.type === "struct") {
    for (const { name, schema: inner } of schema.fields) {
      const id = `${schema.definition}.${name}`;
      if (seen.has(id)) continue;
      seen.add(id);
      yield* places({ steps: [...steps, { field: name }], schema: inner }, seen);
    }
  } else yield { steps, schema };
}

/** Only parsed JSON has `__proto__` as an own key: `{"__proto__": "x"}`. */
function valuesFor({ type }: Schema): readonly unknown[] {
  if (type === "string" || type === "quantity" || type === "intOrString") return ["constructor"];
  return type === "map" ? [JSON.parse('{"__proto__":"constructor"}') as unknown] : [];
}

test("a name of the prototype is a value and a key like others, everywhere", async () => {
  await using api = await TestApi.start();
  const cidr = { metadata: { name: "kubernetes" }, spec: { cidrs: ["10.96.0.0/12"] } };
  await api.send("POST", "/apis/networking.k8s.io/v1/servicecidrs", cidr);
  const seen = new Set<string>();
  let count = 0;

  for (const { facts, schema, object } of kindSamples()) {
    for (const place of places({ steps: [], schema }, seen)) {
      for (const value of valuesFor(place.schema)) {
        const body = withValue(object, place.steps, value);
        const { code } = await api.send("POST", `${collectionOf(facts)}?dryRun=All`, body);
        expect([facts.kind, place.steps, code < 500]).toEqual([facts.kind, place.steps, true]);
        count += 1;
      }
    }
  }

  expect(count).toBeGreaterThan(700);
  expect(Object.keys(Object.prototype)).toEqual([]);
});
