/** Makes a virtual clock follow the machine's, so that clients outside the process see a live cluster. */
import { createRealLoop } from "../../base/loop/real/real-loop.ts";

/** Interval too short for users and clients to notice. */
const TICK_MS = 5;

/** `advance` runs the loop for some milliseconds; calls never overlap. */
export class RealTimePump {
  readonly #loop = createRealLoop({ name: "pump" });
  readonly #advance: (ms: number) => Promise<void>;

  constructor(advance: (ms: number) => Promise<void>) {
    this.#advance = advance;
  }

  /** Runs until the signal aborts; rejects when `advance` fails. */
  async run(signal: AbortSignal): Promise<void> {
    let last = this.#loop.elapsed();
    while (!signal.aborted) {
      await this.#tick();
      const now = this.#loop.elapsed();
      const passedMs = Math.floor(now - last);
      last += passedMs;
      await this.#advance(passedMs);
    }
  }

  #tick(): Promise<void> {
    return new Promise((resolve) => {
      this.#loop.timer(this.#loop.now() + TICK_MS, "periodic", resolve);
    });
  }
}
