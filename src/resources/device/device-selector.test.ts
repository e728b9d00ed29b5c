import { describe, expect, test } from "vitest";
import { KindProbe } from "../rules/kind-probe.ts";
import { deviceClass } from "./device-class.ts";

const probe = new KindProbe(deviceClass);

function problems(...expressions: readonly string[]): readonly string[] {
  return probe.problems({ spec: { selectors: expressions.map((expression) => ({ cel: { expression } })) } });
}

describe("the expression of a device selector", () => {
  test.each([
    "true",
    'device.driver == "dra.example.com"',
    '"dra.example.com" in device.attributes',
    'device.attributes["dra.example.com"].healthy',
    'device.attributes["dra.example.com"].model == "a100" && device.attributes["dra.example.com"].version.isGreaterThan(semver("1.0.0"))',
    'device.capacity["dra.example.com"].memory.compareTo(quantity("10Gi")) >= 0',
    'cel.bind(dra, device.attributes["dra.example.com"], dra.a && dra.b)',
    'device.attributes["dra.example.com"].name.matches("^[a-z]+$")',
    "device.allowMultipleAllocations == true",
    'device.attributes["dra.example.com"].?name.orValue("x") == "x"',
  ])("accepts %s", (expression) => {
    expect(problems(expression)).toEqual([]);
  });

  test.each([
    ["1", 'Invalid value: "1": must evaluate to bool or the unknown type, not int'],
    ["", "Required value"],
    ["x".repeat(10_241), "Too long: may not be more than 10240 bytes"],
  ])("rejects %j", (expression, problem) => {
    expect(problems(expression)).toEqual([`spec.selectors[0].cel.expression: ${problem}`]);
  });

  test.each([
    ["?!", "Syntax error"],
    ["nobody.knows", "undeclared reference to 'nobody'"],
    ["device.color == 'red'", "undefined field 'color'"],
    ["device.driver > 1", "found no matching overload for '_>_'"],
  ])("is compiled: %s", (expression, mistake) => {
    expect(problems(expression)).toEqual([expect.stringContaining(mistake)]);
    expect(problems(expression)).toEqual([expect.stringContaining("compilation failed: ERROR: <input>:1:")]);
  });

  test("costs at most what the scheduler may spend", () => {
    const expression =
      "device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, device.attributes.all(d, a + b + c + d == ''))))";

    expect(problems(expression)).toEqual([
      "spec.selectors[0].cel.expression: Forbidden: too complex, exceeds cost limit",
    ]);
  });

  test("counts towards the size limit of its object, unless it equals an earlier expression", () => {
    const long = (i: number): string => `'${"x".repeat(10_000)}${String(i)}' != ''`;

    expect(problems(...Array.from({ length: 20 }, () => long(0)))).toEqual([]);
    expect(problems(...Array.from({ length: 10 }, (_, i) => long(i)))).toEqual([
      "spec.selectors[9].cel.expression: Forbidden: all expressions together must not be longer than 100000 characters",
    ]);
  });
});
