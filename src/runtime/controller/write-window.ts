/** Writes that are under way at once: so many and no more, one for each subject; for a subject that waits only the last one counts. */

/** Enough that many share a commit, few enough that nobody else waits long behind them. */
const WRITES_MAX = 128;

type Write = () => Promise<void>;

export class WriteWindow<Subject> {
  readonly #limit: number;
  readonly #waiting = new Map<Subject, Write>();
  readonly #busy = new Set<Subject>();
  #onQuiet: (() => void) | undefined;

  constructor(limit = WRITES_MAX) {
    this.#limit = limit;
  }

  /** The write must not reject. False when one of the same subject is under way: then this one is not made, and has to be decided anew. */
  send(subject: Subject, write: Write): boolean {
    if (this.#busy.has(subject)) return false;
    if (this.#busy.size >= this.#limit) this.#waiting.set(subject, write);
    else this.#begin(subject, write);
    return true;
  }

  /** Resolves when nothing is under way; what waits then is not sent any more. */
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
