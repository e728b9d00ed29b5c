/** Watches whose reader takes the available events at a notification, instead of waiting for each batch. */
import { describe, expect, test } from "vitest";
import type { StoreEngine } from "../store-fixture.ts";
import { codeOf, line, linesThrough, put, reached, record, recordTaken, write } from "./arrange.ts";

export function describeTakenWatches(engine: StoreEngine): void {
  describe("a watch that is taken from", () => {
    test("tells what happens, as one that is waited for", async () => {
      await using world = await engine.open();
      const range = { prefix: world.root, after: world.store.view.revision };
      const [taken, awaited] = [recordTaken(world.store.watch(range)), record(world.store.watch(range))];
      await write(world.store, put(`${world.root}a`, "1"));
      const last = await write(world.store, put(`${world.root}a`, "2"), put(`${world.root}b`, "3"));

      const lines = await linesThrough(world, awaited, last);
      expect(await linesThrough(world, taken, last)).toEqual(lines);
      expect(lines).toHaveLength(3);
    });

    test("tells a long past, and what happens while it does", async () => {
      await using world = await engine.open();
      const after = world.store.view.revision;
      for (let n = 0; n < 50; n += 1)
        await Promise.all(
          Array.from({ length: 20 }, (_, at) => write(world.store, put(`${world.root}${at}`, String(n)))),
        );
      const recording = recordTaken(world.store.watch({ prefix: world.root, after }));
      const last = await write(world.store, put(`${world.root}last`, "live"));
      await reached(world, recording, last);

      const revisions = recording.events.map(({ revision }) => revision);
      expect(revisions).toHaveLength(1001);
      expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
    });

    test("hands the same array to all who are as far as each other", async () => {
      await using world = await engine.open();
      const range = { prefix: world.root, after: world.store.view.revision };
      const watches = [world.store.watch(range), world.store.watch(range)];
      for (const text of ["1", "2", "3"]) await write(world.store, put(`${world.root}a`, text));

      const [first, second] = watches.map((watch) => watch.take());
      if (typeof first !== "object" || typeof second !== "object") throw new Error("nothing waits");
      expect(first.events).toHaveLength(3);
      expect(second.events).toBe(first.events);

      const more = world.store.watch(range);
      await reached(world, recordTaken(more), world.store.view.revision);
      await write(world.store, put(`${world.root}a`, "4"));
      const behind = watches[0]?.take();
      expect(typeof behind === "object" ? behind.events.map(line) : behind).toHaveLength(1);
    });

    test("has nothing while nothing happens, and says so", async () => {
      await using world = await engine.open();
      const watch = world.store.watch({ prefix: world.root, after: world.store.view.revision });

      expect(watch.take()).toBeUndefined();
      await write(world.store, put(`${world.root}a`, "1"));
      expect(watch.take()).toBeTypeOf("object");
      expect(watch.take()).toBeUndefined();
    });

    test("is told of its end", async () => {
      await using world = await engine.open();
      const recording = recordTaken(
        world.store.watch({ prefix: world.root, after: world.store.view.revision }),
      );
      recording.watch.close();
      await recording.ended;

      expect([recording.end, recording.watch.take()]).toEqual(["done", "end"]);
    });

    test("throws each time once the store is closed", async () => {
      await using world = await engine.open();
      const watch = world.store.watch({ prefix: world.root, after: world.store.view.revision });
      const recording = recordTaken(watch);
      await world.store.close();
      await recording.ended;

      expect(recording.end).toBe("Closed");
      expect(await codeOf(() => watch.take())).toBe("Closed");
    });
  });
}
