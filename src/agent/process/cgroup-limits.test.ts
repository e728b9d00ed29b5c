import { describe, expect, test } from "vitest";
import { limitFiles } from "./cgroup-limits.ts";

const NONE = { cpuRequestMillis: undefined, cpuLimitMillis: undefined, memoryLimitBytes: undefined };

function valuesOf(version: 1 | 2, limits: Partial<typeof NONE> | Parameters<typeof limitFiles>[1]) {
  return Object.fromEntries(
    limitFiles(version, { ...NONE, ...limits }).map(({ file, value }) => [file, value]),
  );
}

describe("limits in the files of a cgroup", () => {
  const limits = { cpuRequestMillis: 250, cpuLimitMillis: 1500, memoryLimitBytes: 64 * 1024 ** 2 };

  test("of version 1", () => {
    expect(valuesOf(1, limits)).toEqual({
      "memory.limit_in_bytes": "67108864",
      "cpu.cfs_quota_us": "150000",
      "cpu.shares": "256",
    });
  });

  test("of version 2", () => {
    expect(valuesOf(2, limits)).toEqual({
      "memory.max": "67108864",
      "cpu.max": "150000 100000",
      "cpu.weight": "25",
    });
  });

  test("are lifted for a container without any", () => {
    expect(valuesOf(1, NONE)).toMatchObject({ "memory.limit_in_bytes": "-1", "cpu.cfs_quota_us": "-1" });
    expect(valuesOf(2, NONE)).toMatchObject({ "memory.max": "max", "cpu.max": "max 100000" });
  });

  test("keep to the bounds of the kernel", () => {
    const tiny = { ...NONE, cpuRequestMillis: 1, cpuLimitMillis: 1 };
    const huge = { ...NONE, cpuRequestMillis: 1_000_000 };

    expect(valuesOf(1, tiny)).toMatchObject({ "cpu.cfs_quota_us": "1000", "cpu.shares": "2" });
    expect(valuesOf(2, tiny)).toMatchObject({ "cpu.max": "1000 100000", "cpu.weight": "1" });
    expect(valuesOf(2, huge)).toMatchObject({ "cpu.weight": "10000" });
  });
});
