import { describe, expect, test } from "vitest";
import { CelBudgetError } from "./cel-error.ts";
import { jsonToValue } from "./cel-json-value.ts";
import { compileCel } from "./program.ts";
import { Run } from "./run.ts";
import { INT, listOf, STRING } from "./type.ts";

const NUMBERS = listOf(INT);
const VARIABLES = new Map([
  ["text", STRING],
  ["list", NUMBERS],
]);
const BINDINGS = {
  text: "x".repeat(100),
  list: jsonToValue(
    NUMBERS,
    Array.from({ length: 30 }, (_, at) => at),
  ),
};

function counted(source: string, run = new Run(1_000_000)): Run {
  compileCel(source, { variables: VARIABLES }).runIn(run, BINDINGS);
  return run;
}

// Computed by hand from cel-go's tracker and the libraries of Kubernetes 1.36.
describe("the cost of an evaluation", () => {
  test.each([
    // A name costs 1, a traversal of the text 10, a comparison of scalars 1.
    ["text == text", 12],
    ["text.size() == 100", 3],
    ["text.lowerAscii() == text", 22],
    ["text.replace('x', 'yy') == 'y'", 22],
    ["text.split('').join('').size() == 100", 43],
    ["text.contains('x')", 11],
    ["text.matches('^x+$')", 12],
    ["text.startsWith('x')", 2],
    ["isURL('http://a') && isIP('1.2.3.4')", 2],
    ["quantity('1Gi') == quantity('1Gi')", 3],
    ["format.dns1123Label().validate('ab').hasValue()", 10],
    // All items of a list count, even if the first one matches.
    ["0 in list", 31],
    ["text in ['a', 'b']", 1],
    ["list == list", 5],
    ["list.sum() > 0", 32],
    ["list.indexOf(0) == 0", 32],
    ["sets.contains(list, [1, 2])", 62],
    ["list.sort().size() == 30", 1814],
    ["list.distinct().size() == 30", 1814],
    ["list.slice(0, 5).size() == 5", 19],
    // Macros cost as much as their expansions.
    ["list.all(a, a >= 0)", 152],
    ["list.exists(a, a < 0)", 182],
    ["list.exists_one(a, a == 5)", 94],
    ["list.filter(a, a < 10).size() == 10", 214],
    ["list.map(a, a).size() == 30", 394],
    ["[1, 2].all(a, a > 0)", 11],
    ["[text, 'a'].size() == 2", 13],
  ])("of %s is %d", (source, cost) => {
    expect(counted(source).cost).toBe(cost);
  });

  test("differs from effort: a step of low cost may take too much effort", () => {
    const run = new Run(1000, 1_000_000);

    expect(() => counted("list.all(a, list == list && list == list)", run)).toThrow(CelBudgetError);
    expect(run.cost).toBeLessThan(500);
  });
});
