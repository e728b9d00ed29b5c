/**
 * Splits long requests into steps, so that one request does not block the loop. Between two stages a request checks
 * how long its step has run. After a long step, the rest waits for a later step; leases, probes and other requests
 * run first.
 */
import type { Loop } from "../../base/loop/loop.ts";
import type { YieldingWork } from "../../base/loop/yielding-work.ts";

/** Two slices of the loop. */
const STEP_MS = 10;
/** Less work takes a few milliseconds at most. A typical write has some hundred units, so it is always one step. */
const LONG_UNITS = 4000;
/** Average length of a value with its name in JSON. */
const BYTES_PER_UNIT = 8;

export interface Pace {
  /** Adds the size of the request's work: the number of JSON values, as cost accounting counts them. */
  weigh(units: number): void;
  /** The same for values of known length in bytes. */
  weighBytes(bytes: number): void;
  /**
   * Undefined for a short request or a young step. Otherwise resolves in a later step; the caller must then reread
   * shared state.
   */
  rest(): Promise<void> | undefined;
}

/** For the server's own writes, which are small. */
export const UNPACED: Pace = {
  weigh: () => undefined,
  weighBytes: () => undefined,
  rest: () => undefined,
};

/** Runs the stages, and rests between two of them when the step has run long. */
export async function inStages<T>(pace: Pace, stages: YieldingWork<T>): Promise<T> {
  for (;;) {
    const stage = stages.next();
    if (stage.done === true) return stage.value;
    const resting = pace.rest();
    if (resting !== undefined) await resting;
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
