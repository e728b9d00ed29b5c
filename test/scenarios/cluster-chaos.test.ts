/**
 * A whole cluster with active users and faults of all kinds: some claims hold at every revision, all hold once the faults have ended.
 * `SETPOINT_CHAOS_RUNS=200 SETPOINT_SEED=1000` makes this many long runs, from that seed on.
 */
import { describe, expect, test } from "vitest";
import { runChaos } from "./chaos/chaos-run.ts";
import { runService } from "./chaos/chaos-service.ts";

const SEED = Number(process.env["SETPOINT_SEED"] ?? 1);
const LONG_RUNS = Number(process.env["SETPOINT_CHAOS_RUNS"] ?? 0);
const SHORT = { deeds: 18, restMs: 600_000 };
const LONG = { deeds: 100, restMs: 1_200_000 };
const isLong = LONG_RUNS > 0;
const SIZE = isLong ? LONG : SHORT;
const LIMIT_MS = isLong ? 600_000 : 60_000;

function seeds(shortRuns: number): readonly number[] {
  return Array.from({ length: isLong ? LONG_RUNS : shortRuns }, (_, at) => SEED + at);
}

describe("whatever people do and whatever breaks", () => {
  // One with two servers, one with one.
  test.each(seeds(2))(
    "a cluster keeps its promises and comes to rest, seed %i",
    async (seed) => {
      const { broken, log } = await runChaos({ seed, ...SIZE });

      expect(broken, log.join("\n")).toEqual([]);
    },
    LIMIT_MS,
  );
});

describe("while only the control plane breaks", () => {
  test.each(seeds(1))(
    "updates, undoings and evictions take no more away than they may, seed %i",
    async (seed) => {
      const { broken, log } = await runService({ seed, ...SIZE });

      expect(broken, log.join("\n")).toEqual([]);
    },
    LIMIT_MS,
  );
});
