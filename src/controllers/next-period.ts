import type { Loop } from "../base/loop/loop.ts";

/** Waits one period, for periodic routines. Resolves to false once the signal is aborted. */
export function nextPeriod(loop: Loop, periodMs: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const finish = (): void => {
      timer.cancel();
      signal.removeEventListener("abort", finish);
      resolve(!signal.aborted);
    };
    const timer = loop.timer(loop.now() + periodMs, "periodic", finish);
    signal.addEventListener("abort", finish, { once: true });
    if (signal.aborted) finish();
  });
}
