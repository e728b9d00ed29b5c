/**
 * Keeps one request from holding the loop. Between two stages of its work a request asks whether its step has lasted long;
 * then the rest of the work waits for a later step, and leases, probes and other requests run before it.
 */
import type { Loop } from "../../base/loop/loop.ts";
import { type Soon, whenDone } from "../../base/loop/soon.ts";
import type { Stages } from "../../base/loop/stages.ts";

/** Two slices of the loop. */
const STEP_MS = 10;
/** Less takes a few milliseconds at most. A usual write has some hundred units, and is one step however busy the machine is. */
const LONG_UNITS = 4000;
/** A value and its name in JSON. */
const BYTES_PER_UNIT = 8;

export interface Pace {
  /** What the request turned out to be about: values, as they are charged. */
  weigh(units: number): void;
  /** The same for values that are known by their length. */
  weighBytes(bytes: number): void;
  /** Undefined for a short request, and while the step is young. Otherwise resolves in a later step: the caller must read shared state again. */
  rest(): Promise<void> | undefined;
}

/** For the server's own writes, which are small. */
export const UNPACED: Pace = {
  weigh: () => undefined,
  weighBytes: () => undefined,
  rest: () => undefined,
};

/** Goes on with the value: at once, or in a later step when this one has lasted long. */
export function paced<A, B>(pace: Pace | undefined, value: Soon<A>, go: (value: A) => Soon<B>): Soon<B> {
  return whenDone(value, (ready) => {
    const resting = pace?.rest();
    return resting === undefined ? go(ready) : resting.then(() => go(ready));
  });
}

/** Does the stages, with a rest between two of them where the step has lasted long. */
export function inStages<T>(pace: Pace | undefined, stages: Stages<T>): Soon<T> {
  for (;;) {
    const stage = stages.next();
    if (stage.done === true) return stage.value;
    const resting = pace?.rest();
    if (resting !== undefined) return resting.then(() => inStages(pace, stages));
  }
}

type PaceLoop = Pick<Loop, "elapsed" | "post">;

export class RequestPace implements Pace {
  readonly #loop: PaceLoop;
  #since: number;
  #isLong = false;

  constructor(loop: PaceLoop) {
    this.#loop = loop;
    this.#since = loop.elapsed();
  }

  weigh(units: number): void {
    if (units >= LONG_UNITS) this.#isLong = true;
  }

  weighBytes(bytes: number): void {
    this.weigh(bytes / BYTES_PER_UNIT);
  }

  rest(): Promise<void> | undefined {
    if (!this.#isLong) return undefined;
    const loop = this.#loop;
    if (loop.elapsed() - this.#since < STEP_MS) return undefined;
    return new Promise((resolve) => {
      loop.post("request", () => {
        this.#since = loop.elapsed();
        resolve();
      });
    });
  }
}
