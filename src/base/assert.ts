import { AssertionError } from "node:assert";

/** Throws when something does not hold that only a bug can break. Nobody catches it below the outermost `run`. */
export function assert(condition: boolean, whatMustHold: string): asserts condition {
  if (condition) return;
  throw new AssertionError({ message: whatMustHold, stackStartFn: assert });
}
