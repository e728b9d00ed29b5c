/** A bounded LRU cache of decisions that expire. */

/** Upstream's cache size. */
const ENTRIES_MAX = 8192;
/** Longer questions are not cached, because clients could fill the memory with them. Upstream's limit. */
const QUESTION_CHARS_MAX = 10_000;

interface Kept<T> {
  readonly decision: T;
  readonly until: number;
}

export class DecisionCache<T> {
  readonly #entries = new Map<string, Kept<T>>();
  readonly #max: number;

  constructor(max: number = ENTRIES_MAX) {
    this.#max = max;
  }

  find(question: string, now: number): T | undefined {
    const kept = this.#entries.get(question);
    if (kept === undefined) return undefined;
    this.#entries.delete(question);
    if (kept.until <= now) return undefined;
    this.#entries.set(question, kept);
    return kept.decision;
  }

  keep(question: string, decision: T, until: number): void {
    if (question.length > QUESTION_CHARS_MAX) return;
    this.#entries.delete(question);
    this.#entries.set(question, { decision, until });
    if (this.#entries.size <= this.#max) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }
}
