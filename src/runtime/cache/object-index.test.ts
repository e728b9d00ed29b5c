import { describe, expect, test } from "vitest";
import type { ApiObject } from "../../api/api-object.ts";
import { seededRandom } from "../../base/loop/random.ts";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { keyOfObject } from "../refs/cache-key.ts";
import { ObjectIndex } from "./object-index.ts";
import type { CacheEntry } from "./object-index.ts";

/** An entry that the index finds by the words of its annotation. */
function entry(name: string, words: string): CacheEntry<ApiObject> {
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, annotations: { words } } };
  return { key: keyOfObject(object), object };
}

/** Puts a newer state of the object into its entry. */
function replace(index: ObjectIndex<ApiObject>, place: CacheEntry<ApiObject>, words: string): void {
  const before = place.object;
  place.object = entry(before.metadata.name ?? "", words).object;
  index.replace(before, place);
}

function wordsOf({ metadata }: ApiObject): readonly string[] {
  return (metadata.annotations?.["words"] ?? "").split(" ").filter((word) => word !== "");
}

function names(objects: readonly ApiObject[]): readonly (string | undefined)[] {
  return objects.map(({ metadata }) => metadata.name);
}

describe("ObjectIndex", () => {
  test("finds objects by each of their values, in order of their keys", () => {
    const index = new ObjectIndex(wordsOf);

    for (const one of [entry("c", "x"), entry("a", "x y"), entry("b", "y")]) index.add(one);

    expect(names(index.find("x"))).toEqual(["a", "c"]);
    expect(names(index.find("y"))).toEqual(["a", "b"]);
    expect([index.count("x"), index.count("z")]).toEqual([2, 0]);
  });

  test("follows an object from its old values to its new ones", () => {
    const index = new ObjectIndex(wordsOf);
    const place = entry("a", "x y");
    index.add(place);

    replace(index, place, "y z");

    expect(["x", "y", "z"].map((value) => index.count(value))).toEqual([0, 1, 1]);
  });

  test("replaces an object with 20,000 values in linear time", () => {
    const loop = createRealLoop({ name: "test" });
    const words = Array.from({ length: 20_000 }, (_, at) => `word-${String(at)}`);
    const index = new ObjectIndex(wordsOf);
    const place = entry("a", words.join(" "));
    index.add(place);
    const startedAt = loop.elapsed();

    replace(index, place, [...words.slice(1), "other"].join(" "));

    expect(loop.elapsed() - startedAt).toBeLessThan(500);
    expect(["word-0", "word-1", "other"].map((value) => index.count(value))).toEqual([0, 1, 1]);
  });

  test("leaves a returned list unchanged", () => {
    const index = new ObjectIndex(wordsOf);
    const place = entry("a", "x");
    index.add(place);
    index.add(entry("b", "x"));

    const list = index.find("x");
    index.remove(place);

    expect(names(list)).toEqual(["a", "b"]);
    expect(names(index.find("x"))).toEqual(["b"]);
  });

  test("returns a new list with the newest state of an object whose values stay", () => {
    const index = new ObjectIndex(wordsOf);
    const place = entry("a", "x");
    index.add(place);
    index.add(entry("b", "x"));

    const [old] = index.find("x");
    replace(index, place, "x");

    expect(index.find("x")[0]).toBe(place.object);
    expect(old).not.toBe(place.object);
  });

  test("agrees with a scan of all objects after any changes", () => {
    const random = seededRandom(5, "", "");
    const index = new ObjectIndex(wordsOf);
    const all = new Map<string, CacheEntry<ApiObject>>();
    const words = ["p", "q", "r", "s"];

    for (let round = 0; round < 2000; round++) {
      const name = `o${random.below(40)}`;
      const before = all.get(name);
      const isGone = before !== undefined && random.below(3) === 0;
      const after = entry(name, words.filter(() => random.below(2) === 0).join(" "));
      if (before === undefined) {
        all.set(name, after);
        index.add(after);
      } else if (isGone) {
        all.delete(name);
        index.remove(before);
      } else replace(index, before, words.filter(() => random.below(2) === 0).join(" "));
    }

    for (const word of words) {
      const expected = [...all]
        .filter(([, { object }]) => wordsOf(object).includes(word))
        .map(([name]) => name);
      expect(names(index.find(word))).toEqual(expected.toSorted());
    }
  });

  test("is the same whether filled at once or by single additions", () => {
    const entries = ["x y", "x x", "", "y"].map((words, at) => entry(`o${String(at)}`, words));
    const [filled, added] = [new ObjectIndex(wordsOf), new ObjectIndex(wordsOf)];
    filled.fill(entries);
    for (const each of entries) added.add(each);

    for (const index of [filled, added]) {
      index.add(entry("o9", "y"));
      expect([...index.values()].toSorted()).toEqual(["x", "y"]);
      expect(["x", "y"].map((word) => names(index.find(word)))).toEqual([
        ["o0", "o1"],
        ["o0", "o3", "o9"],
      ]);
    }
  });
});
