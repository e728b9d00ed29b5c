import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SortedMap } from "./sorted-map.ts";

interface Item {
  readonly key: string;
  readonly value: number;
}

const key = fc.integer({ min: 0, max: 400 }).map((n) => `k${String(n)}`);
const change = fc.record({ key, value: fc.option(fc.integer(), { nil: undefined }) });

function apply(map: SortedMap<Item>, next: { key: string; value: number | undefined }): SortedMap<Item> {
  return next.value === undefined ? map.delete(next.key) : map.set({ key: next.key, value: next.value });
}

function sorted(model: ReadonlyMap<string, number>, from: string, to: string): Item[] {
  return [...model]
    .filter(([k]) => k >= from && k < to)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([k, value]) => ({ key: k, value }));
}

describe("SortedMap", () => {
  test("behaves like a plain map with sorted keys", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 2000, size: "max" }), key, key, (changes, from, to) => {
        const model = new Map<string, number>();
        let map = SortedMap.empty<Item>();
        for (const next of changes) {
          map = apply(map, next);
          if (next.value === undefined) model.delete(next.key);
          else model.set(next.key, next.value);
        }

        expect(map.size).toBe(model.size);
        expect([...map.range("", "~")]).toEqual(sorted(model, "", "~"));
        expect([...map.range(from, to)]).toEqual(sorted(model, from, to));
        expect(map.list(from, to)).toEqual(sorted(model, from, to));
        expect(map.count(from, to)).toBe(sorted(model, from, to).length);
        for (const k of [from, to]) expect(map.get(k)?.value).toBe(model.get(k));
      }),
      { numRuns: 60 },
    );
  });

  test("an update leaves every older map unchanged", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 300, size: "max" }), (changes) => {
        const kept: { map: SortedMap<Item>; items: Item[] }[] = [];
        let map = SortedMap.empty<Item>();
        for (const next of changes) {
          kept.push({ map, items: [...map.range("", "~")] });
          map = apply(map, next);
        }

        for (const { map: old, items } of kept) expect([...old.range("", "~")]).toEqual(items);
      }),
      { numRuns: 30 },
    );
  });

  test("an editor gives the same maps as single updates, and leaves every returned map unchanged", () => {
    const step = fc.record({ change, isKept: fc.nat(20).map((n) => n === 0) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 1000, size: "max" }), (steps) => {
        const kept: { map: SortedMap<Item>; items: Item[] }[] = [];
        let map = SortedMap.fromSorted(sorted(new Map([["k1", 1]]), "", "~"));
        const editor = map.edit();
        for (const { change: next, isKept } of steps) {
          map = apply(map, next);
          if (next.value === undefined) editor.delete(next.key);
          else editor.set({ key: next.key, value: next.value });
          expect(editor.get(next.key)?.value).toBe(next.value);
          if (isKept) kept.push({ map: editor.map(), items: [...map.range("", "~")] });
        }

        expect([...editor.map().range("", "~")]).toEqual([...map.range("", "~")]);
        for (const { map: old, items } of kept) {
          expect([...old.range("", "~")]).toEqual(items);
          expect(old.size).toBe(items.length);
          expect(old.count("k2", "k3")).toBe(
            items.filter((item) => item.key >= "k2" && item.key < "k3").length,
          );
        }
      }),
      { numRuns: 60 },
    );
  });

  test("a map made from sorted values equals one made by single updates", () => {
    const items = Array.from({ length: 5000 }, (_, n) => ({
      key: `k${String(n).padStart(5, "0")}`,
      value: n,
    }));

    const bulk = SortedMap.fromSorted(items);
    let single = SortedMap.empty<Item>();
    for (const item of items) single = single.set(item);

    expect([...bulk.range("", "~")]).toEqual([...single.range("", "~")]);
    expect(bulk.count("k01000", "k02000")).toBe(1000);
    expect(bulk.get("k04999")?.value).toBe(4999);
    expect(bulk.get("k05000")).toBeUndefined();
  });

  test("a map that lost all its keys is empty and can grow again", () => {
    const items = Array.from({ length: 1000 }, (_, n) => ({ key: `k${String(n)}`, value: n }));
    let map = SortedMap.empty<Item>();
    for (const item of items) map = map.set(item);
    for (const item of items) map = map.delete(item.key);

    expect(map.size).toBe(0);
    expect([...map.range("", "~")]).toEqual([]);
    expect(map.set({ key: "a", value: 1 }).get("a")).toEqual({ key: "a", value: 1 });
  });

  test("two maps of one origin report the keys whose values differ, in order, after any changes", () => {
    const change = fc.record({ n: fc.integer({ min: 0, max: 3000 }), isRemoval: fc.boolean() });
    fc.assert(
      fc.property(fc.nat(2000), fc.array(change, { maxLength: 400 }), (size, changes) => {
        const earlier = SortedMap.fromSorted(
          Array.from({ length: size }, (_, n) => ({ key: `k${String(n).padStart(5, "0")}`, value: n })),
        );
        let later = earlier;
        for (const { n, isRemoval } of changes) {
          const key = `k${String(n).padStart(5, "0")}`;
          later = isRemoval ? later.delete(key) : later.set({ key, value: -n });
        }

        const differences = [...later.differences(earlier)];

        const keys = new Set([...earlier.range("", "~"), ...later.range("", "~")].map(({ key }) => key));
        const changed = [...keys].filter((key) => earlier.get(key) !== later.get(key)).toSorted();
        expect(differences).toEqual(
          changed.map((key) => ({ before: earlier.get(key), after: later.get(key) })),
        );
      }),
      { numRuns: 60 },
    );
  });

  test("the first difference is found without a look at the others", () => {
    const earlier = SortedMap.fromSorted(
      Array.from({ length: 20_000 }, (_, n) => ({ key: `k${String(n).padStart(5, "0")}`, value: n })),
    );
    const reads = { count: 0 };
    const editor = earlier.edit();
    for (let n = 0; n < 20_000; n += 10) {
      const key = `k${String(n).padStart(5, "0")}`;
      editor.set(
        Object.defineProperty({ key, value: -n }, "key", {
          get: () => {
            reads.count += 1;
            return key;
          },
        }),
      );
    }
    const later = editor.map();
    reads.count = 0;

    const [first] = later.differences(earlier);

    expect(first?.before?.key).toBe("k00000");
    expect(reads.count).toBeLessThan(100);
  });
});
