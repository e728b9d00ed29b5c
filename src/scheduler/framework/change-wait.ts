/** Waits for others to change claims or volumes, within a bound. */

import type { PluginContext } from "./plugin.ts";

export interface ChangeWait {
  /** Asked at once and after each change. Throws when there is nothing to wait for any more. */
  readonly isDone: () => boolean;
  readonly timeoutMs: number;
  readonly timeoutMessage: string;
  readonly signal: AbortSignal;
}

export function untilDone(context: PluginContext, wait: ChangeWait): Promise<void> {
  const { loop } = context;
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      unsubscribe();
      timer.cancel();
      settle();
    };
    const look = (): void => {
      try {
        wait.signal.throwIfAborted();
        if (wait.isDone()) end(resolve);
      } catch (error) {
        end(() => reject(error instanceof Error ? error : new Error(String(error))));
      }
    };
    const onTimeout = (): void => end(() => reject(new Error(wait.timeoutMessage)));
    const unsubscribe = context.onVolumeChange(look);
    // A wait for somebody else is no work of ours: nothing is due before it ends.
    const timer = loop.timer(loop.now() + wait.timeoutMs, "periodic", onTimeout);
    look();
  });
}
