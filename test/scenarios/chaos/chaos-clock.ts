/** The loop of a program on a machine with a faulty clock: the clock jumps, durations stay right. */
import type { Loop } from "../../../src/base/loop/loop.ts";

export interface Clock {
  /** Milliseconds that the clock is ahead. */
  offsetMs: number;
}

export function clockedLoop(inner: Loop, clock: Clock): Loop {
  return {
    actor: inner.actor,
    get lane() {
      return inner.lane;
    },
    now: () => inner.now() + clock.offsetMs,
    elapsed: () => inner.elapsed(),
    timer: (at, kind, step) => inner.timer(at - clock.offsetMs, kind, step),
    post: (lane, step) => inner.post(lane, step),
    outside: (label, work) => inner.outside(label, work),
    inFlight: (label) => inner.inFlight(label),
    random: (stream) => inner.random(stream),
    child: (name) => clockedLoop(inner.child(name), clock),
  };
}
