/** What a pass comes to. */
import type { TimerKind } from "../../base/loop/loop.ts";
import type { Causes } from "../queue/cause.ts";
import type { Outcome } from "./controller.ts";

export type PassResult =
  | { readonly type: "done" }
  | { readonly type: "vanished" }
  | { readonly type: "recheck"; readonly afterMs: number; readonly timer: TimerKind }
  | { readonly type: "failed"; readonly error: unknown }
  | { readonly type: "terminal"; readonly error: unknown }
  | { readonly type: "aborted" };

/** What is known about a pass, for whoever asks why something happened. */
export interface PassRecord {
  /** The same that requests of the pass carry as their cause. */
  readonly id: string;
  readonly controller: string;
  readonly namespace: string;
  readonly name: string;
  readonly causes: Causes;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly result: PassResult["type"];
}

/** Throws when the outcome makes no sense. */
export function resultOf(outcome: Outcome): PassResult {
  if (outcome === undefined) return { type: "done" };
  const { recheckAfterMs, timer = "progress" } = outcome;
  if (Number.isFinite(recheckAfterMs) && recheckAfterMs >= 0)
    return { type: "recheck", afterMs: recheckAfterMs, timer };
  throw new RangeError(`recheckAfterMs is a number of milliseconds, found ${recheckAfterMs}`);
}
