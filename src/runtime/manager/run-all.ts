/** Long-running tasks that end together. */
import { setMaxListeners } from "node:events";
import { endableSignal } from "../../client/call-signal.ts";

export type Task = (signal: AbortSignal) => Promise<void>;

/**
 * Resolves when all tasks have ended. When one fails, the others are aborted; it rejects with the first error once
 * all have ended. A task that rejects with the signal's abort reason has not failed.
 */
export async function runAll(signal: AbortSignal, tasks: readonly Task[]): Promise<void> {
  const together = endableSignal([signal]);
  const { signal: shared } = together;
  // Each task, and each thing it starts, adds a listener.
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
