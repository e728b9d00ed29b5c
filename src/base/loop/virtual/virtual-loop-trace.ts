import type { Lane, TimerKind } from "../loop.ts";
import { hash32 } from "../random.ts";

export type StepKind = Lane | TimerKind | "outside";

/** The steps so far. Two runs with the same trace made the same choices. */
export interface Trace {
  readonly steps: number;
  /** Hash over actor, kind and virtual time of every step, in order. */
  readonly hash: string;
  /** The last steps as text, oldest first; their number is the `record` option of the loop. */
  readonly recent: readonly string[];
}

interface RecordedStep {
  readonly number: number;
  readonly elapsedMs: number;
  readonly actor: string;
  readonly kind: StepKind;
}

export class TraceRecorder {
  readonly #recordMax: number;
  readonly #recorded: RecordedStep[] = [];
  #steps = 0;
  #high = 0x9e3779b9;
  #low = 0x243f6a88;

  constructor(recordMax: number) {
    this.#recordMax = recordMax;
  }

  get steps(): number {
    return this.#steps;
  }

  /** `tag` is the hash of actor and kind. */
  add(step: { actor: string; kind: StepKind; tag: number }, elapsedMs: number): void {
    this.#steps++;
    this.#high = Math.imul((this.#high ^ step.tag) + (this.#low << 5), 0x85ebca6b) ^ (this.#low >>> 7);
    this.#low = Math.imul((this.#low ^ this.#high) + elapsedMs, 0xc2b2ae35) ^ (this.#high >>> 11);
    if (this.#recordMax === 0) return;
    const slot = (this.#steps - 1) % this.#recordMax;
    this.#recorded[slot] = { number: this.#steps, elapsedMs, actor: step.actor, kind: step.kind };
  }

  read(): Trace {
    const recent = this.#recorded
      .toSorted((a, b) => a.number - b.number)
      .map(({ number, elapsedMs, actor, kind }) => `#${number} +${elapsedMs}ms ${actor} ${kind}`);
    return { steps: this.#steps, hash: hex(this.#high) + hex(this.#low), recent };
  }
}

export function stepTag(actor: string, kind: StepKind): number {
  return hash32(`${actor}\0${kind}`);
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, "0");
}
