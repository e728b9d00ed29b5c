/**
 * Limits concurrent writes: one in flight per subject, and a fixed number in all. Of several waiting writes of one
 * subject, only the last is kept.
 */

/** Enough for many writes to share a commit, few enough that other writers do not wait long. */
const WRITES_MAX = 128;

type Write = () => Promise<void>;

export class WriteLimiter<Subject> {
  readonly #limit: number;
  readonly #waiting = new Map<Subject, Write>();
  readonly #busy = new Set<Subject>();
  #onQuiet: (() => void) | undefined;

  constructor(limit = WRITES_MAX) {
    this.#limit = limit;
  }

  /**
   * The write must not reject. Returns false when a write of the subject is in flight: the caller must decide again
   * later.
   */
  send(subject: Subject, write: Write): boolean {
    if (this.#busy.has(subject)) return false;
    if (this.#busy.size >= this.#limit) this.#waiting.set(subject, write);
    else this.#begin(subject, write);
    return true;
  }

  /** Drops the waiting writes and resolves when none is in flight. */
  async quiet(): Promise<void> {
    this.#waiting.clear();
    if (this.#busy.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#onQuiet = resolve;
    });
  }

  #begin(subject: Subject, write: Write): void {
    this.#waiting.delete(subject);
    this.#busy.add(subject);
    const end = (): void => this.#ended(subject);
    write().then(end, end);
  }

  #ended(subject: Subject): void {
    this.#busy.delete(subject);
    for (const [next, write] of this.#waiting) {
      this.#begin(next, write);
      break;
    }
    if (this.#busy.size === 0) this.#onQuiet?.();
  }
}
