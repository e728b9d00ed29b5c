import { describe, expect, test } from "vitest";
import { LinkedList } from "./linked-list.ts";

function items<T>(list: LinkedList<T>): (T | undefined)[] {
  const found: (T | undefined)[] = [];
  for (let link = list.first; link !== undefined; link = link.after) found.push(link.item);
  return found;
}

describe("a list", () => {
  test("keeps the order of its items when others are removed", () => {
    const list = new LinkedList<string>();
    const [a, b, c, d] = ["a", "b", "c", "d"].map((item) => list.add(item));
    if (a === undefined || b === undefined || c === undefined || d === undefined)
      throw new Error("expected four");

    list.remove(b);
    const withoutMiddle = items(list);
    list.remove(a);
    list.remove(d);
    list.add("e");

    expect(withoutMiddle).toEqual(["a", "c", "d"]);
    expect(items(list)).toEqual(["c", "e"]);
    expect(list.length).toBe(2);
  });

  test("accepts new items after all were removed", () => {
    const list = new LinkedList<string>();
    list.remove(list.add("a"));
    const whenEmpty = [list.first, list.length];

    list.add("b");

    expect(whenEmpty).toEqual([undefined, 0]);
    expect(items(list)).toEqual(["b"]);
  });

  test("a removed link has no neighbours, and its second removal is a no-op", () => {
    const list = new LinkedList<string>();
    const [, middle] = [list.add("a"), list.add("b"), list.add("c")];

    const removals = [list.remove(middle), list.remove(middle)];

    expect(middle).toEqual({ item: undefined, before: undefined, after: undefined });
    expect(removals).toEqual(["b", undefined]);
    expect(items(list)).toEqual(["a", "c"]);
  });
});
