import { describe, expect, test } from "vitest";
import { type ApiError, isApiError } from "../errors/api-error.ts";
import { applyJsonPatch } from "./json-patch.ts";

const DOCUMENT = { a: { b: [1, 2, 3], "x/y": 1, "m~n": 2 }, n: null };

function failure(document: unknown, ...patch: readonly object[]): ApiError {
  return refusal(document, patch);
}

function refusal(document: unknown, patch: unknown): ApiError {
  try {
    applyJsonPatch(document, patch);
  } catch (error) {
    if (isApiError(error)) return error;
    throw error;
  }
  throw new Error("the patch applied");
}

function reason(document: unknown, ...patch: readonly object[]): string {
  const error = failure(document, ...patch);
  expect(error.code).toBe(422);
  return (error.cause as Error).message;
}

describe("applyJsonPatch", () => {
  test.each([
    [
      "add to an object",
      [{ op: "add", path: "/a/c", value: 1 }],
      { ...DOCUMENT, a: { ...DOCUMENT.a, c: 1 } },
    ],
    ["add at an index", [{ op: "add", path: "/a/b/1", value: 9 }], at([1, 9, 2, 3])],
    ["add at the end by -", [{ op: "add", path: "/a/b/-", value: 9 }], at([1, 2, 3, 9])],
    ["add at the end by index", [{ op: "add", path: "/a/b/3", value: 9 }], at([1, 2, 3, 9])],
    ["add at the end by -1", [{ op: "add", path: "/a/b/-1", value: 9 }], at([1, 2, 3, 9])],
    ["add at the front from the end", [{ op: "add", path: "/a/b/-4", value: 9 }], at([9, 1, 2, 3])],
    ["remove from the end of a list", [{ op: "remove", path: "/a/b/-1" }], at([1, 2])],
    ["replace from the end of a list", [{ op: "replace", path: "/a/b/-3", value: 9 }], at([9, 2, 3])],
    ["move from the end of a list", [{ op: "move", from: "/a/b/-1", path: "/a/b/0" }], at([3, 1, 2])],
    ["test at the end of a list", [{ op: "test", path: "/a/b/-1", value: 3 }], DOCUMENT],
    [
      "a way through the end of a list",
      [
        { op: "add", path: "/a/b/-", value: { c: 1 } },
        { op: "add", path: "/a/b/-1/d", value: 2 },
      ],
      at([1, 2, 3, { c: 1, d: 2 }]),
    ],
    ["remove from a list", [{ op: "remove", path: "/a/b/0" }], at([2, 3])],
    ["replace in a list", [{ op: "replace", path: "/a/b/0", value: [] }], at([[], 2, 3])],
    ["move within a list", [{ op: "move", from: "/a/b/0", path: "/a/b/2" }], at([2, 3, 1])],
    ["copy", [{ op: "copy", from: "/a/b", path: "/a/b/0" }], at([[1, 2, 3], 1, 2, 3])],
    ["test that holds", [{ op: "test", path: "/a/b", value: [1, 2, 3] }], DOCUMENT],
    ["test of a missing key against null", [{ op: "test", path: "/zz", value: null }], DOCUMENT],
    [
      "replace of a missing key, which adds it",
      [{ op: "replace", path: "/c", value: 1 }],
      { ...DOCUMENT, c: 1 },
    ],
    ["replace of the whole", [{ op: "replace", path: "", value: { z: 1 } }], { z: 1 }],
    ["a path with a bogus first segment", [{ op: "add", path: "bogus/c", value: 1 }], { ...DOCUMENT, c: 1 }],
    ["no operation", [], DOCUMENT],
  ])("%s", (_name, patch, expected) => {
    expect(applyJsonPatch(DOCUMENT, patch)).toEqual(expected);
  });

  test("~1 and ~0 decode to a slash and a tilde", () => {
    const patch = [
      { op: "remove", path: "/a/x~1y" },
      { op: "replace", path: "/a/m~0n", value: 3 },
    ];

    expect(applyJsonPatch(DOCUMENT, patch)).toEqual({ a: { b: [1, 2, 3], "m~n": 3 }, n: null });
  });

  test.each([
    [
      { op: "remove", path: "/a/zz" },
      "error in remove for path: '/a/zz': Unable to remove nonexistent key: zz: missing value",
    ],
    [
      { op: "remove", path: "/zz/y" },
      'remove operation does not apply: doc is missing path: "/zz/y": missing value',
    ],
    [
      { op: "add", path: "/zz/y", value: 1 },
      'add operation does not apply: doc is missing path: "/zz/y": missing value',
    ],
    [
      { op: "add", path: "", value: 1 },
      'add operation does not apply: doc is missing path: "": missing value',
    ],
    [
      { op: "add", path: "/n/y", value: 1 },
      'add operation does not apply: doc is missing path: "/n/y": missing value',
    ],
    [
      { op: "add", path: "/a/b/4", value: 1 },
      "error in add for path: '/a/b/4': Unable to access invalid index: 4: invalid index referenced",
    ],
    [
      { op: "add", path: "/a/b/-5", value: 1 },
      "error in add for path: '/a/b/-5': Unable to access invalid index: -5: invalid index referenced",
    ],
    [
      { op: "add", path: "/a/b/x", value: 1 },
      "error in add for path: '/a/b/x': value was not a proper array index: 'x'",
    ],
    [
      { op: "replace", path: "/a/b/3", value: 1 },
      "replace operation does not apply: doc is missing key: /a/b/3: missing value",
    ],
    [{ op: "test", path: "/a/b/0", value: 2 }, "testing value /a/b/0 failed: test failed"],
    [{ op: "test", path: "/zz", value: 2 }, "testing value /zz failed: test failed"],
    [{ op: "test", path: "", value: {} }, "testing value  failed: test failed"],
    [
      { op: "move", from: "/zz", path: "/y" },
      "error in move for path: 'zz': Unable to remove nonexistent key: zz: missing value",
    ],
    [
      { op: "copy", from: "/zz/1", path: "/y" },
      "copy operation does not apply: doc is missing from path: /zz/1: missing value",
    ],
    [{ op: "wipe", path: "/a" }, "Unexpected kind: wipe"],
    [{ path: "/a" }, "Unexpected kind: unknown"],
    [{ op: "remove" }, "remove operation failed to decode path: missing value"],
  ])("%j is refused: %s", (operation, message) => {
    expect(reason(DOCUMENT, operation)).toBe(message);
  });

  test("a client sees 422 Invalid with upstream's fixed text", () => {
    const error = failure(DOCUMENT, { op: "test", path: "/n", value: 1 });

    expect(error).toMatchObject({
      reason: "Invalid",
      code: 422,
      message: "the server rejected our request due to an error in our request",
    });
  });

  test.each([
    [{ op: "add" }, "cannot unmarshal object into Go value of type []handlers.jsonPatchOp"],
    [["x"], "cannot unmarshal string into Go value of type handlers.jsonPatchOp"],
    [[{ op: 1 }], "cannot unmarshal number into Go struct field jsonPatchOp.op of type string"],
  ])("%j is not a patch", (patch, message) => {
    const error = refusal(DOCUMENT, patch);

    expect(error.reason).toBe("BadRequest");
    expect(error.message).toBe(`error decoding patch: json: ${message}`);
  });

  test("operations do not change the inputs, nor the values of earlier operations", () => {
    const document = deepFreeze({ a: { b: [1] } });
    const patch = deepFreeze([
      { op: "add", path: "/c", value: { d: [1] } },
      { op: "copy", from: "/c", path: "/e" },
      { op: "add", path: "/e/d/-", value: 2 },
      { op: "add", path: "/c/d/-", value: 3 },
      { op: "remove", path: "/a/b/0" },
    ]);

    expect(applyJsonPatch(document, patch)).toEqual({ a: { b: [] }, c: { d: [1, 3] }, e: { d: [1, 2] } });
  });

  test("more than 10,000 operations are refused", () => {
    const patch = Array.from({ length: 10_001 }, () => ({ op: "test", path: "/x", value: null }));

    expect(refusal({}, patch)).toMatchObject({
      reason: "RequestEntityTooLarge",
      message: expect.stringContaining(
        "The allowed maximum operations in a JSON patch is 10000, got 10001",
      ) as string,
    });
  });

  test("copies that double a value are refused beyond 3 MiB", () => {
    const patch = Array.from({ length: 40 }, () => ({ op: "copy", from: "/a", path: "/a/-" }));

    expect(reason({ a: ["x".repeat(1000)] }, ...patch)).toMatch(
      /^Unable to complete the copy, the accumulated size increase of copy is \d+, exceeding the limit 3145728$/,
    );
  });

  test("a patch cannot nest values deeper than a body may", () => {
    const patch = Array.from({ length: 600 }, () => ({ op: "copy", from: "/a", path: "/a/x" }));
    const moves = Array.from({ length: 600 }, (_, at) => ({
      op: "add",
      path: `${"/x".repeat(at)}/x`,
      value: {},
    }));

    expect(reason({ a: {} }, ...patch)).toBe("exceeded max depth");
    expect(reason({}, ...moves)).toBe("exceeded max depth");
  });

  test.each([
    ["insertions at the front of a long list", { op: "add", path: "/list/0", value: 0 }],
    ["comparisons with a large object", { op: "test", path: "", value: { list: {}, map: {} } }],
    ["comparisons with a long list", { op: "test", path: "/list", value: [] }],
  ])("%s are refused before they take long", (_name, operation) => {
    const map = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, at]));
    const document = { list: Array.from({ length: 150_000 }, () => 0), map };
    const patch = [...Array.from({ length: 9_999 }, () => operation)];

    const ended = refusal(document, patch);

    expect((ended.cause as Error).message).toMatch(/too much work|test failed/);
  });
});

function at(list: readonly unknown[]): object {
  return { ...DOCUMENT, a: { ...DOCUMENT.a, b: list } };
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const member of Object.values(value)) deepFreeze(member);
    Object.freeze(value);
  }
  return value;
}
