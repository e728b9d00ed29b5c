import { describe, expect, test } from "vitest";
import { Chain } from "./chain.ts";

function items<T>(chain: Chain<T>): (T | undefined)[] {
  const found: (T | undefined)[] = [];
  for (let link = chain.first; link !== undefined; link = link.after) found.push(link.item);
  return found;
}

describe("a chain", () => {
  test("keeps the order of its items when others are removed", () => {
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

  test("accepts new items after all were removed", () => {
    const chain = new Chain<string>();
    chain.remove(chain.add("a"));
    const whenEmpty = [chain.first, chain.length];

    chain.add("b");

    expect(whenEmpty).toEqual([undefined, 0]);
    expect(items(chain)).toEqual(["b"]);
  });

  test("a removed link has no neighbours, and its second removal is a no-op", () => {
    const chain = new Chain<string>();
    const [, middle] = [chain.add("a"), chain.add("b"), chain.add("c")];

    const removals = [chain.remove(middle), chain.remove(middle)];

    expect(middle).toEqual({ item: undefined, before: undefined, after: undefined });
    expect(removals).toEqual(["b", undefined]);
    expect(items(chain)).toEqual(["a", "c"]);
  });
});
