import { describe, expect, test } from "vitest";
import { Chain } from "./chain.ts";

function items<T>(chain: Chain<T>): (T | undefined)[] {
  const found: (T | undefined)[] = [];
  for (let link = chain.first; link !== undefined; link = link.after) found.push(link.item);
  return found;
}

describe("a chain", () => {
  test("keeps the order in which things came, whoever leaves", () => {
    const chain = new Chain<string>();
    const [a, b, c, d] = ["a", "b", "c", "d"].map((item) => chain.add(item));
    if (a === undefined || b === undefined || c === undefined || d === undefined)
      throw new Error("expected four");

    chain.remove(b);
    const withoutMiddle = items(chain);
    chain.remove(a);
    chain.remove(d);
    chain.add("e");

    expect(withoutMiddle).toEqual(["a", "c", "d"]);
    expect(items(chain)).toEqual(["c", "e"]);
    expect(chain.length).toBe(2);
  });

  test("is empty, and takes new ones, when all have left", () => {
    const chain = new Chain<string>();
    chain.remove(chain.add("a"));
    const whenEmpty = [chain.first, chain.length];

    chain.add("b");

    expect(whenEmpty).toEqual([undefined, 0]);
    expect(items(chain)).toEqual(["b"]);
  });

  test("what has left points to nobody, and leaves only once", () => {
    const chain = new Chain<string>();
    const [, middle] = [chain.add("a"), chain.add("b"), chain.add("c")];

    const removals = [chain.remove(middle), chain.remove(middle)];

    expect(middle).toEqual({ item: undefined, before: undefined, after: undefined });
    expect(removals).toEqual(["b", undefined]);
    expect(items(chain)).toEqual(["a", "c"]);
  });
});
