/** Keys with a time to live. An absent expiry is shown by a second key that expires later: once it is gone, the first had its chance. */
import { describe, expect, test } from "vitest";
import { until, type StoreEngine, type StoreFixture } from "../store-fixture.ts";
import { contents, linesThrough, put, reached, record, remove, text, write } from "./arrange.ts";

export function describeExpiry(engine: StoreEngine): void {
  const unit = engine.ttlUnitMs;

  describe.concurrent("time to live", () => {
    test("a key ends with an ordinary deletion, as a revision of its own", async ({ expect: check }) => {
      await using world = await engine.open();
      const key = `${world.root}a`;
      const recording = record(world.store.watch({ prefix: world.root, after: world.store.view.revision }));

      const written = await write(world.store, put(key, "short", { ttlMs: unit }));
      await gone(world, key);
      const lines = await linesThrough(world, recording, world.store.view.revision);
      const ended = recording.events.at(-1)?.revision ?? 0;

      check(ended).toBeGreaterThan(written);
      check(lines).toEqual([`${written} ${key} - -> short`, `${ended} ${key} short -> -`]);
      check(text((await world.store.at(written, world.root)).get(key))).toBe("short");
      check((await world.store.at(ended, world.root)).get(key)).toBeUndefined();
    });

    test("a key does not end early", async ({ expect: check }) => {
      await using world = await engine.open();
      const key = `${world.root}a`;
      const start = world.loop.now();

      await write(world.store, put(key, "short", { ttlMs: unit }));
      await gone(world, key);

      check(world.loop.now() - start).toBeGreaterThanOrEqual(unit - 1);
    });

    test("a key written again without one stays", async ({ expect: check }) => {
      await using world = await engine.open();
      const [kept, later] = [`${world.root}kept`, `${world.root}later`];
      await write(world.store, put(kept, "short", { ttlMs: unit }));

      await write(world.store, put(kept, "long"));
      await write(world.store, put(later, "x", { ttlMs: 2 * unit }));
      await gone(world, later);

      check(text(world.store.view.get(kept))).toBe("long");
      check(world.store.view.get(kept)?.expiresAt).toBeUndefined();
    });

    test("a key written again with a longer one ends later", async ({ expect: check }) => {
      await using world = await engine.open();
      const [kept, later] = [`${world.root}kept`, `${world.root}later`];
      await write(world.store, put(kept, "short", { ttlMs: unit }), put(later, "x", { ttlMs: 2 * unit }));
      const recording = record(world.store.watch({ prefix: world.root, after: world.store.view.revision }));

      await write(world.store, put(kept, "longer", { ttlMs: 4 * unit }));
      await gone(world, kept);
      await reached(world, recording, world.store.view.revision);

      check(recording.events.map((event) => [event.key, text(event.before), text(event.after)])).toEqual([
        [kept, "short", "longer"],
        [later, "x", undefined],
        [kept, "longer", undefined],
      ]);
    });

    test("a key written again with a shorter one ends sooner", async ({ expect: check }) => {
      await using world = await engine.open();
      const [key, later] = [`${world.root}a`, `${world.root}later`];
      await write(world.store, put(key, "long", { ttlMs: 3_600_000 }));

      await write(world.store, put(key, "short", { ttlMs: unit }), put(later, "x", { ttlMs: 3_600_000 }));
      await gone(world, key);

      check(text(world.store.view.get(later))).toBe("x");
    });

    test("a deleted key is not deleted again, and one created in its place is left alone", async ({
      expect: check,
    }) => {
      await using world = await engine.open();
      const [deleted, again, later] = [`${world.root}deleted`, `${world.root}again`, `${world.root}later`];
      await write(world.store, ...[deleted, again].map((key) => put(key, "short", { ttlMs: unit })));
      const removed = await write(world.store, remove(deleted), remove(again));

      const created = await write(world.store, put(again, "new"), put(later, "x", { ttlMs: 2 * unit }));
      const recording = record(world.store.watch({ prefix: world.root, after: removed }));
      await gone(world, later);
      const lines = await linesThrough(world, recording, world.store.view.revision);

      check(lines).toEqual([
        `${created} ${again} - -> new`,
        `${created} ${later} - -> x`,
        `${recording.events.at(-1)?.revision} ${later} x -> -`,
      ]);
    });

    test("many keys end, each once, and keys without one do not", async ({ expect: check }) => {
      await using world = await engine.open();
      const short = Array.from({ length: 300 }, (_, index) => `${world.root}short/${index}`);
      await write(world.store, put(`${world.root}stays`, "x"));
      const recording = record(world.store.watch({ prefix: world.root, after: world.store.view.revision }));
      for (let from = 0; from < short.length; from += 100) {
        await write(
          world.store,
          ...short.slice(from, from + 100).map((key) => put(key, "x", { ttlMs: unit })),
        );
      }

      await until(
        world,
        "all short keys end",
        () => world.store.view.count(`${world.root}short/`, `${world.root}short0`) === 0,
      );
      await reached(world, recording, world.store.view.revision);

      const deletions = recording.events
        .filter((event) => event.after === undefined)
        .map((event) => event.key);
      check(deletions.toSorted()).toEqual(short.toSorted());
      check(contents(world.store.view, world.root)).toEqual([[`${world.root}stays`, "x"]]);
    });

    test("a compare fails once the key has ended", async ({ expect: check }) => {
      await using world = await engine.open();
      const key = `${world.root}a`;
      const modRevision = await write(world.store, put(key, "short", { ttlMs: unit }));
      await gone(world, key);

      const attempt = world.store.write({ compare: [{ key, modRevision }], changes: [put(key, "late")] });

      await check(attempt).rejects.toMatchObject({ code: "ConditionFailed" });
    });

    if (engine.durability === "durable") describeEndWhileClosed(engine);
  });

  test("a key says when it ends, where the engine knows", async () => {
    await using world = await engine.open();
    const now = world.loop.now();

    await write(world.store, put(`${world.root}a`, "x", { ttlMs: 3_600_000 }), put(`${world.root}b`, "x"));

    const ends = world.store.view.get(`${world.root}a`)?.expiresAt;
    if (ends !== undefined) expect(Math.abs(ends - now - 3_600_000)).toBeLessThan(60_000);
    expect(world.store.view.get(`${world.root}b`)?.expiresAt).toBeUndefined();
  });
}

async function gone(world: StoreFixture, key: string): Promise<void> {
  await until(world, `${key} ends`, () => world.store.view.get(key) === undefined);
}

function describeEndWhileClosed(engine: StoreEngine): void {
  const unit = engine.ttlUnitMs;
  test("a key that ends while the store is closed is gone after the next start", async ({
    expect: check,
  }) => {
    await using world = await engine.open();
    const [key, later] = [`${world.root}a`, `${world.root}later`];
    const written = await write(
      world.store,
      put(key, "short", { ttlMs: unit }),
      put(later, "x", { ttlMs: 3_600_000 }),
    );

    await world.reopen();
    await gone(world, key);

    check(text(world.store.view.get(later))).toBe("x");
    const recording = record(world.store.watch({ prefix: world.root, after: written }));
    const lines = await linesThrough(world, recording, world.store.view.revision);
    check(lines).toEqual([`${recording.events.at(-1)?.revision} ${key} short -> -`]);
  });
}
