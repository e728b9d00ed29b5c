import { AssertionError } from "node:assert";

/** Throws when an invariant is violated, which only a bug can do. No code below the outermost `run` catches it. */
export function assert(condition: boolean, whatMustHold: string): asserts condition {
  if (condition) return;
  throw new AssertionError({ message: whatMustHold, stackStartFn: assert });
}
