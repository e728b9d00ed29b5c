/** Long work: a generator that yields where its caller may let others run, and returns its result. */
export type YieldingWork<T> = Generator<void, T>;

/** Runs the work to its end without a break. */
export function runToEnd<T>(work: YieldingWork<T>): T {
  for (;;) {
    const next = work.next();
    if (next.done === true) return next.value;
  }
}
