import { describe, expect, test } from "vitest";
import { openMemoryStore } from "../../src/store/memory-store.ts";
import { openStoreFixture, virtualTime } from "./open-store-fixture.ts";
import { until, type StoreEngine } from "./store-fixture.ts";
import { storeModelRun } from "./store-model-run.ts";
import { storeSuite } from "./store-suite.ts";
import { contents, line, nextBatch, put, text, write } from "./store/arrange.ts";

const memory: StoreEngine = {
  name: "memory",
  ttlUnitMs: 1000,
  waitMs: 30_000,
  slowAfterEvents: 5000,
  loadTransactions: 3000,
  quotaRuns: 15,
  durability: "none",
  window: "whole",
  sharing: "alone",
  open: (seed = 1) =>
    openStoreFixture({
      time: virtualTime({ seed }),
      waitMs: 30_000,
      open: async (loop) => openMemoryStore({ loop }),
    }),
  openWithin: (quotaBytes) =>
    openStoreFixture({
      time: virtualTime({ seed: 1 }),
      waitMs: 30_000,
      open: async (loop) => openMemoryStore({ loop, quotaBytes }),
    }),
};

/** So little history that nearly every read of the past is at its edge. */
const forgetful: StoreEngine = {
  ...memory,
  name: "forgetful memory",
  window: "short",
  open: (seed = 1) =>
    openStoreFixture({
      time: virtualTime({ seed }),
      waitMs: 30_000,
      open: async (loop) =>
        openMemoryStore({
          loop,
          history: { maxRecords: 12, maxBytes: 40_000, windowMs: 5000, keepMs: 1000 },
        }),
    }),
};

describe("a fork of a memory store", () => {
  test("begins with state and history, and then both go their own ways", async () => {
    await using world = await memory.open();
    const original = openMemoryStore({ loop: world.loop.child("original") });
    const first = await write(original, put("/registry/a", "1"));
    const second = await write(original, put("/registry/a", "2"));

    const fork = original.fork(world.loop.child("fork"));
    const here = await write(original, put("/registry/a", "here"));
    const there = await write(fork, put("/registry/a", "there"), put("/registry/b", "there"));

    expect(there).toBe(here);
    expect(contents(original.view, "/registry/")).toEqual([["/registry/a", "here"]]);
    expect(contents(fork.view, "/registry/").map(([, value]) => value)).toEqual(["there", "there"]);
    expect(text((await fork.at(first, "")).get("/registry/a"))).toBe("1");
    expect((await nextBatch(fork.watch({ prefix: "", after: first }))).events.map(line)).toEqual([
      `${second} /registry/a 1 -> 2`,
      `${there} /registry/a 2 -> there`,
      `${there} /registry/b - -> there`,
    ]);
    await Promise.all([original.close(), fork.close()]);
  });

  test("ends its keys by itself", async () => {
    await using world = await memory.open();
    const original = openMemoryStore({ loop: world.loop.child("original") });
    await write(original, put("/registry/a", "1", { ttlMs: 1000 }));
    const fork = original.fork(world.loop.child("fork"));
    await write(original, put("/registry/a", "stays"));

    await until(world, "the key of the fork ends", () => fork.view.get("/registry/a") === undefined);

    expect(text(original.view.get("/registry/a"))).toBe("stays");
    await Promise.all([original.close(), fork.close()]);
  });
});

storeSuite(memory);
storeModelRun(memory, { runs: 350, limitMs: 4_000, time: "passes" });
storeModelRun(forgetful, { runs: 200, limitMs: 2_000, time: "passes" });
