/** Long work in turns: a generator yields wherever other steps of the loop may run. */
import type { Lane, Loop } from "./loop.ts";
import type { MaybePromise } from "./maybe-promise.ts";
import type { YieldingWork } from "./yielding-work.ts";

/** The result of the work. At once when it ends before its first `yield`. */
export function runInTurns<T>(work: YieldingWork<T>, loop: Loop, lane: Lane = "request"): MaybePromise<T> {
  const first = work.next();
  return first.done === true ? first.value : finish(work, loop, lane);
}

async function finish<T>(work: YieldingWork<T>, loop: Loop, lane: Lane): Promise<T> {
  for (;;) {
    await new Promise<void>((resolve) => loop.post(lane, resolve));
    const next = work.next();
    if (next.done === true) return next.value;
  }
}
