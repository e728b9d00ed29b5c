/**
 * Computes the next change of a simulated probe's result. Probes run at ticks; ticks with an unchanged result
 * are skipped.
 */
import type { TimeSpan } from "./time-span.ts";

export interface ProbeTicks {
  readonly firstAt: number;
  readonly periodMs: number;
}

/** Whether a probe at this time succeeds. */
export function isWithin({ fromMs, untilMs }: TimeSpan, at: number): boolean {
  return at >= fromMs && at < untilMs;
}

/** The first tick after `after` with a result that differs from `isSuccess`; undefined when there is none. */
export function findNextChange(
  span: TimeSpan,
  { firstAt, periodMs }: ProbeTicks,
  { after, isSuccess }: { readonly after: number; readonly isSuccess: boolean },
): number | undefined {
  const tickFrom = (at: number): number =>
    firstAt + Math.max(0, Math.ceil((at - firstAt) / periodMs)) * periodMs;
  // Results change only at both ends of the span, or at the next tick when the span was replaced.
  const candidates = [after + 1, span.fromMs, span.untilMs].map(tickFrom);
  return candidates
    .filter((at) => at > after && Number.isFinite(at) && isWithin(span, at) !== isSuccess)
    .toSorted((a, b) => a - b)[0];
}
