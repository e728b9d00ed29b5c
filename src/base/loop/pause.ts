import type { Loop, TimerKind } from "./loop.ts";

/** How long a pause lasts, and whether the virtual loop waits for it. */
export interface Pause {
  readonly ms: number;
  /** `periodic` for pauses that repeat forever. */
  readonly kind: TimerKind;
}

/** Resolves after the time, or as soon as the signal is aborted. */
export function pause(loop: Loop, { ms, kind }: Pause, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const end = (): void => {
      timer.cancel();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = loop.timer(loop.now() + ms, kind, end);
    signal?.addEventListener("abort", end, { once: true });
  });
}
