/**
 * Runs many equal tasks in batches that double in size while none fails. A task that always fails runs once, not a
 * thousand times.
 */

/** Equal to upstream's SlowStartInitialBatchSize. */
const FIRST_BATCH = 1;

/** Result of `slowStart`. */
export interface SlowStartResult {
  /** Number of tasks that succeeded. */
  readonly done: number;
  /** Errors of the batch in which a task failed. No task was started after that batch. */
  readonly errors: readonly unknown[];
}

/**
 * Runs `task` for the indexes 0 to `count - 1`, in batches of 1, 2, 4, … tasks. Stops after the first batch with a
 * failure. Errors of the tasks are part of the result.
 */
export async function slowStart(
  count: number,
  task: (index: number) => Promise<unknown>,
): Promise<SlowStartResult> {
  let done = 0;
  for (let size = FIRST_BATCH; done < count; size *= 2) {
    const batch = Math.min(size, count - done);
    const first = done;
    const results = await Promise.allSettled(Array.from({ length: batch }, (_, at) => task(first + at)));
    const errors = results.flatMap((result) =>
      result.status === "rejected" ? [result.reason as unknown] : [],
    );
    done += batch - errors.length;
    if (errors.length > 0) return { done, errors };
  }
  return { done, errors: [] };
}
