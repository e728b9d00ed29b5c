import { describe, expect, test } from "vitest";
import { SharedSpec, SpecCache } from "./spec-cache.ts";

/** Runs the steps of creating a pod: look up the spec, compute it on a miss. */
function make(specs: SpecCache, sent: object): unknown {
  const shared = specs.find(sent);
  const spec = shared?.defaulted ?? { ...sent };
  shared?.keepDefaulted(spec);
  return spec;
}

describe("SpecCache", () => {
  test("a spec is shared and frozen from its second occurrence on", () => {
    const specs = new SpecCache();

    const made = [1, 2, 3, 4].map(() => make(specs, { a: [1] }));

    expect(made[0]).not.toBe(made[1]);
    expect(Object.isFrozen(made[0])).toBe(false);
    expect(Object.isFrozen(made[1])).toBe(true);
    expect(made[2]).toBe(made[1]);
    expect(made[3]).toBe(made[1]);
    expect(make(specs, { a: [2] })).not.toBe(made[1]);
  });

  test("a text and its parsed value find the same spec", () => {
    const specs = new SpecCache();
    make(specs, { a: 1 });
    const spec = make(specs, { a: 1 });

    expect(specs.findText('{"a":1}')?.defaulted).toBe(spec);
  });

  test("an unused spec is evicted, a used one stays", () => {
    const specs = new SpecCache();
    const used = { used: true };
    for (const spec of [used, used, { unused: true }, { unused: true }]) make(specs, spec);

    for (let n = 0; n < 1000; n++) {
      for (const spec of [{ n }, { n }, used]) make(specs, spec);
    }

    expect(specs.find(used)?.defaulted).toEqual(used);
    expect(specs.find({ unused: true })?.defaulted).toBeUndefined();
  });

  test("a value that is no spec, or a very long one, is not looked up", () => {
    const specs = new SpecCache();

    expect(specs.find(undefined)).toBeUndefined();
    expect(specs.find(["a"])).toBeUndefined();
    expect(specs.find({ a: "x".repeat(100_000) })).toBeUndefined();
  });
});

describe("a frozen spec", () => {
  interface Spec {
    a?: number;
    b?: number;
  }
  /** Number of calls of the defaults. */
  let asked = 0;
  const rules = {
    defaults(draft: object): void {
      asked += 1;
      (draft as { spec: Spec }).spec.b ??= 2;
    },
  };

  test.each([
    [{ a: 1 }, false],
    [{ a: 1, b: 2 }, true],
  ])("whether %j has its defaults is %j, and is computed once", (spec, expected) => {
    const specs = new SpecCache();
    asked = 0;
    Object.freeze(spec);

    const found = [1, 2].map(() => specs.isComplete(spec, rules));

    expect(found).toEqual([expected, expected]);
    expect(asked).toBe(1);
  });

  test("is never reported complete while it is not frozen", () => {
    expect(new SpecCache().isComplete({ a: 1, b: 2 }, rules)).toBe(false);
  });
});

describe("SharedSpec", () => {
  test("returns the stored form of a spec that admission left unchanged", () => {
    const shared = new SharedSpec();
    const stored = { a: 1, b: [2] };
    shared.keepDefaulted({ a: 1 });

    shared.keepStored({ b: [2], a: 1 }, stored);

    expect(shared.findStored({ b: [2], a: 1 })).toBe(stored);
    expect(Object.isFrozen(stored)).toBe(true);
    expect(shared.findStored({ b: [3], a: 1 })).toBeUndefined();
  });
});
