/**
 * Aligns periodic work to whole seconds when a second of difference does not matter. An idle process then wakes once
 * for all of it. Waking is expensive: the processor must fetch code and data again, which takes longer than most of
 * the work.
 */
const SECOND_MS = 1000;

/** The last whole second at most `ms` away. Periods below a second are exact. */
export function wholeSecondWithin(now: number, ms: number): number {
  return ms < SECOND_MS ? now + ms : Math.floor((now + ms) / SECOND_MS) * SECOND_MS;
}
