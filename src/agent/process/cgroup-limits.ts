/** Limits of a container as the files of its cgroup have them. */
import type { ProgramLimits } from "../runtime-handler.ts";

/** Hierarchies of version 1; version 2 has one for all. */
export type Controller = "memory" | "cpu" | "cpuacct";

export interface LimitFile {
  readonly controller: Controller;
  readonly file: string;
  readonly value: string;
}

const PERIOD_MICROS = 100_000;
/** The kernel refuses a smaller quota. */
const MIN_QUOTA_MICROS = 1000;
const MIN_SHARES = 2;
const SHARES_PER_CPU = 1024;
/** Weight of a group that has the default of 1024 shares. */
const WEIGHT_PER_CPU = 100;
const MAX_WEIGHT = 10_000;

export function limitFiles(
  version: 1 | 2,
  { memoryLimitBytes, cpuLimitMillis, cpuRequestMillis = 0 }: ProgramLimits,
): readonly LimitFile[] {
  const quota =
    cpuLimitMillis === undefined
      ? undefined
      : Math.max(MIN_QUOTA_MICROS, (cpuLimitMillis * PERIOD_MICROS) / 1000);
  const shares = Math.max(MIN_SHARES, Math.round((cpuRequestMillis * SHARES_PER_CPU) / 1000));
  if (version === 1)
    return [
      { controller: "memory", file: "memory.limit_in_bytes", value: String(memoryLimitBytes ?? -1) },
      { controller: "cpu", file: "cpu.cfs_quota_us", value: String(quota ?? -1) },
      { controller: "cpu", file: "cpu.shares", value: String(shares) },
    ];
  const weight = Math.min(MAX_WEIGHT, Math.max(1, Math.round((shares * WEIGHT_PER_CPU) / SHARES_PER_CPU)));
  return [
    { controller: "memory", file: "memory.max", value: String(memoryLimitBytes ?? "max") },
    { controller: "cpu", file: "cpu.max", value: `${String(quota ?? "max")} ${String(PERIOD_MICROS)}` },
    { controller: "cpu", file: "cpu.weight", value: String(weight) },
  ];
}
