import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFileStore, type FileStoreOptions } from "../../src/store/file-store.ts";
import { openStoreFixture, realTime, virtualTime, type FixtureTime } from "./open-store-fixture.ts";
import type { StoreEngine, StoreFixture } from "./store-fixture.ts";
import { storeModelRun } from "./store-model-run.ts";
import { storeSuite } from "./store-suite.ts";

const WAIT_MS = 20_000;

const file: StoreEngine = {
  name: "file",
  ttlUnitMs: 1000,
  waitMs: WAIT_MS,
  slowAfterEvents: 5000,
  loadTransactions: 2000,
  quotaRuns: 6,
  durability: "durable",
  window: "whole",
  sharing: "alone",
  open: () => openFileWorld(realTime()),
  openWithin: (quotaBytes) => openFileWorld(realTime(), { quotaBytes }),
};

/** In virtual time, so that keys expire without waiting; only the disk is real. */
const inVirtualTime: StoreEngine = {
  ...file,
  name: "file (virtual time)",
  open: (seed = 1) => openFileWorld(virtualTime({ seed, outside: ["store-file"] })),
};

/** Memory holds almost no history, so that nearly every read of the past goes to the disk. */
const fromDisk: StoreEngine = {
  ...file,
  name: "file (history on disk)",
  open: (seed = 1) =>
    openFileWorld(virtualTime({ seed, outside: ["store-file"] }), {
      history: { maxRecords: 8, maxBytes: 30_000, windowMs: 2000, keepMs: 500 },
    }),
};

storeSuite(file);
storeModelRun(inVirtualTime, { runs: 40, limitMs: 6_000, time: "passes" });
storeModelRun(fromDisk, { runs: 40, limitMs: 6_000, time: "passes" });

async function openFileWorld(
  time: FixtureTime,
  options: Partial<FileStoreOptions> = {},
): Promise<StoreFixture> {
  const dir = await mkdtemp(join(tmpdir(), "setpoint-file-store-"));
  return openStoreFixture({
    time,
    waitMs: WAIT_MS,
    open: (loop) => openFileStore({ ...options, dir, loop }),
    clean: () => rm(dir, { recursive: true, force: true }),
  });
}
