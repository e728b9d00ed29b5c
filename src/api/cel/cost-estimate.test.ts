import { describe, expect, test } from "vitest";
import { compileCel } from "./program.ts";
import { type CelType, DYN, INT, listOf, mapOf, objectType, STRING } from "./type.ts";
import { UINT64_MAX } from "./uint64.ts";

function text(maxSize: number): CelType {
  return { ...STRING, maxSize };
}

function object(fields: Readonly<Record<string, CelType>>): CelType {
  return objectType("object", {
    find: (name) => {
      const type = Object.hasOwn(fields, name) ? fields[name] : undefined;
      return type === undefined ? undefined : { type, jsonName: name };
    },
    names: Object.keys(fields),
  });
}

const PART = object({
  names: { ...listOf(text(40)), maxSize: 7 },
  other: text(500),
});
const SELF = object({
  s: text(100),
  i: INT,
  any: { ...DYN, maxSize: 80 },
  namespace: text(100),
  parts: { ...listOf(PART), maxSize: 5 },
  deep: object({ map: { ...mapOf(STRING, text(30)), maxSize: 4 } }),
});

function estimate(source: string): bigint {
  const program = compileCel(source, { variables: new Map([["self", SELF]]), bindings: "allowed" });
  return program.estimate({ rootOf: () => SELF });
}

// Numbers without upstream's beside them are computed by hand from cel-go 0.26, the version in Kubernetes 1.36.
describe("the estimated cost", () => {
  test.each<[string, number | bigint]>([
    // A name costs 1, each field 1.
    ["self.s", 2],
    ["has(self.s)", 1],
    ["self.any.x", 2],
    ["{'a': self.any}.a.b", 33],
    // A traversal costs a tenth per character.
    ["self.s == self.s", 14],
    ["self.s.matches('^a+$')", 13],
    ["matches(self.s, '^a+$')", 3],
    ["url(self.s) == url(self.s)", 34],
    ["format.dns1123Label() == format.dns1123Label()", 9],
    ["string(b'abc') + 'd' == 'abcd'", 3],
    ["bytes(self.s) == b''", 12],
    ["'a'.replace('', self.s).size() == 3", 5],
    // The binding costs an empty list, besides the value and the body.
    ["cel.bind(x, self.s, x == x)", 24],
    ["self.?i.optMap(x, x + 1).hasValue()", 20],
    ["self.?i.optFlatMap(x, optional.of(x)).hasValue()", 19],
    ["dyn(self.s) == self.s", 15],
    ["self.parts[0].other == 'abcdefghijkl'", 6],
    // An item may be as long as the longest one.
    ["[self.s, 'abc'][0].contains('a')", 23],
    ["(self.i > 1 ? [self.s] : ['a'])[0].contains('a')", 26],
    // A tenth of 2^64 as a double, and 57 for the rest.
    ["[1, 2, 3].map(x, 'abc').join('')", 1_844_674_407_370_955_321n],
  ])("of %s is %d", (source, cost) => {
    expect(estimate(source)).toBe(BigInt(cost));
  });

  test("does not exceed 64 bits", () => {
    expect(estimate("string(1).matches(string(2))")).toBe(UINT64_MAX);
    expect(estimate("[1, 2].all(x, string(x).matches(string(2)))")).toBe(UINT64_MAX);
  });

  test("uses the declared bound of a field, and no bound for a field with a reserved name", () => {
    expect(estimate("self.s.contains('a')")).toBe(12n);
    expect(estimate("self.namespace.contains('a')")).toBe(1_844_674_407_370_955_266n);
  });
});

describe("a path in an estimate", () => {
  test("ends in the last name appended to the shared path, as upstream's does", () => {
    // The range `x.names` is seen as `x.other`, which may have 500 characters; each turn costs 4 + 2 + 1 + 4.
    const turns = estimate("self.parts.all(x, x.names.exists(y, x.other == y))");
    const alone = estimate("self.parts.all(x, x.names.exists(y, y == y))");

    expect(alone).toBe(2n + 1n + 5n * (3n + 2n + 1n + 7n * (4n + 2n + 4n)));
    expect(turns).toBe(2n + 1n + 5n * (3n + 2n + 1n + 500n * (4n + 3n + 4n)));
  });
});
