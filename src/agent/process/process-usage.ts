/** Resource usage of process pods, from cgroups or else from the processes themselves. */
import { readFileSync } from "node:fs";
import type { ContainerUsage } from "../runtime-handler.ts";
import type { CgroupUsage } from "./cgroups.ts";
import type { ContainerRun } from "./container-run.ts";
import type { ProcessHost } from "./process-host.ts";
import type { ProcessPod } from "./process-pod.ts";
import { readStart } from "./run-folder.ts";

/** Rates are averages over at least this time. */
const MIN_RATE_MS = 1000;

interface Sample {
  readonly at: number;
  readonly cpuSeconds: number;
  readonly cpuMillis: number;
}

/** Keeps the last reading of each run, from which the rate follows. */
export class UsageMeter {
  readonly #host: ProcessHost;
  readonly #samples = new WeakMap<ContainerRun, Sample>();

  constructor(host: ProcessHost) {
    this.#host = host;
  }

  read(pod: ProcessPod): readonly ContainerUsage[] {
    return [...pod.runs.values()].flatMap((run) => this.#readRun(pod, run) ?? []);
  }

  #readRun(pod: ProcessPod, run: ContainerRun): ContainerUsage | undefined {
    const start = readStart(run.folder);
    if (run.exit !== undefined || start?.type !== "started") return undefined;
    const usage = this.#host.cgroup(pod.uid, run.record.name)?.usage() ?? usageOf(run.processes());
    const now = this.#host.loop.now();
    const last = this.#samples.get(run) ?? { at: start.at, cpuSeconds: 0, cpuMillis: 0 };
    const isFresh = now - last.at < MIN_RATE_MS;
    const cpuMillis = isFresh
      ? last.cpuMillis
      : Math.max(0, ((usage.cpuSeconds - last.cpuSeconds) * 1e6) / (now - last.at));
    if (!isFresh) this.#samples.set(run, { at: now, cpuSeconds: usage.cpuSeconds, cpuMillis });
    return { name: run.record.name, startedAt: start.at, cpuMillis: Math.round(cpuMillis), ...usage };
  }
}

/** Positions behind the name in /proc/PID/stat: user and system time in ticks, resident pages. */
const USER_TIME = 11;
const SYSTEM_TIME = 12;
const RESIDENT = 21;
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;

function usageOf(pids: readonly number[]): CgroupUsage {
  let cpuSeconds = 0;
  let memoryBytes = 0;
  for (const pid of pids) {
    const fields = statFields(pid);
    cpuSeconds += (Number(fields[USER_TIME] ?? 0) + Number(fields[SYSTEM_TIME] ?? 0)) / TICKS_PER_SECOND;
    memoryBytes += Number(fields[RESIDENT] ?? 0) * PAGE_BYTES;
  }
  return { cpuSeconds, memoryBytes };
}

function statFields(pid: number): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch (error) {
    if (error instanceof Error && "code" in error) return [];
    throw error;
  }
}
