import { describe, expect, test } from "vitest";
import { SharedSpec, SharedSpecs, withOwnSpec } from "./shared-specs.ts";

/** Runs the steps of creating a pod: look up the spec, compute it on a miss. */
function make(specs: SharedSpecs, spec: object): unknown {
  const shared = specs.find(spec);
  const begun = shared?.begun ?? { ...spec };
  shared?.begin(begun);
  return begun;
}

describe("SharedSpecs", () => {
  test("a spec is shared and frozen from its second occurrence on", () => {
    const specs = new SharedSpecs();

    const made = [1, 2, 3, 4].map(() => make(specs, { a: [1] }));

    expect(made[0]).not.toBe(made[1]);
    expect(Object.isFrozen(made[0])).toBe(false);
    expect(Object.isFrozen(made[1])).toBe(true);
    expect(made[2]).toBe(made[1]);
    expect(made[3]).toBe(made[1]);
    expect(make(specs, { a: [2] })).not.toBe(made[1]);
  });

  test("a text and its parsed value find the same spec", () => {
    const specs = new SharedSpecs();
    make(specs, { a: 1 });
    const begun = make(specs, { a: 1 });

    expect(specs.findText('{"a":1}')?.begun).toBe(begun);
  });

  test("an unused spec is evicted, a used one stays", () => {
    const specs = new SharedSpecs();
    const used = { used: true };
    for (const spec of [used, used, { unused: true }, { unused: true }]) make(specs, spec);

    for (let n = 0; n < 1000; n++) {
      for (const spec of [{ n }, { n }, used]) make(specs, spec);
    }

    expect(specs.find(used)?.begun).toEqual(used);
    expect(specs.find({ unused: true })?.begun).toBeUndefined();
  });

  test("a value that is no spec, or a very long one, is not looked up", () => {
    const specs = new SharedSpecs();

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
    const specs = new SharedSpecs();
    asked = 0;
    Object.freeze(spec);

    const found = [1, 2].map(() => specs.isComplete(spec, rules));

    expect(found).toEqual([expected, expected]);
    expect(asked).toBe(1);
  });

  test("is never reported complete while it is not frozen", () => {
    expect(new SharedSpecs().isComplete({ a: 1, b: 2 }, rules)).toBe(false);
  });
});

describe("SharedSpec", () => {
  test("returns the stored form of a spec that admission left unchanged", () => {
    const shared = new SharedSpec();
    const settled = { a: 1, b: [2] };
    shared.begin({ a: 1 });

    shared.settle({ b: [2], a: 1 }, settled);

    expect(shared.findSettled({ b: [2], a: 1 })).toBe(settled);
    expect(Object.isFrozen(settled)).toBe(true);
    expect(shared.findSettled({ b: [3], a: 1 })).toBeUndefined();
  });
});

describe("withOwnSpec", () => {
  test("members of the copy's spec may be replaced, those of the draft stay", () => {
    const draft = { apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec: Object.freeze({ a: 1 }) };

    const own = withOwnSpec(draft);
    (own.spec as { a: number }).a = 2;

    expect(draft.spec.a).toBe(1);
    expect(own.metadata).toBe(draft.metadata);
  });
});
