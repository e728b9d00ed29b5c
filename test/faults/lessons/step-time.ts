/**
 * The longest step of a request, in milliseconds of this thread's processor time: as long, leases, probes and other requests wait.
 * A step ends when the event loop turns, so nothing that a request does in one piece can be left out, whatever it awaits.
 */
import { existsSync, readFileSync } from "node:fs";

/** Run time of the calling thread in nanoseconds, where the system tells it: other threads collect garbage and compile meanwhile. */
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

/** Work that is too slow is so each time; a machine that is busy with other things, or a function met for the first time, is not. */
export async function fastestOf<T>(boundMs: number, work: () => Promise<T>, tries = 4): Promise<Timed<T>> {
  const timed = await longestStep(work);
  return timed.longestMs <= boundMs || tries === 1 ? timed : fastestOf(boundMs, work, tries - 1);
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
