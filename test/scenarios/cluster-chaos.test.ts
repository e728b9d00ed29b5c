/**
 * A whole cluster among people who do what they like and faults of all kinds: some things hold at every revision, and all is well once the faults
 * have ended. `SETPOINT_CHAOS_RUNS=200 SETPOINT_SEED=1000` makes so many long runs, from that seed on.
 */
import { describe, expect, test } from "vitest";
import { runChaos } from "./chaos/chaos-run.ts";

const SEED = Number(process.env["SETPOINT_SEED"] ?? 1);
const LONG_RUNS = Number(process.env["SETPOINT_CHAOS_RUNS"] ?? 0);
const SHORT = { deeds: 25, restMs: 600_000 };
const LONG = { deeds: 100, restMs: 1_200_000 };
const SHORT_RUNS = 2;

describe("whatever people do and whatever breaks", () => {
  const isLong = LONG_RUNS > 0;
  const seeds = Array.from({ length: isLong ? LONG_RUNS : SHORT_RUNS }, (_, at) => SEED + at);

  test.each(seeds)("a cluster keeps its promises and comes to rest, seed %i", async (seed) => {
    const { broken, log } = await runChaos({ seed, ...(isLong ? LONG : SHORT) });

    expect(broken, log.join("\n")).toEqual([]);
  });
});
