/**
 * Aligns periodic work to whole seconds when a second of difference does not matter. An idle process then wakes once
 * for all of it. Waking is expensive: the processor must fetch code and data again, which takes longer than most of
 * the work.
 */
const BEAT_MS = 1000;

/** The last whole second at most `ms` away. Periods below a second are exact. */
export function beatWithin(now: number, ms: number): number {
  return ms < BEAT_MS ? now + ms : Math.floor((now + ms) / BEAT_MS) * BEAT_MS;
}
