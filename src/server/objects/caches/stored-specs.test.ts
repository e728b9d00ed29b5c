import { describe, expect, test } from "vitest";
import { keepSpec, parseWithSpec } from "./stored-specs.ts";

const parse = (text: string): unknown => JSON.parse(text);

/** Long enough to be cached, and used by no other test. */
function spec(name: string): object {
  return { containers: [{ name, image: "x".repeat(300) }] };
}

function stored(object: object): Buffer {
  return Buffer.from(
    JSON.stringify({ kind: "Pod", metadata: { name: "a" }, ...object, status: { phase: "B" } }),
  );
}

describe("parseWithSpec", () => {
  test("an object gets the frozen spec that was kept with its text", () => {
    const known = Object.freeze(spec("kept"));
    keepSpec(JSON.stringify(known), known as never);

    const object = parseWithSpec(stored({ spec: spec("kept") }), parse) as { spec: unknown };

    expect(object.spec).toBe(known);
    expect(object).toEqual(parse(stored({ spec: known }).toString()));
  });

  test("a recurring spec is one object from its second read on", () => {
    const read = [1, 2, 3].map(
      (n) => parseWithSpec(stored({ metadata: { n }, spec: spec("read") }), parse) as { spec: unknown },
    );

    expect(read.map((object) => Object.isFrozen(object.spec))).toEqual([false, true, true]);
    expect(read[2]?.spec).toBe(read[1]?.spec);
    expect(read[2]).toEqual({ kind: "Pod", metadata: { n: 3 }, spec: spec("read"), status: { phase: "B" } });
  });

  test.each([
    ["another member that looks like one", { data: [{ a: {}, spec: spec("nested") }] }],
    ["a spec in a spec", { spec: { a: {}, spec: spec("inner"), text: "y".repeat(300) } }],
    ["a short one", { spec: { a: 1 } }],
    ["none", {}],
  ])("an object with %s is read unchanged", (_, object) => {
    const bytes = stored(object);

    for (let n = 0; n < 4; n++) expect(parseWithSpec(bytes, parse)).toEqual(parse(bytes.toString()));
  });

  test("a number in the place of a spec is not mistaken for the placeholder", () => {
    const known = Object.freeze(spec("elsewhere"));
    keepSpec(JSON.stringify(known), known as never);
    const bytes = Buffer.from(
      JSON.stringify({ data: { a: {}, spec: known, status: {} }, metadata: {}, spec: 0 }),
    );

    expect(parseWithSpec(bytes, parse)).toEqual(parse(bytes.toString()));
  });

  test("malformed JSON fails with the parser's error", () => {
    const bytes = stored({ spec: spec("broken") });

    for (let n = 0; n < 3; n++) expect(() => parseWithSpec(bytes.subarray(1), parse)).toThrow(SyntaxError);
  });
});
