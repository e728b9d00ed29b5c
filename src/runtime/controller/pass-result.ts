import type { Causes } from "../../api/causes/cause.ts";
/** Results of a pass. */
import type { TimerKind } from "../../base/loop/loop.ts";
import type { Outcome } from "./controller.ts";

export type PassResult =
  | { readonly type: "done" }
  | { readonly type: "vanished" }
  | { readonly type: "recheck"; readonly afterMs: number; readonly timer: TimerKind }
  | { readonly type: "failed"; readonly error: unknown }
  | { readonly type: "terminal"; readonly error: unknown }
  | { readonly type: "aborted" };

/** Report of one pass, for tools that explain why an object changed. */
export interface PassRecord {
  /** Id of the pass. Its requests carry the same id as their cause. */
  readonly id: string;
  /** Name of the controller. */
  readonly controller: string;
  readonly namespace: string;
  readonly name: string;
  /** Reasons why the key was queued. */
  readonly causes: Causes;
  /** Start of the pass in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Duration of the pass, in milliseconds. */
  readonly durationMs: number;
  /** How the pass ended; `vanished` when its object was gone. */
  readonly result: PassResult["type"];
  /** The error of a pass that failed. */
  readonly error?: unknown;
  /** The next pass that a `recheck` asked for. */
  readonly recheck?: { readonly afterMs: number; readonly timer: TimerKind };
}

/** Throws when the outcome is invalid. */
export function resultOf(outcome: Outcome): PassResult {
  if (outcome === undefined) return { type: "done" };
  const { recheckAfterMs, timer = "progress" } = outcome;
  if (Number.isFinite(recheckAfterMs) && recheckAfterMs >= 0)
    return { type: "recheck", afterMs: recheckAfterMs, timer };
  throw new RangeError(`recheckAfterMs is a number of milliseconds, found ${recheckAfterMs}`);
}
