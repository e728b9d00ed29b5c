/** Closing, opening again, and several stores on the same data. */
import { describe, expect, test } from "vitest";
import { isStoreError } from "../../../src/store/store-error.ts";
import type { StoreEngine } from "../store-fixture.ts";
import {
  codeOf,
  contents,
  linesThrough,
  put,
  reached,
  record,
  remove,
  text,
  watchBetween,
  write,
} from "./arrange.ts";

export function describeLifecycle(engine: StoreEngine): void {
  describe("health", () => {
    test("a store that works is ready", async () => {
      await using world = await engine.open();

      expect(world.store.health().state).toBe("ready");
    });
  });

  describe("close", () => {
    test("waits for the writes under way", async () => {
      await using world = await engine.open();

      const writing = Promise.all(
        Array.from({ length: 20 }, (_, index) => write(world.store, put(`${world.root}${index}`, "x"))),
      );
      await world.store.close();

      expect(await writing).toHaveLength(20);
    });

    test("finishes or refuses a compaction under way", async () => {
      await using world = await engine.open();
      for (let round = 0; round < 5; round += 1) {
        await Promise.all(
          Array.from({ length: 200 }, (_, index) => write(world.store, put(`${world.root}${index}`, "x"))),
        );
      }

      const compacting = codeOf(() => world.store.compact(world.store.view.revision));
      await world.store.close();

      expect(["none", "Closed"]).toContain(await compacting);
      await expect(world.store.ended).resolves.toBeUndefined();
    });

    test("later calls are answered with Closed", async () => {
      await using world = await engine.open();
      const { store } = world;
      const revision = await write(store, put(`${world.root}a`, "1"));

      await store.close();

      expect(await codeOf(() => write(store, put(`${world.root}a`, "2")))).toBe("Closed");
      expect(await codeOf(() => store.watch({ prefix: "", after: revision }))).toBe("Closed");
      expect(await codeOf(() => store.at(revision, ""))).toBe("Closed");
      expect(await codeOf(() => store.fresh())).toBe("Closed");
      expect(await codeOf(() => store.compact(revision))).toBe("Closed");
    });

    test("ends all watches with Closed", async () => {
      await using world = await engine.open();
      const start = world.store.view.revision;
      const waiting = record(world.store.watch({ prefix: world.root, after: start }));
      const unread = world.store.watch({ prefix: world.root, after: start });
      await reached(world, waiting, await write(world.store, put(`${world.root}a`, "1")));

      await world.store.close();
      await waiting.ended;

      expect(waiting.end).toBe("Closed");
      expect(
        await codeOf(async () => {
          while ((await unread.next()).done !== true);
        }),
      ).toBe("Closed");
    });

    test("settles `ended`, also when called twice", async () => {
      await using world = await engine.open();
      const { store } = world;

      await Promise.all([store.close(), store.close()]);
      await store.close();

      await expect(store.ended).resolves.toBeUndefined();
    });

    test("no acknowledged write is among those refused by it", async () => {
      await using world = await engine.open();
      const { store } = world;
      const attempts = Array.from({ length: 50 }, (_, index) =>
        write(store, put(`${world.root}${index}`, "x")),
      );
      const closing = store.close();
      const late = write(store, put(`${world.root}late`, "x"));

      const outcomes = await Promise.allSettled([...attempts, late]);
      await closing;

      const refused = outcomes.filter((outcome) => outcome.status === "rejected");
      expect(refused.every((outcome) => isStoreError(outcome.reason, "Closed"))).toBe(true);
      expect(refused.length).toBeGreaterThanOrEqual(1);
    });
  });

  if (engine.durability === "durable") describeReopening(engine);
  if (engine.sharing === "shared") describeSharing(engine);
}

function describeReopening(engine: StoreEngine): void {
  describe("opening again", () => {
    test("everything acknowledged is there, with its revisions", async () => {
      await using world = await engine.open();
      await write(world.store, put(`${world.root}a`, "1"), put(`${world.root}gone`, "1"));
      await write(world.store, put(`${world.root}a`, "2"));
      const last = await write(
        world.store,
        remove(`${world.root}gone`),
        put(`${world.root}b`, "é".repeat(100_000)),
      );
      const { key, value, createRevision, modRevision, version } =
        world.store.view.get(`${world.root}a`) ?? {};
      const before = contents(world.store.view, world.root);

      const store = await world.reopen();

      expect(store.view.revision).toBeGreaterThanOrEqual(last);
      expect(contents(store.view, world.root)).toEqual(before);
      expect(store.view.get(`${world.root}a`)).toMatchObject({ key, createRevision, modRevision, version });
      expect(
        Buffer.from(store.view.get(`${world.root}a`)?.value ?? []).equals(Buffer.from(value ?? [])),
      ).toBe(true);
    });

    test("revisions go on from where they were, also when the newest was a deletion", async () => {
      await using world = await engine.open();
      await write(world.store, put(`${world.root}a`, "1"));
      const deleted = await write(world.store, remove(`${world.root}a`));

      const store = await world.reopen();
      const next = await write(store, put(`${world.root}a`, "2"));

      expect(store.view.get(`${world.root}a`)).toMatchObject({ createRevision: next, version: 1 });
      expect(next).toBeGreaterThan(deleted);
    });

    test("a compare with a revision from before holds", async () => {
      await using world = await engine.open();
      const key = `${world.root}a`;
      const modRevision = await write(world.store, put(key, "1"));

      const store = await world.reopen();

      expect(
        await codeOf(() => store.write({ compare: [{ key, modRevision: 0 }], changes: [put(key, "2")] })),
      ).toBe("ConditionFailed");
      expect(
        await codeOf(() => store.write({ compare: [{ key, modRevision }], changes: [put(key, "2")] })),
      ).toBe("none");
    });

    test("reads of the past and watches go on from before the restart", async () => {
      await using world = await engine.open();
      const key = `${world.root}a`;
      const first = await write(world.store, put(key, "1"));
      const second = await write(world.store, put(key, "2"));
      const third = await write(world.store, remove(key));

      const store = await world.reopen();
      const fourth = await write(store, put(key, "3"));

      expect(await watchBetween(world, { prefix: world.root, after: first }, fourth)).toEqual([
        `${second} ${key} 1 -> 2`,
        `${third} ${key} 2 -> -`,
        `${fourth} ${key} - -> 3`,
      ]);
      expect(text((await store.at(second, world.root)).get(key))).toBe("2");
      expect(contents(await store.at(third, world.root), world.root)).toEqual([]);
    });

    test("what was compacted stays compacted", async () => {
      await using world = await engine.open();
      const key = `${world.root}a`;
      const revisions: number[] = [];
      for (let index = 0; index < 6; index += 1)
        revisions.push(await write(world.store, put(key, `${index}`)));
      const [first = 0, compacted = 0, last = 0] = [revisions[0], revisions[3], revisions[5]];
      await world.store.compact(compacted);

      const store = await world.reopen();

      expect(await codeOf(() => store.at(first, world.root))).toBe("Compacted");
      expect(await codeOf(() => store.watch({ prefix: world.root, after: first }).next())).toBe("Compacted");
      expect(await watchBetween(world, { prefix: world.root, after: compacted }, last)).toHaveLength(2);
      expect(text(store.view.get(key))).toBe("5");
    });

    test("many times in a row loses nothing", async () => {
      await using world = await engine.open();
      let last = world.store.view.revision;

      for (let round = 0; round < 5; round += 1) {
        const revision = await write(world.store, put(`${world.root}${round}`, `${round}`));
        expect(revision).toBeGreaterThan(last);
        last = revision;
        await world.reopen();
      }

      expect(contents(world.store.view, world.root).map(([, value]) => value)).toEqual([
        "0",
        "1",
        "2",
        "3",
        "4",
      ]);
    });
  });
}

function describeSharing(engine: StoreEngine): void {
  describe("two stores on the same data", () => {
    test("fresh sees what the other acknowledged", async () => {
      await using world = await engine.open();
      const other = await world.join();

      for (let round = 0; round < 10; round += 1) {
        const revision = await write(other, put(`${world.root}a`, `${round}`));
        const view = await world.store.fresh();
        expect(view.revision).toBeGreaterThanOrEqual(revision);
        expect(text(view.get(`${world.root}a`))).toBe(`${round}`);
      }
    });

    test("a watch tells what the other writes", async () => {
      await using world = await engine.open();
      const other = await world.join();
      const recording = record(world.store.watch({ prefix: world.root, after: world.store.view.revision }));

      const first = await write(other, put(`${world.root}a`, "theirs"));
      const second = await write(world.store, put(`${world.root}a`, "ours"));

      expect(await linesThrough(world, recording, second)).toEqual([
        `${first} ${world.root}a - -> theirs`,
        `${second} ${world.root}a theirs -> ours`,
      ]);
    });

    test("never give two winners to one precondition", async () => {
      await using world = await engine.open();
      const other = await world.join();
      const key = `${world.root}lock`;

      for (let round = 0; round < 10; round += 1) {
        const modRevision = (await world.store.fresh()).get(key)?.modRevision ?? 0;
        const outcomes = await Promise.allSettled(
          [world.store, other].map((store) =>
            store.write({ compare: [{ key, modRevision }], changes: [put(key, `${round}`)] }),
          ),
        );
        expect(outcomes.filter((outcome) => outcome.status === "fulfilled")).toHaveLength(1);
      }
    });

    test("a compaction by one is known to both", async () => {
      await using world = await engine.open();
      const other = await world.join();
      const first = await write(world.store, put(`${world.root}a`, "1"));
      const second = await write(world.store, put(`${world.root}a`, "2"));
      await write(world.store, put(`${world.root}a`, "3"));

      await other.compact(second);

      expect(await codeOf(() => other.at(first, world.root))).toBe("Compacted");
      expect(text((await world.store.fresh()).get(`${world.root}a`))).toBe("3");
    });
  });
}
