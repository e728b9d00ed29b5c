/** What tests have in common of those who go by the loop's time. */
import type { Loop } from "./loop/loop.ts";

export interface SettableLoop extends Loop {
  setBack(ms: number): void;
}

/** A loop whose clock can be set back, as a machine's can. Timers that are set already come when they would have, as those of the real loop do. */
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
