import type { Loop } from "../../base/loop/loop.ts";
import { pause } from "../../base/loop/pause.ts";

export interface PollOptions {
  readonly loop: Loop;
  readonly signal: AbortSignal;
  /** 0 looks once. */
  readonly timeoutMs: number;
}

const INTERVAL_MS = 100;

/** Whether the predicate came to hold within the time. It is evaluated again and again. */
export async function poll(
  { loop, signal, timeoutMs }: PollOptions,
  predicate: () => Promise<boolean>,
): Promise<boolean> {
  const end = loop.now() + timeoutMs;
  for (;;) {
    if (await predicate()) return true;
    if (loop.now() >= end || signal.aborted) return false;
    await pause(loop, { ms: Math.min(INTERVAL_MS, end - loop.now()), kind: "progress" }, signal);
  }
}
