/** CPU, memory and long steps of a server that runs as a process of its own, as Linux and the server's log tell them. */
import { readFileSync } from "node:fs";

/** Clock ticks a second in `/proc`. */
const TICKS = 100;

/** CPU time that the process has used so far, user and system. */
export function cpuMsOf(pid: number): number {
  const fields =
    readFileSync(`/proc/${String(pid)}/stat`, "utf8")
      .split(") ")[1]
      ?.split(" ") ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS;
}

/** Resident memory of the process in MB. */
export function memoryMbOf(pid: number): number {
  const status = readFileSync(`/proc/${String(pid)}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1000;
}

/** Steps of one actor that blocked the server's loop. */
export interface LongSteps {
  readonly actor: string;
  readonly count: number;
  readonly longestMs: number;
}

/** Reads the server's log lines about steps above 50 ms. Longest actor first. */
export function longStepsIn(log: string): readonly LongSteps[] {
  const byActor = new Map<string, LongSteps>();
  for (const line of log.split("\n")) {
    if (!line.includes("blocked the event loop")) continue;
    const actor = /\bactor="?([^\s"]+)/.exec(line)?.[1] ?? "unknown";
    const ms = Number(/\bdurationMs=(\d+)/.exec(line)?.[1] ?? 0);
    const known = byActor.get(actor) ?? { actor, count: 0, longestMs: 0 };
    byActor.set(actor, { actor, count: known.count + 1, longestMs: Math.max(known.longestMs, ms) });
  }
  return [...byActor.values()].toSorted((a, b) => b.longestMs - a.longestMs);
}
