import type { Loop } from "../base/loop/loop.ts";
import { pause } from "../base/loop/pause.ts";

/** Waits one period, for periodic routines. Resolves to false once the signal is aborted. */
export async function nextPeriod(loop: Loop, periodMs: number, signal: AbortSignal): Promise<boolean> {
  await pause(loop, { ms: periodMs, kind: "periodic" }, signal);
  return !signal.aborted;
}
