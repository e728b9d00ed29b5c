import type { Loop } from "../../base/loop.ts";

/** Resolves after the time, or as soon as the signal is aborted. */
export function pause(loop: Loop, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      timer.cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = loop.timer(loop.now() + ms, "progress", end);
    signal.addEventListener("abort", end, { once: true });
  });
}
