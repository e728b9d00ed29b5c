/** Runs one periodic task until the server stops. */
import type { Log } from "../../base/log/log.ts";
import { backoffMs } from "../../base/loop/backoff.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { pause } from "../../base/loop/pause.ts";
import { isStoreError } from "../../store/store-error.ts";
import type { PeriodicTask } from "./periodic-task.ts";

const BACKOFF_BASE_MS = 200;
/** Upper bound of the wait for `end`, so that an unresponsive store does not block the exit. */
const END_MS = 1000;

interface Parts {
  readonly loop: Loop;
  readonly log: Log;
}

export async function runPeriodicTask(task: PeriodicTask, parts: Parts, signal: AbortSignal): Promise<void> {
  const { loop, log } = parts;
  const { name, firstAfterMs, everyMs } = task;
  const random = loop.random("routines");
  let wait: number = firstAfterMs;
  for (let failures = 0; ;) {
    await pause(loop, { ms: wait, kind: "periodic" }, signal);
    if (signal.aborted) return end(task, parts);
    try {
      await task.perform();
      failures = 0;
      wait = task.againAfterMs?.() ?? everyMs;
    } catch (error) {
      if (isStoreError(error, "Closed")) return;
      log.warn("a periodic task failed; the server will retry it", { task: name, error });
      wait = backoffMs(failures, { baseMs: BACKOFF_BASE_MS, maxMs: everyMs }, random);
      failures += 1;
    }
  }
}

async function end(task: PeriodicTask, { loop, log }: Parts): Promise<void> {
  const ended = new AbortController();
  const finish = async (): Promise<void> => {
    try {
      await task.end?.();
    } catch (error) {
      log.warn("a periodic task failed while the server stopped", { task: task.name, error });
    }
  };
  await Promise.race([finish(), pause(loop, { ms: END_MS, kind: "progress" }, ended.signal)]);
  ended.abort();
}
