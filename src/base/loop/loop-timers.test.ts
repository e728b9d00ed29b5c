import fc from "fast-check";
import { expect, test } from "vitest";
import { TimerHeap, type DueEntry } from "./loop-timers.ts";

function entry(at: number, tie: number): DueEntry {
  return { at, tie, index: -1 };
}

test("entries come out by time, then by tie, without the removed ones", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(20), fc.boolean()), { maxLength: 100 }), (drawn) => {
      const heap = new TimerHeap<DueEntry>();
      const entries = drawn.map(([at], tie) => entry(at, tie));
      for (const added of entries) heap.add(added);
      const removed = entries.filter((_, i) => drawn[i]?.[1]);
      for (const gone of [...removed, ...removed]) heap.remove(gone);

      const taken: DueEntry[] = [];
      for (let due = heap.takeDue(20); due !== undefined; due = heap.takeDue(20)) taken.push(due);

      const kept = entries.filter((_, i) => !drawn[i]?.[1]);
      expect(taken).toEqual(kept.toSorted((a, b) => a.at - b.at || a.tie - b.tie));
    }),
  );
});

test("an entry is not due before its time", () => {
  const heap = new TimerHeap<DueEntry>();
  heap.add(entry(10, 0));

  expect(heap.takeDue(9)).toBeUndefined();
  expect(heap.takeDue(10)?.at).toBe(10);
});
