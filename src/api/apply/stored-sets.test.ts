import { describe, expect, test } from "vitest";
import { parseStored } from "./stored-sets.ts";

const SET = { "f:spec": { "f:containers": { 'k:{"name":"a"}': { ".": {}, "f:image": {} } } } };

function entry(manager: string | undefined, fieldsV1: object = SET): object {
  return { apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1, manager, operation: "Update" };
}

function pod(...managedFields: readonly object[]): object {
  return { apiVersion: "v1", kind: "Pod", metadata: { managedFields, name: "a" }, spec: {} };
}

interface Read {
  readonly metadata: { readonly managedFields: readonly { readonly fieldsV1: object }[] };
}

function read(object: object): Read {
  return parseStored(JSON.stringify(object), JSON.parse) as Read;
}

describe("a parsed stored object", () => {
  test("shares its sets with other objects", () => {
    const [first, second] = [read(pod(entry("a"))), read(pod(entry("b"), entry("a")))];

    expect(second).toEqual(pod(entry("b"), entry("a")));
    expect(second.metadata.managedFields[1]?.fieldsV1).toBe(first.metadata.managedFields[0]?.fieldsV1);
  });

  test.each([
    ["no entries", pod()],
    ["no metadata", { kind: "Pod" }],
    ["an empty set", pod(entry("a", {}))],
    ["an entry without a manager", pod(entry(undefined), entry("a"))],
    [
      "an entry without a manager, before an object with one",
      { ...pod(entry(undefined)), x: { y: {}, manager: "a" } },
    ],
    ["what looks like an entry in front", { ...pod(entry("a")), data: { fieldsV1: { n: 0 }, manager: "x" } }],
    ["what looks like an entry behind", { data: { fieldsV1: {}, manager: "x" }, ...pod(entry("a")) }],
    ["only what looks like an entry", { data: { fieldsV1: { a: "},", n: 1 }, manager: "x" } }],
    ["an entry in a text", { data: JSON.stringify(pod(entry("a"))), ...pod(entry("a")) }],
    ["a number for a set", pod({ fieldsV1: 0, manager: "n" }, entry("a"))],
  ])("with %s equals the original", (_, object) => {
    expect(read(object)).toEqual(JSON.parse(JSON.stringify(object)));
  });

  test("must be JSON", () => {
    const text = JSON.stringify(pod(entry("a")));

    expect(() => parseStored(text.slice(0, -1), JSON.parse)).toThrow(SyntaxError);
  });
});
