/**
 * When things come again that need not be exact to a second. They do so on whole seconds: a process that has nothing to do wakes once for all of them. After sleeping,
 * the processor has to fetch code and data anew, which takes longer than most of what is done then.
 */
const BEAT_MS = 1000;

/** The last whole second that is at most so many milliseconds away; for less than a second, exactly that time. */
export function beatWithin(now: number, ms: number): number {
  return ms < BEAT_MS ? now + ms : Math.floor((now + ms) / BEAT_MS) * BEAT_MS;
}
