import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  difference,
  EMPTY,
  type FieldSet,
  fieldSet,
  has,
  intersection,
  isEmpty,
  leaves,
  parseFieldSet,
  paths,
  pathText,
  recursiveDifference,
  union,
  withPrefix,
} from "./field-set.ts";

/** `a.b` names a path of fields. */
function set(...names: readonly string[]): FieldSet {
  return fieldSet(...names.map(elements));
}

function elements(name: string): readonly string[] {
  return name.split(".").map((part) => `f:${part}`);
}

function listed(fields: FieldSet): readonly string[] {
  return [...paths(fields)].map((path) => path.map((element) => element.slice(2)).join("."));
}

describe("sets", () => {
  test("are sorted JSON of the API, where a member with children has a dot", () => {
    expect(JSON.stringify(set("b", "a.c", "a", "a.b"))).toBe('{"f:a":{".":{},"f:b":{},"f:c":{}},"f:b":{}}');
  });

  test.each([
    ["union", union, ["a", "a.b", "b.c", "d"]],
    ["intersection", intersection, ["a.b"]],
    ["difference", difference, ["a"]],
    ["recursive difference", recursiveDifference, ["a"]],
  ])("%s", (_name, operation, expected) => {
    const result = operation(set("a", "a.b", "b.c"), set("a.b", "b.c", "b", "d"));

    const ofBoth =
      operation === union ? [...expected, "b"] : operation === intersection ? [...expected, "b.c"] : expected;
    expect(listed(result).toSorted()).toEqual(ofBoth.toSorted());
  });

  test("a difference keeps the fields below a removed member, a recursive one does not", () => {
    expect(listed(difference(set("a", "a.b", "a.b.c"), set("a.b")))).toEqual(["a", "a.b.c"]);
    expect(listed(recursiveDifference(set("a", "a.b", "a.b.c"), set("a.b")))).toEqual(["a"]);
    expect(listed(recursiveDifference(set("a", "a.b"), set("a.b.c")))).toEqual(["a", "a.b"]);
  });

  test("an operation without effect returns the same set, and unchanged parts are shared", () => {
    const fields = set("a.b", "c.d");

    expect(difference(fields, set("x", "a.x"))).toBe(fields);
    expect(union(fields, set("a.b"))).toBe(fields);
    expect(intersection(fields, set("a.b", "c.d", "e"))).toBe(fields);
    expect(union(fields, set("a.z"))["f:c"]).toBe(fields["f:c"]);
  });

  test("give membership, prefixes and leaves", () => {
    const fields = set("a", "a.b", "c.d");

    expect(has(fields, elements("a"))).toBe(true);
    expect(has(fields, elements("c"))).toBe(false);
    expect(has(fields, elements("c.d"))).toBe(true);
    expect(has(fields, [])).toBe(false);
    expect(listed(withPrefix(fields, "f:a"))).toEqual(["b"]);
    expect(withPrefix(fields, "f:z")).toEqual({});
    expect(listed(leaves(fields))).toEqual(["a.b", "c.d"]);
    expect(isEmpty(EMPTY)).toBe(true);
  });

  test("paths are listed as upstream lists them: the members of a node before those below it", () => {
    expect(listed(set("a.b", "b", "c", "a"))).toEqual(["a", "b", "c", "a.b"]);
  });

  test("paths have the text of messages", () => {
    const path = ["f:spec", 'k:{"containerPort":80,"protocol":"TCP"}', 'v:"a\\"b"', "i:3", "f:x.y/z"];

    expect(pathText(path)).toBe('.spec[containerPort=80,protocol="TCP"][="a\\"b"][3].x.y/z');
  });
});

describe("set algebra", () => {
  const names = fc.array(
    fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 3 }).map((parts) => parts.join(".")),
    { maxLength: 8 },
  );

  test("agrees with sets of paths", () => {
    fc.assert(
      fc.property(names, names, (left, right) => {
        const [one, other] = [set(...left), set(...right)];
        const both = new Set(right);

        expect(new Set(listed(union(one, other)))).toEqual(new Set([...left, ...right]));
        expect(new Set(listed(intersection(one, other)))).toEqual(
          new Set(left.filter((name) => both.has(name))),
        );
        expect(new Set(listed(difference(one, other)))).toEqual(
          new Set(left.filter((name) => !both.has(name))),
        );
        expect(new Set(listed(recursiveDifference(one, other)))).toEqual(
          new Set(left.filter((name) => !right.some((top) => name === top || name.startsWith(`${top}.`)))),
        );
      }),
    );
  });

  test("gives canonical sets", () => {
    fc.assert(
      fc.property(names, names, (left, right) => {
        const [one, other] = [set(...left), set(...right)];

        for (const operation of [union, intersection, difference, recursiveDifference]) {
          const result = operation(one, other);
          expect(parseFieldSet(result)).toBe(result);
          expect(result).toEqual(set(...listed(result)));
        }
      }),
    );
  });
});

describe("parseFieldSet", () => {
  test("takes a canonical set as it is", () => {
    const value = {
      "f:a": { ".": {}, 'k:{"name":"x"}': { "f:name": {} } },
      "f:b": { 'v:"x"': {}, "v:1": {} },
    };
    const canonical = parseFieldSet(value);

    expect(parseFieldSet(canonical)).toBe(canonical);
    expect(JSON.stringify(canonical)).toBe(
      '{"f:a":{".":{},"k:{\\"name\\":\\"x\\"}":{"f:name":{}}},"f:b":{"v:1":{},"v:\\"x\\"":{}}}',
    );
  });

  test("sorts keys by their values, numbers as numbers", () => {
    const key = (port: number): string => `k:{"containerPort":${port},"protocol":"TCP"}`;

    expect(Object.keys(parseFieldSet({ [key(8080)]: {}, [key(443)]: {}, [key(80)]: {} }))).toEqual([
      key(80),
      key(443),
      key(8080),
    ]);
  });

  test("gives elements their canonical text", () => {
    const value = { 'k:{"protocol":"TCP", "port":80}': {}, 'v: "a<b"': {}, "i:+1": {} };

    expect(Object.keys(parseFieldSet(value))).toEqual([
      'k:{"port":80,"protocol":"TCP"}',
      'v:"a\\u003cb"',
      "i:1",
    ]);
  });

  test("drops elements of unknown kinds, and a dot alone", () => {
    expect(parseFieldSet({ "f:a": { ".": {} }, "z:new": { "f:b": {} } })).toEqual({ "f:a": {} });
  });

  test("treats keys like __proto__ as ordinary fields", () => {
    const value: unknown = JSON.parse('{"f:__proto__":{"f:constructor":{}}}');

    expect(JSON.stringify(parseFieldSet(value))).toBe('{"f:__proto__":{"f:constructor":{}}}');
  });

  test.each([
    [{ x: {} }, "key must be 2 characters long:"],
    [{ spec: {} }, "missing colon: spec"],
    [{ "f:a": 1 }, "a set of fields must be an object"],
    [{ "k:x": {} }, "JSON"],
    [{ "i:x": {} }, "invalid index: i:x"],
    [JSON.parse('{"__proto__":{}}') as unknown, "missing colon: __proto__"],
  ])("%j is malformed", (value, message) => {
    expect(() => parseFieldSet(value)).toThrow(message);
  });
});
