/** Random actions on an engine and on the model; after each they must agree. A failure prints the seed and the shortest list of actions. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { actions } from "./store-actions.ts";
import { ModelSession, type SessionCounts } from "./store-model-session.ts";
import type { StoreEngine } from "./store-world.ts";

export interface ModelRunOptions {
  readonly runs: number;
  /** No further run starts after this. */
  readonly limitMs: number;
  readonly time: "passes" | "stands";
}

/** Fixed, so that every machine runs the same; SETPOINT_SEED tries another. */
const DEFAULT_SEED = 20261115;

export function storeModelRun(engine: StoreEngine, { runs, limitMs, time }: ModelRunOptions): void {
  describe(`the ${engine.name} store and its model`, () => {
    test("agree after random actions", { timeout: limitMs + 30_000 }, async () => {
      const counts: SessionCounts = {
        commits: 0,
        refusals: 0,
        endings: 0,
        reads: 0,
        watched: 0,
        compactions: 0,
        reopens: 0,
      };
      const property = fc.asyncProperty(
        fc.nat(),
        actions({ durability: engine.durability, time }),
        async (seed, list) => {
          await using world = await engine.open(seed);
          const session = new ModelSession(world, engine, counts);
          for (const action of list) await session.perform(action);
          await session.finish();
        },
      );

      await fc.assert(property, {
        seed: Number(process.env["SETPOINT_SEED"] ?? DEFAULT_SEED),
        numRuns: runs,
        interruptAfterTimeLimit: limitMs,
        markInterruptAsFailure: false,
      });

      const rare = { endings: time === "passes", reopens: engine.durability === "durable" };
      for (const [what, count] of Object.entries(counts)) {
        if (!(what in rare) || rare[what as keyof typeof rare]) expect(count, what).toBeGreaterThan(0);
      }
      expect(counts.commits).toBeGreaterThan(100);
      expect(counts.watched).toBeGreaterThan(100);
    });
  });
}
