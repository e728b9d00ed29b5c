import { describe, expect, test } from "vitest";
import { Effort } from "../../../api/cel/allowance.ts";
import { jsonToValue } from "../../../api/cel/cel-json-value.ts";
import { DYN } from "../../../api/cel/type.ts";
import { EXPRESSION_RESULTS } from "../../../resources/admission/policy-environment.ts";
import { compileCommons, type PolicyExpression } from "./compiled-policy.ts";
import { Evaluation, ExpressionError, SpentError } from "./evaluation.ts";
import type { PolicyObject } from "./policy-index.ts";

interface Trial {
  readonly evaluation: Evaluation;
  readonly compile: (source: string) => PolicyExpression;
}

function trial(spec: PolicyObject["spec"], object: unknown = {}): Trial {
  const policy = { apiVersion: "", kind: "", metadata: { name: "p" }, spec };
  const { compile, ...commons } = compileCommons(policy, false);
  const bindings = { object: jsonToValue(DYN, object) };
  const evaluation = new Evaluation({
    commons,
    bindings,
    params: undefined,
    effort: new Effort(),
    kind: "Pod",
  });
  return { evaluation, compile: (source) => compile(source, EXPRESSION_RESULTS.condition) };
}

const LONG = { list: Array.from({ length: 500 }, (_, at) => at) };
/** Takes at least 250,000 steps. */
const SLOW = "object.list.all(a, object.list.all(b, a + b >= 0))";

describe("conditions of a policy", () => {
  const failing = { name: "fails", expression: "object.none == 1" };

  test("hold if all of them are true", () => {
    const conditions = ["has(object.a)", "object.a == 1"].map((expression) => ({ name: "c", expression }));

    expect(trial({ matchConditions: conditions }, { a: 1 }).evaluation.isSelected()).toBe(true);
    expect(trial({ matchConditions: conditions }, { a: 2 }).evaluation.isSelected()).toBe(false);
  });

  test("that are false decide, even if others fail", () => {
    const untrue = { name: "untrue", expression: "false" };

    expect(trial({ matchConditions: [failing, untrue] }).evaluation.isSelected()).toBe(false);
    expect(() => trial({ matchConditions: [failing] }).evaluation.isSelected()).toThrow(
      "expression 'object.none == 1' resulted in error: no such key: none",
    );
  });
});

describe("variables of a policy", () => {
  test("are evaluated once, and may use earlier variables", () => {
    const variables = [
      { name: "all", expression: SLOW },
      { name: "none", expression: "!variables.all" },
    ];
    const { evaluation, compile } = trial({ variables }, { list: LONG.list.slice(0, 200) });
    const expression = compile("variables.all && !variables.none");

    for (let again = 0; again < 20; again++) expect(evaluation.evaluate(expression)).toBe(true);
  });

  test("that do not compile fail only the expressions that use them", () => {
    const variables = [{ name: "broken", expression: "object." }];
    const { evaluation, compile } = trial({ variables });

    expect(evaluation.evaluate(compile("true"))).toBe(true);
    expect(() => evaluation.evaluate(compile("variables.broken"))).toThrow("undefined field 'broken'");
  });
});

describe("the evaluation budget of a request", () => {
  test("stops an expensive expression and all following ones", () => {
    const { evaluation, compile } = trial({}, LONG);
    const run = (source: string): unknown => evaluation.evaluate(compile(source));

    expect(() => run(`${SLOW} && ${SLOW} && ${SLOW}`)).toThrow(SpentError);
    expect(() => run(SLOW)).toThrow(SpentError);
  });

  test("includes the cost of variables, whichever expression uses them", () => {
    const variables = [
      { name: "a", expression: SLOW },
      { name: "b", expression: `variables.a && ${SLOW}` },
    ];
    const { evaluation, compile } = trial({ variables }, LONG);

    expect(() => evaluation.evaluate(compile(`variables.b && ${SLOW}`))).toThrow(ExpressionError);
  });
});
