/** Walks over many items in slices, so that no step of the loop handles all of them. */
import type { YieldingWork } from "./yielding-work.ts";

/** Upper bound of the items that one step handles. At 20 µs an item a step takes 5 ms. */
export const SLICE_ITEMS = 256;

/** Handles the items in order, and yields after each slice. */
export function* inSlices<T>(items: Iterable<T>, handle: (item: T) => void): YieldingWork<void> {
  let left = SLICE_ITEMS;
  for (const item of items) {
    if (left === 0) {
      yield;
      left = SLICE_ITEMS;
    }
    left -= 1;
    handle(item);
  }
}
