/** Long-running things that stand and fall together. */
import { setMaxListeners } from "node:events";
import { endableSignal } from "../../client/call-signal.ts";

export type Task = (signal: AbortSignal) => Promise<void>;

/**
 * Resolves when all have ended. When one breaks, the others are aborted, and its error comes out once all have ended. A task that ends
 * because the signal was aborted has not broken.
 */
export async function runAll(signal: AbortSignal, tasks: readonly Task[]): Promise<void> {
  const together = endableSignal([signal]);
  const { signal: shared } = together;
  // Every task listens to it, and so does what the task starts.
  setMaxListeners(0, shared);
  const broken: unknown[] = [];
  const guarded = async (task: Task): Promise<void> => {
    try {
      await task(shared);
    } catch (error) {
      if (shared.aborted && error === shared.reason) return;
      broken.push(error);
      together.abort(error instanceof Error ? error : new Error("a task failed", { cause: error }));
    }
  };
  await Promise.all(tasks.map(guarded));
  together.release();
  if (broken.length > 0) throw broken[0];
}
