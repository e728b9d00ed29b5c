/** Long work in turns: a generator yields wherever other steps of the loop may run. */
import type { Lane, Loop } from "./loop.ts";
import type { Soon } from "./soon.ts";

/** The result of the work. At once when it ends before its first `yield`. */
export function inTurns<T>(work: Generator<undefined, T>, loop: Loop, lane: Lane = "request"): Soon<T> {
  const first = work.next();
  return first.done === true ? first.value : finish(work, loop, lane);
}

async function finish<T>(work: Generator<undefined, T>, loop: Loop, lane: Lane): Promise<T> {
  for (;;) {
    await new Promise<void>((resolve) => loop.post(lane, resolve));
    const next = work.next();
    if (next.done === true) return next.value;
  }
}

/** The result of the work in one turn, for callers that nothing waits for. */
export function inOneTurn<T>(work: Generator<undefined, T>): T {
  let next = work.next();
  while (next.done !== true) next = work.next();
  return next.value;
}
