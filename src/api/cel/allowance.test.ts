import { describe, expect, test } from "vitest";
import { Allowance, COST_MAX, Effort } from "./allowance.ts";
import { CelBudgetError, CelEvaluationError } from "./cel-error.ts";
import { jsonToValue } from "./cel-json-value.ts";
import { LazyRecord } from "./lazy-record.ts";
import { AUTHORIZER_TYPE, authorizerValue } from "./library/authorizer-library.ts";
import { compileCel } from "./program.ts";
import { Run } from "./run.ts";
import { DYN, INT, listOf, namedType, objectType } from "./type.ts";
import { valueToJson } from "./value-json.ts";
import type { CelValue } from "./value.ts";

const LIST = jsonToValue(
  listOf(INT),
  Array.from({ length: 600 }, (_, at) => at),
);
const slow = compileCel("list.all(a, list.all(b, a + b >= 0))", {
  variables: new Map([["list", listOf(INT)]]),
});

describe("an allowance", () => {
  test("is shared by all evaluations", () => {
    const effort = new Effort();
    const [one, other] = [new Allowance(COST_MAX, effort), new Allowance(COST_MAX, effort)];

    expect(() => one.evaluate(slow, { list: LIST })).toThrow(CelBudgetError);

    expect(other.isSpent).toBe(true);
    expect(() => other.evaluate(compileCel("true", { variables: new Map() }), {})).toThrow(CelBudgetError);
  });

  test("counts authorization checks as Kubernetes does, but not as effort", () => {
    const variables = new Map([["authorizer", namedType(AUTHORIZER_TYPE)]]);
    const check = "authorizer.path('/healthz').check('get').allowed()";
    const decider = { decide: () => ({ isAllowed: true, reason: "" }) };
    const bindings = { authorizer: authorizerValue(decider) };
    const run = (source: string, allowance: Allowance): unknown =>
      allowance.evaluate(compileCel(source, { variables }), bindings);
    const allowance = new Allowance(COST_MAX, new Effort());

    for (let asked = 0; asked < 10; asked++) expect(run(`${check} && ${check}`, allowance)).toBe(true);

    expect(() => run(`${check} && ${check} && ${check}`, allowance)).toThrow(CelBudgetError);
    expect(allowance.isSpent).toBe(false);
  });

  test("counts nested evaluations and stops them", () => {
    const allowance = new Allowance(COST_MAX, new Effort());
    const bindings: Record<string, CelValue> = { list: LIST };
    const nested = compileCel("variables.slow && list.all(a, true)", {
      variables: new Map([
        ["list", listOf(INT)],
        ["variables", objectType("v", { find: () => ({ type: DYN, jsonName: "slow" }), names: [] })],
      ]),
    });
    const makers = new Map([["slow", () => allowance.evaluate(slow, bindings)]]);
    bindings["variables"] = new LazyRecord("v", makers);

    expect(() => allowance.evaluate(nested, bindings)).toThrow(CelBudgetError);
  });
});

test("a lazy record computes a field once, even if it fails", () => {
  let count = 0;
  const makers = new Map<string, () => CelValue>([
    [
      "bad",
      () => {
        count += 1;
        throw new CelEvaluationError("no");
      },
    ],
  ]);
  const record = new LazyRecord("v", makers);

  expect(() => record.find("bad")).toThrow('composited variable "bad" fails to evaluate: no');
  expect(() => record.find("bad")).toThrow(CelEvaluationError);
  expect(count).toBe(1);
  expect(record.find("other")).toBeUndefined();
});

describe("a value as JSON", () => {
  test.each([
    ["{'a': [1, 2], 'b': []}", { a: [1, 2], b: [] }],
    ["[dyn(1.5), dyn('x'), dyn(null), dyn(true), dyn(2u)]", [1.5, "x", null, true, 2]],
    ["9007199254740993", 9_007_199_254_740_993n],
    ["timestamp('2026-01-02T03:04:05.5Z')", "2026-01-02T03:04:05.5Z"],
    ["duration('90m')", "1h30m0s"],
    ["b'hi'", "aGk="],
    ["[optional.of(1), optional.none()]", [1, null]],
  ])("%s", (source, json) => {
    const value = compileCel(source, { variables: new Map() }).evaluate({}, { budget: 1000 });

    expect(valueToJson(value, new Run(1000))).toEqual(json);
  });

  test("costs effort by its size in JSON", () => {
    const value = compileCel("[list, list, list]", { variables: new Map([["list", DYN]]) }).evaluate(
      { list: LIST },
      { budget: 1000 },
    );

    expect(() => valueToJson(value, new Run(1000))).toThrow(CelBudgetError);
  });
});
