import { describe, expect, test } from "vitest";
import { keepSpec, readStoredJson } from "./stored-json.ts";

const parse = (text: string): unknown => JSON.parse(text);

interface Read {
  readonly spec: { readonly containers: readonly object[] };
}

/** Long enough to be cached, and used by no other test. */
function spec(name: string): object {
  return { containers: [{ name, image: "x".repeat(300) }] };
}

function stored(object: object): Buffer {
  return Buffer.from(
    JSON.stringify({ kind: "Pod", metadata: { name: "a" }, ...object, status: { phase: "B" } }),
  );
}

describe("readStoredJson", () => {
  test("an object gets the frozen spec that was kept with its text", () => {
    const known = Object.freeze(spec("kept"));
    keepSpec(JSON.stringify(known), known as never);

    const object = readStoredJson(stored({ spec: spec("kept") })) as { spec: unknown };

    expect(object.spec).toBe(known);
    expect(object).toEqual(parse(stored({ spec: known }).toString()));
  });

  test("a recurring spec is one frozen object from its second read on, whatever is read in between", () => {
    const read = ["one", "two", "one", "two", "one"].map(
      (name, n) => readStoredJson(stored({ metadata: { n }, spec: spec(name) })) as { spec: unknown },
    );

    expect(read.map((object) => Object.isFrozen(object.spec))).toEqual([false, false, true, true, true]);
    expect(read[4]?.spec).toBe(read[2]?.spec);
    expect(read[4]).toEqual({ kind: "Pod", metadata: { n: 4 }, spec: spec("one"), status: { phase: "B" } });
  });

  test("specs that are read one after the other share their equal parts", () => {
    const of = (nodeName: string): Buffer => stored({ spec: { ...spec("shared"), nodeName } });
    const [first, second] = ["n1", "n2"].map((node) => readStoredJson(of(node)) as Read);

    expect(second?.spec.containers).toBe(first?.spec.containers);
    expect([first, second]).toEqual(["n1", "n2"].map((node) => parse(of(node).toString())));
  });

  test.each([
    ["another member that looks like one", { data: [{ a: {}, spec: spec("nested") }] }],
    ["a spec in a spec", { spec: { a: {}, spec: spec("inner"), text: "y".repeat(300) } }],
    ["a short one", { spec: { a: 1 } }],
    ["none", {}],
  ])("an object with %s is read unchanged", (_, object) => {
    const bytes = stored(object);

    for (let n = 0; n < 4; n++) expect(readStoredJson(bytes)).toEqual(parse(bytes.toString()));
  });

  test("a number in the place of a spec is not mistaken for the placeholder", () => {
    const known = Object.freeze(spec("elsewhere"));
    keepSpec(JSON.stringify(known), known as never);
    const bytes = Buffer.from(
      JSON.stringify({ data: { a: {}, spec: known, status: {} }, metadata: {}, spec: 0 }),
    );

    expect(readStoredJson(bytes)).toEqual(parse(bytes.toString()));
  });

  test("malformed JSON fails with the parser's error", () => {
    const bytes = stored({ spec: spec("broken") });

    for (let n = 0; n < 3; n++) expect(() => readStoredJson(bytes.subarray(1))).toThrow(SyntaxError);
  });
});
