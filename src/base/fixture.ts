/** A loop for tests whose clock can be set back. */
import type { Loop } from "./loop/loop.ts";

export interface SettableLoop extends Loop {
  setBack(ms: number): void;
}

/**
 * Wraps a loop so that its clock can be set back. Timers that are already set keep their due time, as on the real
 * loop.
 */
export function settableLoop(loop: Loop): SettableLoop {
  let backMs = 0;
  return {
    actor: loop.actor,
    lane: loop.lane,
    now: () => loop.now() - backMs,
    elapsed: () => loop.elapsed(),
    timer: (at, kind, step) => loop.timer(at + backMs, kind, step),
    post: (...args) => loop.post(...args),
    outside: (...args) => loop.outside(...args),
    random: (...args) => loop.random(...args),
    inFlight: (...args) => loop.inFlight(...args),
    child: (...args) => loop.child(...args),
    setBack: (ms) => {
      backMs += ms;
    },
  };
}
