import { describe, expect, test } from "vitest";
import type { ApiObject } from "../api/api-object.ts";
import { seededRandom } from "../base/random.ts";
import { keyOfObject } from "./cache-key.ts";
import { ObjectIndex } from "./object-index.ts";
import type { Held } from "./object-index.ts";

/** Found by the words of its annotation. */
function held(name: string, words: string): Held<ApiObject> {
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, annotations: { words } } };
  return { key: keyOfObject(object), object };
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

    for (const one of [held("c", "x"), held("a", "x y"), held("b", "y")]) index.change(undefined, one);

    expect(names(index.find("x"))).toEqual(["a", "c"]);
    expect(names(index.find("y"))).toEqual(["a", "b"]);
    expect([index.count("x"), index.count("z")]).toEqual([2, 0]);
  });

  test("follows an object to its new values", () => {
    const index = new ObjectIndex(wordsOf);
    index.change(undefined, held("a", "x y"));

    index.change(held("a", "x y"), held("a", "y z"));

    expect(["x", "y", "z"].map((value) => index.count(value))).toEqual([0, 1, 1]);
  });

  test("keeps the list it handed out as it was", () => {
    const index = new ObjectIndex(wordsOf);
    index.change(undefined, held("a", "x"));
    index.change(undefined, held("b", "x"));

    const list = index.find("x");
    index.change(held("a", "x"), undefined);

    expect(names(list)).toEqual(["a", "b"]);
    expect(names(index.find("x"))).toEqual(["b"]);
  });

  test("agrees with a search through all objects after any changes", () => {
    const random = seededRandom(5, "", "");
    const index = new ObjectIndex(wordsOf);
    const all = new Map<string, Held<ApiObject>>();
    const words = ["p", "q", "r", "s"];

    for (let round = 0; round < 2000; round++) {
      const name = `o${random.below(40)}`;
      const before = all.get(name);
      const isGone = before !== undefined && random.below(3) === 0;
      const after = isGone ? undefined : held(name, words.filter(() => random.below(2) === 0).join(" "));
      index.change(before, after);
      if (after === undefined) all.delete(name);
      else all.set(name, after);
    }

    for (const word of words) {
      const expected = [...all]
        .filter(([, { object }]) => wordsOf(object).includes(word))
        .map(([name]) => name);
      expect(names(index.find(word))).toEqual(expected.toSorted());
    }
  });
});
