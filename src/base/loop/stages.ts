/** Long work in stages: a generator that yields where its caller may let others run, and returns what it made. */
export type Stages<T> = Generator<void, T>;

/** All stages at once. */
export function completed<T>(stages: Stages<T>): T {
  for (;;) {
    const stage = stages.next();
    if (stage.done === true) return stage.value;
  }
}
