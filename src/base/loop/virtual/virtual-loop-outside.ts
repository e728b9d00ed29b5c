import type { Schedule } from "./virtual-loop-schedule.ts";

/** Timeout of declared outside work, in real milliseconds: far more than a slow disk needs. */
const OUTSIDE_LIMIT_MS = 10_000;

/**
 * Thrown when code on a virtual loop does outside work that was not declared: the seed does not determine its result.
 */
class DeterminismViolation extends Error {
  override readonly name = "DeterminismViolation";
  readonly actor: string;
  readonly label: string;

  constructor(actor: string, label: string) {
    super(
      `actor ${actor} uses the outside work "${label}", which was not declared to the virtual loop: ` +
        `replace it with something virtual or pass outside: ["${label}"]`,
    );
    this.actor = actor;
    this.label = label;
  }
}

interface Held {
  readonly actor: string;
  readonly label: string;
  /** Settles the promise that the actor awaits; set once the work has ended. */
  release: (() => void) | undefined;
}

/**
 * Work that ends on a thread or in the operating system, at a time that the seed does not determine. While any is in
 * flight, no step runs. Afterwards all of it settles in steps, in the order in which it was started.
 */
export class OutsideWork {
  readonly #schedule: Schedule;
  readonly #declared: ReadonlySet<string>;
  #isAllDeclared = false;
  #held: Held[] = [];
  #underWay = 0;
  #onAllEnded: (() => void) | undefined;

  constructor(schedule: Schedule, declared: readonly string[]) {
    this.#schedule = schedule;
    this.#declared = new Set(declared);
  }

  declareAll(): void {
    this.#isAllDeclared = true;
  }

  start<T>(announced: { actor: string; label: string; work: Promise<T> }): Promise<T> {
    const { actor, label, work } = announced;
    if (!this.#isAllDeclared && !this.#declared.has(label)) {
      // The caller gets the violation; the result of the work is ignored.
      work.then(undefined, () => undefined);
      return Promise.reject(new DeterminismViolation(actor, label));
    }
    const held: Held = { actor, label, release: undefined };
    this.#held.push(held);
    this.#underWay++;
    return new Promise<T>((resolve, reject) => {
      work.then(
        (value) => this.#ended(held, () => resolve(value)),
        (error: unknown) => this.#ended(held, () => reject(error)),
      );
    });
  }

  get isHeld(): boolean {
    return this.#held.length > 0;
  }

  /** Waits until all work has ended and posts its results as steps. */
  async release(): Promise<void> {
    if (this.#underWay > 0) await this.#allEnded();
    const held = this.#held;
    this.#held = [];
    for (const { actor, release } of held) {
      if (release !== undefined) this.#schedule.post(this.#schedule.queue(actor, "outside"), release);
    }
  }

  #ended(held: Held, release: () => void): void {
    held.release = release;
    this.#underWay--;
    if (this.#underWay === 0) this.#onAllEnded?.();
  }

  #allEnded(): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = realSetTimeout(() => reject(this.#stuckError()), OUTSIDE_LIMIT_MS);
      this.#onAllEnded = () => {
        realClearTimeout(giveUp);
        this.#onAllEnded = undefined;
        resolve();
      };
    });
  }

  #stuckError(): Error {
    const stuck = this.#held.filter((held) => held.release === undefined);
    const names = stuck.map(({ actor, label }) => `${actor}: "${label}"`).join("; ");
    return new Error(`outside work did not end within ${OUTSIDE_LIMIT_MS} ms of real time: ${names}`);
  }
}

/** Kept from before a test can replace the globals. */
const realSetTimeout = setTimeout;
const realClearTimeout = clearTimeout;
