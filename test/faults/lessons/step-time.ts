/**
 * Longest step of a request in milliseconds of this thread's processor time: leases, probes and other requests wait that long. A step ends
 * when the event loop turns, so no work in one piece is left out, whatever the request awaits.
 */
import { existsSync, readFileSync } from "node:fs";

/** Run time of the calling thread in nanoseconds, where the system reports it: other threads collect garbage and compile meanwhile. */
const THREAD_STAT = "/proc/thread-self/schedstat";
const hasThreadStat = existsSync(THREAD_STAT);

function usedMs(): number {
  if (hasThreadStat) return Number(readFileSync(THREAD_STAT, "utf8").split(" ", 1)[0]) / 1e6;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

export interface Timed<T> {
  readonly longestMs: number;
  readonly value: T;
}

async function longestStep<T>(work: () => Promise<T>): Promise<Timed<T>> {
  await turn();
  let longestMs = 0;
  let isOver = false;
  let since = usedMs();
  const note = (): void => {
    const now = usedMs();
    longestMs = Math.max(longestMs, now - since);
    since = now;
  };
  const watch = async (): Promise<void> => {
    while (!isOver) {
      await turn();
      note();
    }
  };
  const watched = watch();
  try {
    const value = await work();
    note();
    return { longestMs, value };
  } finally {
    isOver = true;
    await watched;
  }
}

/** Slow work is slow each time; a busy machine, or code that is not compiled yet, is not. */
export async function fastestOf<T>(boundMs: number, work: () => Promise<T>, tries = 4): Promise<Timed<T>> {
  const timed = await longestStep(work);
  return timed.longestMs <= boundMs || tries === 1 ? timed : fastestOf(boundMs, work, tries - 1);
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
