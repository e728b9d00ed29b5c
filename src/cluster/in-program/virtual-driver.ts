/**
 * Lets code outside a virtual loop wait for it: awaiting a request runs the loop until the response arrives, and no
 * further. Runs are sequential.
 */
import type { RunBounds, VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";

export class VirtualDriver {
  readonly #loop: VirtualLoop;
  /** Resolves when the last requested run has ended. */
  #last: Promise<void> = Promise.resolve();

  constructor(loop: VirtualLoop) {
    this.#loop = loop;
  }

  /** Settles like the promise, after running the loop until then. */
  async drive<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = (): void => {
      isSettled = true;
    };
    promise.then(settled, settled);
    await this.#next(async () => {
      if (!isSettled) await this.#loop.until(() => isSettled);
    });
    return promise;
  }

  /** Like `drive`, for a promise that may never settle: the loop runs only until it is quiet. */
  async nudge<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = (): void => {
      isSettled = true;
    };
    promise.then(settled, settled);
    await this.#next(async () => {
      if (!isSettled) await this.#loop.until(() => isSettled || this.#loop.isQuiet);
    });
    return promise;
  }

  /**
   * Like `drive`, for a promise that should end by now. Returns an error that names the obstacle if it cannot, and
   * abandons it.
   */
  async end(promise: Promise<unknown>): Promise<Error | undefined> {
    let isSettled = false;
    const settled = (): void => {
      isSettled = true;
    };
    promise.then(settled, settled);
    await this.#next(() => this.#loop.until(() => isSettled || this.#loop.isStuck));
    return isSettled ? undefined : this.#loop.stuckError();
  }

  settle(bounds: RunBounds): Promise<void> {
    return this.#next(() => this.#loop.settle(bounds));
  }

  advance(ms: number): Promise<void> {
    return this.#next(() => this.#loop.advance(ms));
  }

  until(predicate: () => boolean, bounds: RunBounds): Promise<void> {
    return this.#next(() => this.#loop.until(predicate, bounds));
  }

  #next(run: () => Promise<void>): Promise<void> {
    const running = this.#last.then(run);
    this.#last = running.catch(() => undefined);
    return running;
  }
}
