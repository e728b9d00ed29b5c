/**
 * Feeds the keys of all existing objects into the queue, at the start and at a resync. It adds keys only while few are
 * queued, so that neither memory nor a step grows with the number of objects.
 */
import type { ApiObject } from "../../api/api-object.ts";
import { SLICE_ITEMS } from "../../base/loop/in-slices.ts";
import type { Loop } from "../../base/loop/loop.ts";

export interface KeyFeedParts {
  readonly loop: Loop;
  /** Keys in the queue that can be taken now. */
  readonly depth: () => number;
  /** Queues the key of the object, unless it needs no pass. */
  readonly add: (object: ApiObject) => void;
}

export class KeyFeed {
  readonly #parts: KeyFeedParts;
  #rest: Iterator<ApiObject> | undefined;
  #isPosted = false;

  constructor(parts: KeyFeedParts) {
    this.#parts = parts;
  }

  /** Begins with these objects. The rest of an earlier walk is dropped: this one includes it. */
  begin(objects: Iterable<ApiObject>): void {
    this.#rest = objects[Symbol.iterator]();
    this.#feed();
  }

  /** Call after a key was taken from the queue. */
  taken(): void {
    if (this.#rest !== undefined && this.#isLow) this.#post();
  }

  end(): void {
    this.#rest = undefined;
  }

  get #isLow(): boolean {
    return this.#parts.depth() < SLICE_ITEMS;
  }

  #post(): void {
    if (this.#isPosted) return;
    this.#isPosted = true;
    this.#parts.loop.post("loop", () => {
      this.#isPosted = false;
      this.#feed();
    });
  }

  #feed(): void {
    for (let left = SLICE_ITEMS; left > 0; left--) {
      const next = this.#rest?.next();
      if (next === undefined) return;
      if (next.done === true) return this.end();
      this.#parts.add(next.value);
    }
    if (this.#isLow) this.#post();
  }
}
