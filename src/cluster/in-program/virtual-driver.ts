/**
 * Lets code that is no actor of a virtual world wait for it: whoever awaits a request makes the world run until the request is answered,
 * and no further. Runs follow each other, never at once.
 */
import type { RunBounds, VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";

export class VirtualDriver {
  readonly #loop: VirtualLoop;
  /** Resolves when the last run that was asked for has ended. */
  #last: Promise<void> = Promise.resolve();

  constructor(loop: VirtualLoop) {
    this.#loop = loop;
  }

  /** Settles as the promise does, after letting the world run for as long as that takes. */
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

  /** The same for something that may never come: the world runs only until it is quiet. */
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

  /** The same for what should end by now. Answers what it waits for in vain, if it does, and then leaves it alone. */
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
