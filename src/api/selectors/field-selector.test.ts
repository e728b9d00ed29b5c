import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  checkSelectedFields,
  fieldsMatch,
  fieldSelectorText,
  parseFieldSelector,
  requiredFieldValue,
} from "./field-selector.ts";

const SUPPORTED = new Set(["metadata.name", "metadata.namespace", "status.phase", "spec.nodeName"]);

function matches(query: string, fields: Record<string, string>): boolean {
  const selector = parseFieldSelector(query);
  return fieldsMatch(selector, (field) => (Object.hasOwn(fields, field) ? (fields[field] ?? "") : ""));
}

describe("field selectors", () => {
  test.each<[string, Record<string, string>, boolean]>([
    ["", {}, true],
    ["metadata.name=a", { "metadata.name": "a" }, true],
    ["metadata.name==a", { "metadata.name": "b" }, false],
    ["status.phase!=Running", { "status.phase": "Running" }, false],
    ["status.phase!=Running", {}, true],
    ["spec.nodeName=", {}, true],
    ["metadata.name=a,status.phase=x", { "metadata.name": "a", "status.phase": "x" }, true],
    ["metadata.name=a,status.phase=x", { "metadata.name": "a" }, false],
    ["metadata.name=a\\,b\\=c\\\\d", { "metadata.name": "a,b=c\\d" }, true],
    [",metadata.name=a,", { "metadata.name": "a" }, true],
  ])("%s on %j is %s", (query, fields, expected) => {
    expect(matches(query, fields)).toBe(expected);
  });

  test.each([
    ["spec.foo=1", "field label not supported: spec.foo"],
    ["constructor=1", "field label not supported: constructor"],
    ["metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
    ["metadata.name=a=b", "invalid field selector: unescaped character in value: 61"],
    ["metadata.name=a\\x", "invalid field selector: invalid escape sequence: \\x"],
    ["metadata.name=a\\", "invalid field selector: invalid escape sequence: \\"],
  ])("%s is refused", (query, message) => {
    expect(() =>
      checkSelectedFields(parseFieldSelector(query), { names: SUPPORTED, isCustomKind: false }),
    ).toThrow(new SyntaxError(message));
  });

  test("the error for a kind without own fields lists the supported ones", () => {
    const supported = { names: new Set(["metadata.name", "metadata.namespace"]), isCustomKind: false };
    expect(() => checkSelectedFields(parseFieldSelector("x=1"), supported)).toThrow(
      '"x" is not a known field selector: only "metadata.name", "metadata.namespace"',
    );
  });

  test("the text of a selector parses to the same selector, whatever the values are", () => {
    const term = fc.record({
      field: fc.constantFrom(...SUPPORTED),
      operator: fc.constantFrom("=" as const, "!=" as const),
      value: fc.string(),
    });
    fc.assert(
      fc.property(fc.array(term), (terms) => {
        expect(parseFieldSelector(fieldSelectorText({ terms }))).toEqual({ terms });
      }),
    );
  });

  test("requiredFieldValue returns the required value", () => {
    const selector = parseFieldSelector("metadata.name!=a,spec.nodeName=n");

    expect(requiredFieldValue(selector, "spec.nodeName")).toBe("n");
    expect(requiredFieldValue(selector, "metadata.name")).toBeUndefined();
  });
});

describe("a long selector", () => {
  const term = fc
    .tuple(fc.constantFrom("a", "b"), fc.constantFrom("=", "!="), fc.constantFrom("", "x", "y"))
    .map((parts) => parts.join(""));

  test("matches the same objects as its terms one by one", () => {
    const fields = fc.dictionary(fc.constantFrom("a", "b"), fc.constantFrom("", "x", "y"));
    fc.assert(
      fc.property(fc.array(term, { minLength: 1, maxLength: 4 }), fields, (queries, given) => {
        const long = Array.from({ length: 20 }, () => queries).flat();

        expect(matches(long.join(","), given)).toBe(queries.every((query) => matches(query, given)));
      }),
    );
  });

  test("reads each field of an object once", () => {
    const selector = parseFieldSelector(Array.from({ length: 1000 }, () => "a!=x").join(","));
    const looks: string[] = [];

    const isMatch = fieldsMatch(selector, (field) => {
      looks.push(field);
      return "y";
    });

    expect([isMatch, looks]).toEqual([true, ["a"]]);
  });
});
