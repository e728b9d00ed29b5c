import type { Loop } from "../../base/loop/loop.ts";

/** Waits, or until the signal comes. Nobody is kept from being quiet by it. */
export function pause(loop: Loop, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const end = (): void => {
      timer.cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = loop.timer(loop.now() + ms, "periodic", end);
    signal.addEventListener("abort", end);
  });
}
