/**
 * A process that writes without pause is killed again and again; after each restart everything it acknowledged is there.
 * SETPOINT_CRASH_CYCLES (npm run test:crash -- N) sets the number of kills, SETPOINT_SEED their moments.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Loop, Random } from "../../src/base/loop/loop.ts";
import { seededRandom } from "../../src/base/loop/random.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { openFileStore } from "../../src/store/file-store.ts";
import { AcknowledgedWrites } from "./acknowledged-writes.ts";
import { bundleCrashWriter, CrashChild } from "./crash-child.ts";

const CYCLES = Number(process.env["SETPOINT_CRASH_CYCLES"] ?? 24);
const SEED = Number(process.env["SETPOINT_SEED"] ?? 7);
/** Two stores at a time keep two cores busy. */
const CHAINS = 2;
/** Far above the time of a cycle; only ends a run that hangs. */
const CYCLE_LIMIT_MS = 60_000;
/** The longest start of a child on a busy machine; earlier kills hit stores that are being opened. */
const START_MS = 300;

let folder = "";
let program = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "setpoint-crash-"));
  program = await bundleCrashWriter(folder);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe.concurrent("a file store whose process is killed", () => {
  for (let chain = 0; chain < CHAINS; chain += 1) {
    const cycles = Math.ceil(CYCLES / CHAINS);
    test(
      `has every acknowledged write after each of ${cycles} restarts (seed ${SEED}.${chain})`,
      { timeout: (cycles + 1) * CYCLE_LIMIT_MS },
      async () => {
        const dir = join(folder, `store-${chain}`);
        const seed = SEED * CHAINS + chain;
        const ledger = new AcknowledgedWrites(seed);
        const random = seededRandom("crash moments", seed);
        const loop = createRealLoop({ name: `crash-${chain}` });
        let awaited = 0;

        for (let cycle = 0; cycle < cycles; cycle += 1) {
          const name = `cycle ${cycle} of seed ${SEED}.${chain}`;
          await inTime(loop, name, async () => {
            awaited += await runAndKill({ dir, seed, ledger, random, loop });
            await checkStore({ dir, ledger, loop, cycle });
          });
        }

        expect(awaited).toBeGreaterThan(cycles);
        expect(ledger.acknowledged).toBeGreaterThanOrEqual(awaited);
      },
    );
  }
});

test("a store whose process was killed before it made one is checked, and is empty", async () => {
  const loop = createRealLoop({ name: "crash-before" });
  const store = await openFileStore({ dir: join(folder, "never"), loop });
  const ledger = new AcknowledgedWrites(1);

  await inTime(loop, "an empty store", () => ledger.check(store));

  await store.close();
  expect(ledger.acknowledged).toBe(0);
});

/** Ends the run with the cycle's name if the cycle hangs. */
async function inTime(loop: Loop, name: string, work: () => Promise<void>): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = loop.timer(loop.now() + CYCLE_LIMIT_MS, "progress", () => {
      reject(new Error(`${name} took longer than ${CYCLE_LIMIT_MS} ms`));
    });
    void work()
      .then(resolve, reject)
      .finally(() => timer.cancel());
  });
}

interface Chain {
  readonly dir: string;
  readonly ledger: AcknowledgedWrites;
  readonly loop: Loop;
}

/** Kills after a number of acknowledgements, which it returns, or at some moment while the store is being opened. */
async function runAndKill({
  dir,
  seed,
  ledger,
  random,
  loop,
}: Chain & { seed: number; random: Random }): Promise<number> {
  const answers = random.below(8) === 0 ? 0 : Math.ceil(2 ** (random.next() * 8.5));
  const delayMs = random.below(answers === 0 ? START_MS : 3);
  let seen = 0;
  const child = new CrashChild([program, dir, `${seed}`], (line) => {
    ledger.take(line);
    if (line.startsWith("a ")) seen += 1;
    if (line.startsWith("a ") && seen === answers) killSoon();
  });
  const killSoon = (): unknown => loop.timer(loop.now() + delayMs, "progress", () => child.kill());
  if (answers === 0) killSoon();
  await child.killed;
  return answers;
}

async function checkStore({ dir, ledger, loop, cycle }: Chain & { cycle: number }): Promise<void> {
  const store = await openFileStore({ dir, loop });
  try {
    await ledger.check(store);
  } catch (error) {
    throw new Error(`after cycle ${cycle} in ${dir}`, { cause: error });
  } finally {
    await store.close();
  }
}
