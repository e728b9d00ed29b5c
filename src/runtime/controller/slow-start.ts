/** Does the same thing many times, in batches that double while all goes well: what fails at all is not repeated a thousand times at once. */

/** As upstream's controllers begin. */
const FIRST_BATCH = 1;

export interface SlowStartResult {
  readonly done: number;
  /** Of the batch in which something failed; nothing was tried after it. */
  readonly errors: readonly unknown[];
}

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
