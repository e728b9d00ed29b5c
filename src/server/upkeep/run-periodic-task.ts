/** Runs one routine by the clock until the server ends. */
import { backoffMs } from "../../base/loop/backoff.ts";
import { pause } from "../../base/loop/pause.ts";
import { isStoreError } from "../../store/store-error.ts";
import type { Workshop } from "../verbs/verb.ts";
import type { Routine } from "./periodic-task.ts";

const BACKOFF_BASE_MS = 200;
/** A store that does not answer must not hold up the end of the process. */
const END_MS = 1000;

type Parts = Pick<Workshop, "loop" | "log">;

export async function runRoutine(routine: Routine, parts: Parts, signal: AbortSignal): Promise<void> {
  const { loop, log } = parts;
  const { name, firstAfterMs, everyMs } = routine;
  const random = loop.random("routines");
  let wait: number = firstAfterMs;
  for (let failures = 0; ;) {
    await pause(loop, { ms: wait, kind: "periodic" }, signal);
    if (signal.aborted) return end(routine, parts);
    try {
      await routine.perform();
      failures = 0;
      wait = everyMs;
    } catch (error) {
      if (isStoreError(error, "Closed")) return;
      log.warn("a routine of the server failed and is tried again", { routine: name, error });
      wait = backoffMs(failures, { baseMs: BACKOFF_BASE_MS, maxMs: everyMs }, random);
      failures += 1;
    }
  }
}

async function end(routine: Routine, { loop, log }: Parts): Promise<void> {
  const ended = new AbortController();
  const finish = async (): Promise<void> => {
    try {
      await routine.end?.();
    } catch (error) {
      log.warn("a routine of the server did not end well", { routine: routine.name, error });
    }
  };
  await Promise.race([finish(), pause(loop, { ms: END_MS, kind: "progress" }, ended.signal)]);
  ended.abort();
}
