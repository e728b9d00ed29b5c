import { describe, expect, test } from "vitest";
import { FieldErrors, fieldErrorText, fieldPath } from "../errors/field-error.ts";
import type { JSONSchemaProps } from "../generated/types/apiextensions-v1.ts";
import { checkExpressionDefinitions } from "./expression-definition-check.ts";
import { compileStructural } from "./structural.ts";

function problems(property: JSONSchemaProps, ...rules: readonly string[]): readonly string[] {
  const validations = rules.map((rule) => ({ rule }));
  const value = { ...property, "x-kubernetes-validations": validations } as JSONSchemaProps;
  const schema = compileStructural({ type: "object", properties: { value } });
  const errors = new FieldErrors();
  checkExpressionDefinitions(schema, fieldPath("s"), errors);
  return errors.found.map(fieldErrorText);
}

const PLACE = "s.properties[value].x-kubernetes-validations[0].rule: Forbidden: ";
const ADVICE =
  "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)";
const STRINGS: JSONSchemaProps = { type: "array", items: { type: "string" } };

describe("the estimated cost of a rule", () => {
  test.each<[JSONSchemaProps, string]>([
    [{ type: "string" }, "self == 'a' || self.startsWith('b') || self.size() < 3"],
    [{ type: "string", maxLength: 63 }, "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')"],
    [{ type: "integer" }, "self % 2 == 0"],
    [STRINGS, "self.all(x, x != '')"],
    [
      { type: "array", maxItems: 100, items: { type: "string", maxLength: 50 } },
      "self.all(x, self.exists_one(y, x == y))",
    ],
    [
      { type: "object", maxProperties: 20, additionalProperties: { type: "string", maxLength: 10 } },
      "self.all(k, self[k].matches('^a+$'))",
    ],
    [
      { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } } },
      "has(self.a) ? self.a < self.b : true",
    ],
  ])("is within bounds: %j %s", (property, rule) => {
    expect(problems(property, rule)).toEqual([]);
  });

  test("is too high for a list in a list without a bound", () => {
    expect(problems(STRINGS, "self.all(x, self.exists_one(y, x == y))")).toEqual([
      `${PLACE}estimated rule cost exceeds budget by factor of more than 100x ${ADVICE}`,
      `${PLACE}contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
      `s: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x ${ADVICE}`,
    ]);
  });

  test("is reported with the factor by which it is too high", () => {
    const numbers: JSONSchemaProps = { type: "array", maxItems: 1400, items: { type: "integer" } };

    expect(problems(numbers, "self.all(x, self.all(y, x < y))")).toEqual([
      `${PLACE}estimated rule cost exceeds budget by factor of 1.176700x ${ADVICE}`,
    ]);
  });

  test("counts once for every item of the lists around the rule", () => {
    const rule = { rule: "self.contains('abc')" };
    const item = { type: "string", maxLength: 10_000, "x-kubernetes-validations": [rule] } as JSONSchemaProps;
    const bounded: JSONSchemaProps = { type: "array", maxItems: 100, items: item };

    expect(problems(bounded)).toEqual([]);
    expect(problems({ type: "array", items: item })[0]).toContain(
      "s.properties[value].items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget",
    );
  });

  test("is shown with one decimal, rounded half to even", () => {
    const items = { type: "boolean", "x-kubernetes-validations": [{ rule: "self" }] } as JSONSchemaProps;

    const bounds = [22_500_000, 27_500_000].map(
      (maxItems) => problems({ type: "array", maxItems, items })[0],
    );

    expect(bounds[0]).toContain("by factor of 2.2x ");
    expect(bounds[1]).toContain("by factor of 2.8x ");
  });

  test("is listed among the most expensive ones from a hundredth of the limit", () => {
    const items: JSONSchemaProps = { type: "integer" };
    const dear = "self.all(x, self.all(y, x < y))";
    const found = problems({ type: "array", maxItems: 4200, items }, dear, "self.size() > 0");

    expect(found.filter((problem) => problem.includes("contributed to"))).toEqual([
      `${PLACE}contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
    ]);
  });

  test("uses the bounds of an object's standard fields where the schema describes them all", () => {
    const text = (maxLength: number): JSONSchemaProps => ({ type: "string", maxLength });
    const rule = { rule: "self.metadata.name.matches(self.metadata.generateName)" };
    const costOf = (metadata: JSONSchemaProps): string => {
      const properties = { apiVersion: text(9), kind: text(9), metadata };
      const schema = { type: "object", properties, "x-kubernetes-validations": [rule] } as JSONSchemaProps;
      const errors = new FieldErrors();
      checkExpressionDefinitions(compileStructural(schema), fieldPath("s"), errors);
      return errors.found.map(fieldErrorText).join();
    };

    expect(costOf({ type: "object", properties: { name: text(9), generateName: text(9) } })).toBe("");
    expect(costOf({ type: "object", properties: { name: text(9) } })).toContain("more than 100x");
  });
});
