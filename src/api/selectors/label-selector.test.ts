import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FieldErrors, fieldErrorText, fieldPath } from "../errors/field-error.ts";
import type { LabelSelector as LabelSelectorObject } from "../generated/types/meta-v1.ts";
import { parseLabelSelector } from "./label-query.ts";
import {
  compileLabelSelector,
  cachedLabelSelector,
  labelSelectorText,
  labelsMatch,
  requiredLabelValue,
  validateLabelSelector,
} from "./label-selector.ts";

const NAME_PART =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

function matches(query: string, labels: Record<string, string>): boolean {
  return labelsMatch(parseLabelSelector(query), labels);
}

describe("label queries", () => {
  test.each<[string, Record<string, string>, boolean]>([
    ["", {}, true],
    ["  ", { a: "b" }, true],
    ["a=b", { a: "b" }, true],
    ["a=b", { a: "c" }, false],
    ["a=b", {}, false],
    ["a==b", { a: "b" }, true],
    ["a!=b", { a: "b" }, false],
    ["a!=b", {}, true],
    ["a!=b", { a: "c" }, true],
    ["a=", { a: "" }, true],
    ["a=,b", { a: "", b: "x" }, true],
    ["a in (b, c)", { a: "c" }, true],
    ["a in (b,c)", { a: "d" }, false],
    ["a in (b,)", { a: "" }, true],
    ["a in ()", { a: "" }, true],
    ["a in (,)", { a: "x" }, false],
    ["a in (in,notin)", { a: "in" }, true],
    ["a notin (b)", {}, true],
    ["a notin (b)", { a: "b" }, false],
    ["a", { a: "" }, true],
    ["a", {}, false],
    ["!a", {}, true],
    ["! a", { a: "x" }, false],
    ["in", { in: "x" }, true],
    ["a>1", { a: "2" }, true],
    ["a>1", { a: "1" }, false],
    ["a>9007199254740992", { a: "9007199254740993" }, true],
    ["a<1", { a: "-1" }, true],
    ["a<1", { a: "0" }, true],
    ["a<1", { a: "x" }, false],
    ["a>1", {}, false],
    ["a=b,c=d", { a: "b", c: "d" }, true],
    ["a=b,c=d", { a: "b" }, false],
    ["kubernetes.io/name in (x),!y", { "kubernetes.io/name": "x" }, true],
  ])("%s on %j is %s", (query, labels, expected) => {
    expect(matches(query, labels)).toBe(expected);
  });

  test("inherited names are not labels", () => {
    for (const key of ["constructor", "toString", "hasOwnProperty", "valueOf"]) {
      expect(matches(key, {})).toBe(false);
      expect(matches(`!${key}`, {})).toBe(true);
      expect(matches(`${key}!=x`, {})).toBe(true);
      expect(matches(key, { [key]: "x" })).toBe(true);
    }
  });

  test.each([
    ["a=b c", "found 'c', expected: ',' or 'end of string'"],
    ["a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ["a,", "found '', expected: identifier after ','"],
    [",a", "found ',', expected: !, identifier, or 'end of string'"],
    ["=b", "found '=', expected: !, identifier, or 'end of string'"],
    ["!", "unable to parse requirement: found '', expected: identifier"],
    ["!a=b", "found '=', expected: ',' or 'end of string'"],
    ["a=(b)", "unable to parse requirement: found '(', expected: identifier"],
    ["a in b", "unable to parse requirement: found 'b' expected: '('"],
    ["a in (b", "unable to parse requirement: found '', expected: ',' or ')'"],
    ["a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ["a in (=b)", "unable to parse requirement: found '=', expected: ',', ')' or identifier"],
    ["a in (b,", "unable to parse requirement: found '', expected: ',', or identifier"],
    ["-a=b", `unable to parse requirement: <nil>: Invalid value: "-a": ${NAME_PART}`],
    [
      "a>x",
      `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`,
    ],
  ])("%s is refused", (query, message) => {
    expect(() => parseLabelSelector(query)).toThrow(new SyntaxError(message));
  });

  test("an invalid value is reported with its position", () => {
    expect(() => parseLabelSelector("a=-b")).toThrow(
      /^unable to parse requirement: values\[0\]\[a\]: Invalid value: "-b": a valid label must be/,
    );
  });

  test("the text of a selector parses to the same selector", () => {
    const key = fc.stringMatching(/^[a-z]{1,3}$/);
    const term = fc.oneof(
      fc.tuple(key, fc.constantFrom("=", "==", "!="), key).map((parts) => parts.join("")),
      fc
        .tuple(key, fc.constantFrom("in", "notin"), fc.array(key, { minLength: 1 }))
        .map(([name, operator, values]) => `${name} ${operator} (${values.join(",")})`),
      fc.tuple(fc.constantFrom("", "!"), key).map((parts) => parts.join("")),
      fc.tuple(key, fc.constantFrom(">", "<"), fc.integer({ min: 0 })).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(fc.array(term), fc.dictionary(key, key), (terms, labels) => {
        const selector = parseLabelSelector(terms.join(","));
        const again = parseLabelSelector(labelSelectorText(selector));

        expect(again).toEqual(selector);
        expect(labelsMatch(again, labels)).toBe(labelsMatch(selector, labels));
      }),
    );
  });

  test("any text is either parsed or refused with a SyntaxError", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[ab=!(),<> in]{0,12}$/), (query) => {
        try {
          parseLabelSelector(query);
        } catch (error) {
          expect(error).toBeInstanceOf(SyntaxError);
        }
      }),
    );
  });
});

describe("label selector objects", () => {
  const object: LabelSelectorObject = {
    matchLabels: { b: "1" },
    matchExpressions: [
      { key: "a", operator: "In", values: ["y", "x"] },
      { key: "c", operator: "DoesNotExist" },
    ],
  };

  test("compile to the same form as a query", () => {
    expect(labelSelectorText(compileLabelSelector(object))).toBe("a in (x,y),b=1,!c");
    expect(labelsMatch(compileLabelSelector(object), { a: "x", b: "1" })).toBe(true);
    expect(labelsMatch(compileLabelSelector({}), undefined)).toBe(true);
    expect(() => compileLabelSelector({ matchExpressions: [{ key: "a", operator: "in" }] })).toThrow(
      '"in" is not a valid label selector operator',
    );
  });

  test("requiredLabelValue returns the only allowed value", () => {
    const selector = parseLabelSelector("a=b,c in (d,e),f in (g)");

    expect(requiredLabelValue(selector, "a")).toBe("b");
    expect(requiredLabelValue(selector, "c")).toBeUndefined();
    expect(requiredLabelValue(selector, "f")).toBe("g");
    expect(requiredLabelValue(selector, "z")).toBeUndefined();
  });

  test("are validated as upstream does", () => {
    const errors = new FieldErrors();
    validateLabelSelector(
      {
        matchLabels: { "-": "ok" },
        matchExpressions: [
          { key: "a", operator: "In" },
          { key: "a", operator: "Exists", values: ["x"] },
          { key: "a", operator: "Equals" },
        ],
      },
      fieldPath("spec", "selector"),
      errors,
    );

    expect(errors.found.map(fieldErrorText)).toEqual([
      `spec.selector.matchLabels: Invalid value: "-": ${NAME_PART}`,
      "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      "spec.selector.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      'spec.selector.matchExpressions[2].operator: Invalid value: "Equals": not a valid selector operator',
    ]);
  });
});

describe("cachedLabelSelector", () => {
  test("compiles a selector once, also if callers wrap the same labels for each call", () => {
    const selector = { matchLabels: { a: "b" }, matchExpressions: [{ key: "c", operator: "Exists" }] };
    const matchLabels = { a: "b" };

    expect(cachedLabelSelector(selector)).toBe(cachedLabelSelector(selector));
    expect(cachedLabelSelector({ matchLabels })).toBe(cachedLabelSelector({ matchLabels }));
    expect(cachedLabelSelector(selector)).toEqual(compileLabelSelector(selector));
    expect(cachedLabelSelector({ ...selector, matchLabels })).toEqual(compileLabelSelector(selector));
  });
});

describe("a long selector", () => {
  const key = fc.constantFrom("a", "b", "c");
  const value = fc.constantFrom("", "1", "2", "30", "x");
  const requirement = fc.oneof(
    fc.tuple(key, fc.constantFrom("=", "==", "!="), value).map((parts) => parts.join("")),
    fc
      .tuple(key, fc.constantFrom("in", "notin"), fc.array(value, { minLength: 1 }))
      .map(([name, operator, values]) => `${name} ${operator} (${values.join(",")})`),
    fc
      .tuple(key, fc.constantFrom(">", "<"), fc.constantFrom("0", "1", "5", "40"))
      .map((parts) => parts.join("")),
    key,
    key.map((name) => `!${name}`),
  );

  test("matches the same labels as its requirements one by one", () => {
    const labels = fc.dictionary(key, value);
    const requirements = fc.array(requirement, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(requirements, labels, (queries, given) => {
        const long = Array.from({ length: 20 }, () => queries).flat();

        expect(matches(long.join(","), given)).toBe(queries.every((query) => matches(query, given)));
      }),
    );
  });

  test.each([
    ["on one key", Array.from({ length: 4500 }, (_, at) => `a!=b${String(at % 10)}`).join(",")],
    ["on many keys", Array.from({ length: 4500 }, (_, at) => `!a${String(at)}`).join(",")],
    ["with many values", `a notin (${Array.from({ length: 4500 }, (_, at) => `b${String(at)}`).join(",")})`],
  ])("the size of a selector %s does not slow down matching", (_name, query) => {
    const selector = parseLabelSelector(query);
    const start = process.cpuUsage();

    for (let at = 0; at < 100_000; at++) labelsMatch(selector, { a: "c" });

    expect(process.cpuUsage(start).user / 1000).toBeLessThan(1000);
  });
});
