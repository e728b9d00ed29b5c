/** Makes the time of a virtual world follow the machine's, so that clients outside the process find a cluster that lives. */
import { createRealLoop } from "../../base/loop/real/real-loop.ts";

/** Short against what people and clients notice. */
const TICK_MS = 5;

/** `advance` runs the world for some milliseconds; it is never called again before it has ended. */
export class RealTimePump {
  readonly #loop = createRealLoop({ name: "pump" });
  readonly #advance: (ms: number) => Promise<void>;

  constructor(advance: (ms: number) => Promise<void>) {
    this.#advance = advance;
  }

  /** Until the signal is aborted; rejects when the world fails. */
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
