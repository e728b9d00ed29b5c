/** Collects the changes of one response up to its limits. */
import type { Change } from "../../../api/causes/change.ts";
import { stringifyJson } from "../../../api/json/json-text.ts";

/** Changes in a response without a smaller limit. */
const CHANGES_MAX = 500;
/** A page beyond it ends with the change that exceeds it. A change has at most some 200 KiB. */
const PAGE_CHARS_MAX = 4 * 1024 * 1024;

export class ChangePage {
  readonly #items: Change[] = [];
  readonly #limit: number;
  #chars = 0;

  /** `limit` 0 means no limit of the client. */
  constructor(limit: number) {
    this.#limit = limit === 0 ? CHANGES_MAX : Math.min(limit, CHANGES_MAX);
  }

  get items(): readonly Change[] {
    return this.#items;
  }

  get isFull(): boolean {
    return this.#items.length >= this.#limit || this.#chars >= PAGE_CHARS_MAX;
  }

  add(change: Change): void {
    this.#items.push(change);
    this.#chars += stringifyJson(change).length;
  }
}
