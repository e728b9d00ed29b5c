import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JSONSchemaProps } from "../generated/types/apiextensions-v1.ts";
import { isJsonObject, type JsonObject } from "../json/json-object.ts";
import { normalizeValue } from "./custom-normal-form.ts";
import { withDefaults } from "./default-values.ts";
import { compileStructural } from "./structural.ts";

const NAMES = ["a", "b", "c", "constructor", "__proto__"];
const name = fc.constantFrom(...NAMES);

/** Schemas with every part that pruning and defaults use. */
const { schema } = fc.letrec<{ schema: JSONSchemaProps }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.record<JSONSchemaProps>({
      type: fc.constant("string"),
      nullable: fc.boolean(),
      default: fc.constant("x"),
    }),
    fc.record<JSONSchemaProps>({ type: fc.constant("integer") }),
    fc.record<JSONSchemaProps>({ type: fc.constant("array"), items: tie("schema") }),
    fc.record<JSONSchemaProps>({ type: fc.constant("object"), additionalProperties: tie("schema") }),
    fc.record<JSONSchemaProps>({
      type: fc.constant("object"),
      properties: fc.dictionary(name, tie("schema")),
      "x-kubernetes-preserve-unknown-fields": fc.boolean(),
    }),
  ),
}));

const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>("x", 1, null, true),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(name, tie("value"), { maxKeys: 4 }),
  ),
})).value;

/** A value read from JSON, in which every key is an own property. */
const read = value.map((made) => JSON.parse(JSON.stringify(made)) as unknown);

describe("structural schemas", () => {
  test("the normal form of a normal form is the value itself", () => {
    fc.assert(
      fc.property(schema, read, (given, sent) => {
        const structural = compileStructural(given);
        const normal = normalizeValue(structural, sent);

        expect(normalizeValue(structural, normal)).toBe(normal);
      }),
    );
  });

  test("defaulting is complete after one pass and does not modify the sent value", () => {
    fc.assert(
      fc.property(schema, read, (given, sent) => {
        const structural = compileStructural(given);
        const before = JSON.stringify(sent);
        const filled = withDefaults(structural, sent);

        expect(withDefaults(structural, filled)).toBe(filled);
        expect(JSON.stringify(sent)).toBe(before);
      }),
    );
  });

  test("pruning adds no field and changes no prototype", () => {
    fc.assert(
      fc.property(schema, read, (given, sent) => {
        const normal = normalizeValue(compileStructural(given), sent);

        expect(isPart(normal, sent)).toBe(true);
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
    );
  });
});

function isPart(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part))
    return (
      Array.isArray(whole) &&
      part.length === whole.length &&
      part.every((item, at) => isPart(item, whole[at]))
    );
  if (!isJsonObject(part)) return part === whole;
  if (!isJsonObject(whole)) return false;
  return Object.keys(part).every(
    (key) => Object.hasOwn(whole, key) && isPart(part[key], (whole as JsonObject)[key]),
  );
}
