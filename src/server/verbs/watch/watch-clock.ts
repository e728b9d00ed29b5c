/** The times at which a watch sends a bookmark and ends. */
import type { Loop, Timer } from "../../../base/loop/loop.ts";

/** Minimum duration without timeoutSeconds. A random part of the same length is added, so that clients do not reconnect all at once. */
const MIN_DURATION_MS = 30 * 60_000;
/** Same as kube-apiserver's. */
const BOOKMARK_EVERY_MS = 60_000;
/** Time between the last bookmark and the end, same as kube-apiserver's. The client continues from that bookmark. */
const LAST_BOOKMARK_MS = 2_000;

export interface Alarm {
  readonly type: "bookmark" | "end";
  readonly at: number;
}

export function nextAlarm(now: number, endAt: number): Alarm {
  const last = endAt - LAST_BOOKMARK_MS;
  if (now >= last) return { type: "end", at: endAt };
  return { type: "bookmark", at: Math.min(last, now + BOOKMARK_EVERY_MS) };
}

export class WatchClock {
  readonly #loop: Loop;
  readonly #endAt: number;
  /** One timer for the whole watch. A timer for each batch would cost as much as the batch. */
  #timer: Timer | undefined;

  /** The duration of the watch counts from now on. */
  constructor(loop: Loop, timeoutSeconds: number | undefined) {
    this.#loop = loop;
    const random = loop.random("watch-duration");
    this.#endAt =
      loop.now() +
      (timeoutSeconds === undefined || timeoutSeconds === 0
        ? MIN_DURATION_MS * (1 + random.next())
        : timeoutSeconds * 1000);
  }

  /** Calls `ring` for each bookmark and at the end. */
  start(ring: (type: Alarm["type"]) => void): void {
    const { type, at } = nextAlarm(this.#loop.now(), this.#endAt);
    this.#timer = this.#loop.timer(at, "periodic", () => {
      if (type === "bookmark") this.start(ring);
      ring(type);
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }
}
