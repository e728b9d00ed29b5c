/** Streams of simulated containers, which have no process: a log that says so, and sessions that fail. */
import { Readable } from "node:stream";
import type { ContainerStatus } from "../../api/generated/types/core-v1.ts";
import { timeText } from "../../api/values/time.ts";
import type { LogQuery, StreamSession } from "../runtime-handler.ts";

/** A session that ends at once, and names the way to a real process. */
export function refusedSession(container: string): StreamSession {
  const message =
    `container ${JSON.stringify(container)} is simulated, nothing is executed; ` +
    "a pod with runtimeClassName: process runs its command";
  return {
    stdin: undefined,
    stdout: undefined,
    stderr: undefined,
    resize: () => undefined,
    ended: Promise.resolve({ type: "failed", message }),
    close: () => undefined,
  };
}

/** Undefined for a container without such a run. */
export function simulatedLog(status: ContainerStatus | undefined, query: LogQuery): Readable | undefined {
  const run = status && findRun(status, query);
  if (run === undefined) return undefined;
  const { timestamps, tailLines, sinceMs = 0 } = query;
  const { startedAt = timeText(0) } = run;
  const isCut = tailLines === 0 || Date.parse(startedAt) < sinceMs;
  const line = `simulated: container ${status?.name ?? ""} started, nothing is executed\n`;
  return Readable.from(isCut ? [] : [Buffer.from(timestamps ? `${startedAt} ${line}` : line)]);
}

function findRun(
  { state, lastState }: ContainerStatus,
  { previous }: LogQuery,
): { readonly startedAt?: string } | undefined {
  if (previous) return lastState.terminated;
  return state.running ?? state.terminated ?? lastState.terminated;
}
