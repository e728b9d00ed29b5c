/** One request of a watcher, with a deadline that moves on whenever something is heard. Past it, the request is aborted. */
import type { Loop, Timer } from "../../base/loop/loop.ts";
import { endableSignal } from "../../client/call-signal.ts";
import type { EndableSignal } from "../../client/call-signal.ts";

export class WatcherAttempt {
  readonly #loop: Loop;
  readonly #call: EndableSignal;
  #timer: Timer | undefined;
  /** By `Loop.elapsed`. */
  #deadline: number;
  #isSilent = false;

  constructor(loop: Loop, parent: AbortSignal, patienceMs: number) {
    this.#loop = loop;
    this.#call = endableSignal([parent]);
    this.#deadline = loop.elapsed() + patienceMs;
    this.#arm();
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  /** The deadline passed. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  heard(patienceMs: number): void {
    const deadline = this.#loop.elapsed() + patienceMs;
    const isSooner = deadline < this.#deadline;
    this.#deadline = deadline;
    if (isSooner) this.#arm();
  }

  /** Aborts what is still under way. */
  end(): void {
    this.#timer?.cancel();
    this.#call.release();
    this.#call.abort(new Error("the watcher needs no more of this"));
  }

  /** Armed for the deadline as it is now; when that has moved on meanwhile, armed again. Hearing something costs no timer. */
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
      this.#call.abort(new Error("nothing was heard for too long"));
    });
  }
}
