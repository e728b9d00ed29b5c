import type { Schedule } from "./virtual-loop-schedule.ts";

/** Real time that declared outside work gets before the run gives up on it: far above a slow disk. */
const OUTSIDE_LIMIT_MS = 10_000;

/** Code on a virtual loop did something whose outcome the seed does not fix. */
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
  /** Settles the promise that the actor waits for. Known once the work has ended. */
  release: (() => void) | undefined;
}

/**
 * Work that ends on a thread or in the operating system. When it ends is not ours to say, so nothing runs while any of it
 * is under way; then all of it is released as steps, in the order in which it was started.
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
      // Whatever becomes of the work, the violation is what the caller hears of.
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

  /** Waits until all of it has ended and makes steps of it. */
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

/** Kept from before anybody could replace the globals. */
const realSetTimeout = setTimeout;
const realClearTimeout = clearTimeout;
