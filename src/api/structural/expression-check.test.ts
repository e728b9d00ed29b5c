import { describe, expect, test } from "vitest";
import { FieldErrors, fieldErrorText, FieldPath } from "../errors/field-error.ts";
import type { JSONSchemaProps } from "../generated/types/apiextensions-v1.ts";
import type { JsonObject } from "../json/json-object.ts";
import { checkExpressions } from "./expression-check.ts";
import { compileStructural } from "./structural.ts";

type Properties = Readonly<Record<string, JSONSchemaProps>>;

/** Errors of a root rule for an object with these properties. */
function problems(rule: string, properties: Properties, value: JsonObject): readonly string[] {
  const schema = compileStructural({
    type: "object",
    properties,
    "x-kubernetes-validations": [{ rule }],
  } as JSONSchemaProps);
  const errors = new FieldErrors();
  checkExpressions({ schema, value, previous: undefined }, new FieldPath(""), errors);
  return errors.found.map(fieldErrorText);
}

describe("a rule", () => {
  const nullable: Properties = {
    number: { type: "integer", nullable: true },
    either: { "x-kubernetes-int-or-string": true, nullable: true },
    list: { type: "array", items: { type: "string", nullable: true } },
  };

  test.each([
    "!has(self.number) && !has(self.either)",
    "self.?number == optional.none()",
    "size(self.list) == 1",
  ])("treats a null field as absent: %s", (rule) => {
    expect(problems(rule, nullable, { number: null, either: null, list: [null] })).toEqual([]);
  });

  const open: Properties = {
    objects: {
      type: "array",
      items: {
        type: "object",
        properties: { known: { type: "integer" }, any: { "x-kubernetes-preserve-unknown-fields": true } },
        "x-kubernetes-preserve-unknown-fields": true,
      },
    },
  };

  test.each([
    [
      "self.objects[0] == self.objects[1]",
      [
        { known: 1, other: "a" },
        { known: 1, other: "a" },
      ],
    ],
    [
      "self.objects[0] != self.objects[1]",
      [
        { known: 1, other: "a" },
        { known: 1, other: "b" },
      ],
    ],
    ["self.objects[0] != self.objects[1]", [{ known: 1, other: "a" }, { known: 1 }]],
    ["self.objects[0] != self.objects[1]", [{ any: "a" }, { any: 1 }]],
  ])("compares fields that it cannot name too: %s %j", (rule, objects) => {
    expect(problems(rule, open, { objects })).toEqual([]);
  });

  const item: JSONSchemaProps = {
    type: "object",
    properties: { "k!": { type: "string" }, "k.": { type: "string" } },
  };
  const keyed: JSONSchemaProps = {
    type: "array",
    items: item,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k!", "k."],
  };

  test("identifies items by keys that it cannot name", () => {
    const lists = [
      [
        { "k!": "a", "k.": "1" },
        { "k!": "b", "k.": "1" },
      ],
      [
        { "k!": "b", "k.": "1" },
        { "k!": "a", "k.": "1" },
      ],
    ];

    expect(
      problems("self.lists[0] == self.lists[1]", { lists: { type: "array", items: keyed } }, { lists }),
    ).toEqual([]);
  });

  const pair = { type: "object", properties: { k: { type: "string" }, v: { type: "integer" } } };
  const marked: Properties = {
    set: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    pairs: {
      type: "array",
      items: {
        type: "array",
        items: pair,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
      },
    },
  };

  test.each(["self.set + ['c', 'a'] == ['c', 'b', 'a']", "self.pairs[0] + self.pairs[1] == self.pairs[1]"])(
    "keeps the list type when it adds lists: %s",
    (rule) => {
      const pairs = [
        [
          { k: "a", v: 1 },
          { k: "b", v: 2 },
        ],
        [
          { k: "b", v: 3 },
          { k: "a", v: 1 },
        ],
      ];

      expect(problems(rule, marked, { set: ["a", "b"], pairs })).toEqual([]);
    },
  );

  test("is checked against the kind of an object even if that is unchanged", () => {
    const named = { type: "string", "x-kubernetes-validations": [{ rule: "self == 'A'" }] };
    const schema = compileStructural({
      type: "object",
      properties: { kind: named, part: { type: "object", properties: { kind: named } } },
    } as JSONSchemaProps);
    const value = { kind: "B", part: { kind: "B" } };
    const errors = new FieldErrors();

    checkExpressions({ schema, value, previous: value }, new FieldPath(""), errors);

    expect(errors.found.map(fieldErrorText)).toEqual([`kind: Invalid value: "B": failed rule: self == 'A'`]);
  });
});
