/**
 * One request of a watcher, with a timeout that restarts whenever the server sends something. After the timeout the
 * request is aborted.
 */
import type { Loop, Timer } from "../../base/loop/loop.ts";
import { endableSignal } from "../../client/call-signal.ts";
import type { EndableSignal } from "../../client/call-signal.ts";

export class WatcherAttempt {
  readonly #loop: Loop;
  readonly #call: EndableSignal;
  #timer: Timer | undefined;
  /** Elapsed time of the loop. */
  #deadline: number;
  #isSilent = false;

  constructor(loop: Loop, parent: AbortSignal, timeoutMs: number) {
    this.#loop = loop;
    this.#call = endableSignal([parent]);
    this.#deadline = loop.elapsed() + timeoutMs;
    this.#arm();
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  /** True when the request was aborted by its timeout. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** Restarts the timeout. */
  extend(timeoutMs: number): void {
    const deadline = this.#loop.elapsed() + timeoutMs;
    const isSooner = deadline < this.#deadline;
    this.#deadline = deadline;
    if (isSooner) this.#arm();
  }

  /** Ends the timeout and aborts the request if it is still in flight. */
  end(): void {
    this.#timer?.cancel();
    this.#call.release();
    this.#call.abort(new Error("the watcher has ended this request"));
  }

  /**
   * Arms the timer for the current deadline. When the deadline has moved by then, the timer is armed again. So
   * restarting the timeout costs no timer.
   */
  #arm(): void {
    this.#timer?.cancel();
    const at = this.#loop.now() + (this.#deadline - this.#loop.elapsed());
    this.#timer = this.#loop.timer(at, "periodic", () => {
      if (this.#call.signal.aborted) return;
      if (this.#loop.elapsed() < this.#deadline) {
        this.#arm();
        return;
      }
      this.#isSilent = true;
      this.#call.abort(new Error("the server sent nothing in time"));
    });
  }
}
