/** The quota: writes that a full store refuses, writes that it accepts, and ways to free space. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Change, Store, Transaction } from "../../../src/store/store.ts";
import { prefixEnd } from "../../../src/store/store.ts";
import type { StoreEngine, StoreFixture } from "../store-fixture.ts";
import { codeOf, keys, put, remove, text } from "./arrange.ts";

const QUOTA = 200_000;
/** Upper bound of history: writes that add no data are always accepted, and replaced values are kept for a while. */
const HISTORY_MAX = QUOTA / 5;
/** A value of one kilobyte; a key adds about another. */
const VALUE = "x".repeat(1000);
const LONG_VALUE = "x".repeat(20_000);

function add(store: Store, change: Change, purpose?: Transaction["purpose"]): Promise<string> {
  return codeOf(() => store.write({ changes: [change], purpose }));
}

/** Writes a user's keys until the store refuses one; returns the number of accepted keys. */
async function fill({ store, root }: StoreFixture, value = VALUE): Promise<number> {
  for (let n = 0; n < 1000; n++) {
    const code = await add(store, put(`${root}maps/a/${String(n)}`, value));
    if (code === "NoSpace") return n;
    if (code !== "none") throw new Error(code);
  }
  throw new Error("the store is never full");
}

async function empty(world: StoreFixture, share = 1): Promise<void> {
  const { store, root } = world;
  const all = keys(store.view.range(root, prefixEnd(root)));
  for (const key of all.slice(0, all.length * share)) await store.write({ changes: [remove(key)] });
}

export function describeSpace(engine: StoreEngine): void {
  describe("a quota", () => {
    test("is reached by what is live, and says so", async () => {
      await using world = await engine.openWithin(QUOTA);
      const { store } = world;

      const taken = await fill(world);

      expect(taken).toBeGreaterThan(50);
      expect(taken).toBeLessThan(QUOTA / VALUE.length);
      expect(store.space).toMatchObject({ quotaBytes: QUOTA, isFull: true });
      expect(store.space.usedBytes).toBeLessThanOrEqual(QUOTA);
      expect(store.health().state).toBe("ready");
    });

    test("leaves what does not add data: deletions, shorter values and values of the same length", async () => {
      await using world = await engine.openWithin(QUOTA);
      const { store, root } = world;
      await fill(world);

      expect(await add(store, put(`${root}maps/a/1`, "y".repeat(1000)))).toBe("none");
      expect(await add(store, put(`${root}maps/a/1`, "short"))).toBe("none");
      expect(await add(store, remove(`${root}maps/a/2`))).toBe("none");
      expect(await add(store, put(`${root}maps/a/1`, LONG_VALUE))).toBe("NoSpace");
      expect(text(store.view.get(`${root}maps/a/1`))).toBe("short");
    });

    test("leaves small writes for deletions and for the cluster itself, and no large ones", async () => {
      await using world = await engine.openWithin(QUOTA);
      const { store, root } = world;
      await fill(world);
      const longer = put(`${root}maps/a/1`, `${VALUE}${"y".repeat(500)}`);

      expect(await add(store, longer)).toBe("NoSpace");
      expect(await add(store, longer, "deletion")).toBe("none");
      expect(await add(store, put(`${root}maps/a/2`, `${VALUE}yy`), "ending")).toBe("none");
      expect(await add(store, put(`${root}leases/a`, VALUE), "upkeep")).toBe("none");
      expect(await add(store, put(`${root}maps/a/3`, LONG_VALUE), "deletion")).toBe("NoSpace");
    });

    test("keeps room for deletions when the cluster's own writes have used up the reserve", async () => {
      await using world = await engine.openWithin(QUOTA);
      const { store, root } = world;
      await fill(world);
      let reserved = 0;
      while ((await add(store, put(`${root}leases/${String(reserved)}`, VALUE), "upkeep")) === "none")
        reserved += 1;

      expect(reserved).toBeGreaterThan(5);
      expect(reserved).toBeLessThan(50);
      expect(await add(store, put(`${root}maps/a/1`, `${VALUE}yy`), "deletion")).toBe("none");
      expect(await add(store, put(`${root}leases/0`, VALUE), "upkeep")).toBe("none");
    });

    test("has room again once a tenth was deleted and its history is over", async () => {
      await using world = await engine.openWithin(QUOTA);
      const { store, root } = world;
      await fill(world);

      await empty(world, 0.03);
      const early = await add(store, put(`${root}maps/b/1`, VALUE));
      await empty(world, 0.6);
      const late = await add(store, put(`${root}maps/b/1`, VALUE));

      expect([early, late]).toEqual(["NoSpace", "none"]);
      expect(store.space.isFull).toBe(false);
    });

    test("is kept by writers at the same time", async () => {
      await using world = await engine.openWithin(QUOTA);
      const { store, root } = world;

      const codes = await Promise.all(
        Array.from({ length: 300 }, (_, n) => add(store, put(`${root}maps/a/${String(n)}`, VALUE))),
      );

      expect(new Set(codes)).toEqual(new Set(["none", "NoSpace"]));
      expect(store.space.usedBytes).toBeLessThanOrEqual(QUOTA + HISTORY_MAX);
    });

    test("is kept by any sequence of writes, and always leaves a way out", async () => {
      const step = fc.record({
        key: fc.integer({ min: 0, max: 60 }),
        length: fc.oneof(fc.constant(-1), fc.integer({ min: 0, max: 12_000 })),
        purpose: fc.constantFrom(undefined, "growth" as const, "ending" as const, "upkeep" as const),
      });
      const steps = fc.array(step, { minLength: 40, maxLength: 120 });
      await fc.assert(
        fc.asyncProperty(steps, async (taken) => {
          await using world = await engine.openWithin(QUOTA);
          const { store, root } = world;
          for (const { key, length, purpose } of taken) {
            const name = `${root}maps/a/${String(key)}`;
            const before = store.view.get(name)?.value.byteLength ?? -1;
            const change = length < 0 ? remove(name) : put(name, "x".repeat(length));
            const code = await add(store, change, purpose);
            expect(["none", "NoSpace"]).toContain(code);
            if (length <= before) expect(code).toBe("none");
            const limit = QUOTA * 1.2 + HISTORY_MAX;
            expect(store.space.usedBytes).toBeLessThanOrEqual(limit);
          }
          await empty(world);
          expect(await add(store, put(`${root}maps/a/0`, LONG_VALUE))).toBe("none");
        }),
        { numRuns: engine.quotaRuns },
      );
    });
  });
}
