import { describe, expect, test } from "vitest";
import { applyMergePatch } from "./merge-patch.ts";

describe("applyMergePatch", () => {
  // The examples of RFC 7386 whose document is an object, and upstream's additions.
  test.each([
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    [{ a: "foo" }, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
    [{}, { a: [{ b: null, c: 1 }, null] }, { a: [{ c: 1 }, null] }],
    [{ a: { b: 1 } }, { a: { b: 9007199254740993n } }, { a: { b: 9007199254740993n } }],
  ])("%o with %o", (document, patch, expected) => {
    expect(applyMergePatch(Object.freeze(document), patch)).toEqual(expected);
  });

  test("a part that the patch does not name is shared with the document", () => {
    const document = { a: { b: [1] }, c: { d: 1 } };

    expect(applyMergePatch(document, { c: { d: 2 } }).a).toBe(document.a);
  });

  test.each([
    [[], "array"],
    ["x", "string"],
    [1, "number"],
  ])("%j is not a patch", (patch, word) => {
    expect(() => applyMergePatch({}, patch)).toThrow(
      `error decoding patch: json: cannot unmarshal ${word} into Go value of type map[string]interface {}`,
    );
  });

  test("a null patch is refused with a message of its own", () => {
    expect(() => applyMergePatch({}, null)).toThrow("Invalid JSON Patch");
  });
});
