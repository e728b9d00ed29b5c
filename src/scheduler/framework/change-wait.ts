/** Waits, within a bound, for changes of claims or volumes by other components. */

import type { PluginContext } from "./scheduler-plugin.ts";

export interface ChangeWait {
  /** Called at once and after each change. Throws if the wait is pointless. */
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
    const check = (): void => {
      try {
        wait.signal.throwIfAborted();
        if (wait.isDone()) end(resolve);
      } catch (error) {
        end(() => reject(error instanceof Error ? error : new Error(String(error))));
      }
    };
    const onTimeout = (): void => end(() => reject(new Error(wait.timeoutMessage)));
    const unsubscribe = context.onVolumeChange(check);
    // Periodic timer: waiting for another component does not count as pending work.
    const timer = loop.timer(loop.now() + wait.timeoutMs, "periodic", onTimeout);
    check();
  });
}
