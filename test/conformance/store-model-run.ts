/** Random actions on an engine and on the model; after each they must agree. A failure prints the seed and the shortest list of actions. */
import * as fc from "fast-check";
import { describe, test } from "vitest";
import { actions } from "./store-actions.ts";
import type { StoreEngine } from "./store-fixture.ts";
import { ModelSession, type SessionCounts } from "./store-model-session.ts";

export interface ModelRunOptions {
  readonly runs: number;
  /** No further run starts after this. */
  readonly limitMs: number;
  readonly time: "passes" | "stands";
}

/** Fixed, so that every machine runs the same; SETPOINT_SEED sets another. */
const DEFAULT_SEED = 20261115;

/** `npm run test:long` runs more. */
const FACTOR = Number(process.env["SETPOINT_MODEL_FACTOR"] ?? 1);

/** A few runs, beyond the very short lists that come first. */
const RUNS_MORE = 20;

function hasHappened(
  counts: SessionCounts,
  { durability, time }: Pick<StoreEngine, "durability"> & Pick<ModelRunOptions, "time">,
): boolean {
  const { endings, reopens, ...always } = counts;
  return (
    Object.values(always).every((count) => count > 0) &&
    (time === "stands" || endings > 0) &&
    (durability !== "durable" || reopens > 0) &&
    counts.commits > 100 &&
    counts.watched > 100
  );
}

export function storeModelRun(engine: StoreEngine, { runs, limitMs, time }: ModelRunOptions): void {
  describe(`the ${engine.name} store and its model`, () => {
    test("agree after random actions", { timeout: FACTOR * limitMs + 180_000 }, async () => {
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

      const seed = Number(process.env["SETPOINT_SEED"] ?? DEFAULT_SEED);
      await fc.assert(property, {
        seed,
        numRuns: FACTOR * runs,
        interruptAfterTimeLimit: FACTOR * limitMs,
        markInterruptAsFailure: false,
      });
      // A busy machine does less until then. The test's own timeout ends it when an event never happens.
      const isDone = (): boolean => hasHappened(counts, { durability: engine.durability, time });
      for (let more = 1; !isDone(); more++)
        await fc.assert(property, { seed: seed + more, numRuns: RUNS_MORE });
    });
  });
}
