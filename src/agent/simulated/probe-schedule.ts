/** When the result of a simulated probe changes: probes are made tick by tick, but only ticks with another result than before are of interest. */
import type { Span } from "./span.ts";

export interface Ticks {
  readonly firstAt: number;
  readonly periodMs: number;
}

/** Whether a probe at this moment succeeds. */
export function isWithin({ fromMs, untilMs }: Span, at: number): boolean {
  return at >= fromMs && at < untilMs;
}

/** The first tick after `after` whose result is another than `isSuccess`; undefined when there is none. */
export function findNextChange(
  span: Span,
  { firstAt, periodMs }: Ticks,
  { after, isSuccess }: { readonly after: number; readonly isSuccess: boolean },
): number | undefined {
  const tickFrom = (at: number): number =>
    firstAt + Math.max(0, Math.ceil((at - firstAt) / periodMs)) * periodMs;
  // Results change only where the span begins and ends, or because it is another one since the last tick.
  const candidates = [after + 1, span.fromMs, span.untilMs].map(tickFrom);
  return candidates
    .filter((at) => at > after && Number.isFinite(at) && isWithin(span, at) !== isSuccess)
    .toSorted((a, b) => a - b)[0];
}
