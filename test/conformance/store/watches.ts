/** Watches: their starts, events and ends. watch-load.ts has the guarantees under load. */
import { describe, expect, test } from "vitest";
import type { Change, Store } from "../../../src/store/store.ts";
import { until, type StoreEngine, type StoreFixture } from "../store-fixture.ts";
import {
  bytes,
  codeOf,
  line,
  linesThrough,
  nextBatch,
  put,
  reached,
  record,
  remove,
  watchBetween,
  write,
} from "./arrange.ts";

export function describeWatches(engine: StoreEngine): void {
  describe("a watch", () => {
    test("from now tells what happens later", async () => {
      await using world = await engine.open();
      const key = `${world.root}a`;
      await write(world.store, put(key, "old"));
      const recording = record(world.store.watch({ prefix: world.root, after: world.store.view.revision }));

      const changed = await write(world.store, put(key, "new"));
      const deleted = await write(world.store, remove(key));

      expect(await linesThrough(world, recording, deleted)).toEqual([
        `${changed} ${key} old -> new`,
        `${deleted} ${key} new -> -`,
      ]);
    });

    test("from an old revision tells what happened since, then what happens", async () => {
      await using world = await engine.open();
      const history = await writeHistory(world);
      const recording = record(world.store.watch({ prefix: world.root, after: history.start }));
      await reached(world, recording, history.end);

      const more = await write(world.store, put(`${world.root}z`, "live"));

      expect(await linesThrough(world, recording, more)).toEqual([
        ...history.lines,
        `${more} ${world.root}z - -> live`,
      ]);
    });

    test("from any revision of a history tells exactly the rest", async () => {
      await using world = await engine.open();
      const { lines, revisions, end } = await writeHistory(world);

      for (const [index, after] of revisions.entries()) {
        expect(await watchBetween(world, { prefix: world.root, after }, end)).toEqual(lines.slice(index));
      }
    });

    test("that is left after any batch and resumed there tells exactly the rest", async () => {
      await using world = await engine.open();
      const { lines, start, end } = await writeHistory(world);
      const told: string[] = [];
      let after = start;

      while (after < end) {
        const watch = world.store.watch({ prefix: world.root, after });
        const batch = await nextBatch(watch);
        told.push(...batch.events.map(line));
        after = batch.revision;
        watch.close();
      }

      expect(told).toEqual(lines);
    });

    test("over a long history tells all of it", async () => {
      await using world = await engine.open();
      const start = world.store.view.revision;
      const count = 2500;
      for (let written = 0; written < count; written += 100) {
        const keys = Array.from({ length: 100 }, (_, index) => `${world.root}${index % 10}/${index}`);
        await Promise.all(keys.map((key) => write(world.store, put(key, "x"), put(`${key}/both`, "x"))));
      }

      const recording = record(world.store.watch({ prefix: world.root, after: start }));
      await reached(world, recording, world.store.view.revision);
      const one = record(world.store.watch({ prefix: `${world.root}7/`, after: start }));
      await reached(world, one, world.store.view.revision);

      const revisions = recording.events.map((event) => event.revision);
      expect(new Set(revisions).size).toBe(count);
      expect(revisions).toHaveLength(count * 2);
      expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
      expect(one.events).toEqual(recording.events.filter((event) => event.key.startsWith(`${world.root}7/`)));
    });

    test("from a revision in the future tells nothing that is older", async () => {
      await using world = await engine.open();
      const start = await write(world.store, put(`${world.root}a`, "0"));
      const recording = record(world.store.watch({ prefix: world.root, after: start + 3 }));

      const revisions = await writeEach(
        world.store,
        ["1", "2", "3", "4", "5", "6"].map((value) => put(`${world.root}a`, value)),
      );
      const told = await linesThrough(world, recording, revisions.at(-1) ?? 0);

      const wanted = revisions.filter((revision) => revision > start + 3);
      expect(wanted.length).toBeGreaterThan(0);
      expect(told.map((event) => Number(event.split(" ")[0]))).toEqual(wanted);
    });

    test("of a key tells of that key only", async () => {
      await using world = await engine.open();
      const after = world.store.view.revision;
      const [key, longer, below] = [`${world.root}foo`, `${world.root}foobar`, `${world.root}foo/x`];

      const revision = await write(world.store, put(key, "1"), put(longer, "1"), put(below, "1"));

      expect(await watchBetween(world, { prefix: key, after }, revision)).toEqual([
        `${revision} ${key} - -> 1`,
      ]);
    });

    test("of a prefix tells of what is below its slash only", async () => {
      await using world = await engine.open();
      const after = world.store.view.revision;
      const keys = ["foo", "foo/a", "foo/b/c", "foo/b/c/d", "foobar/a", "fo/a", "foo0"].map(
        (name) => `${world.root}${name}`,
      );
      const live = record(world.store.watch({ prefix: `${world.root}foo/`, after }));

      const revision = await write(world.store, ...keys.map((key) => put(key, "1")));

      const expected = [1, 2, 3].map((index) => `${revision} ${keys[index]} - -> 1`);
      expect(await linesThrough(world, live, revision)).toEqual(expected);
      expect(await watchBetween(world, { prefix: `${world.root}foo/`, after }, revision)).toEqual(expected);
    });

    test("of everything tells of everything", async () => {
      await using world = await engine.open();
      const recording = record(world.store.watch({ prefix: "", after: world.store.view.revision }));

      const first = await write(world.store, put(`${world.root}a`, "1"), put(`${world.root}b/c`, "1"));
      const second = await write(world.store, remove(`${world.root}a`));

      expect(await linesThrough(world, recording, second)).toEqual([
        `${first} ${world.root}a - -> 1`,
        `${first} ${world.root}b/c - -> 1`,
        `${second} ${world.root}a 1 -> -`,
      ]);
    });

    test("tells before and after with their revisions and versions", async () => {
      await using world = await engine.open();
      const key = `${world.root}a`;
      const after = world.store.view.revision;
      const first = await write(world.store, put(key, "1"));
      const second = await write(world.store, put(key, "2"));
      const third = await write(world.store, remove(key));
      const fourth = await write(world.store, put(key, "3"));

      const recording = record(world.store.watch({ prefix: key, after }));
      await reached(world, recording, fourth);

      const one = { createRevision: first, modRevision: first, version: 1 };
      const two = { createRevision: first, modRevision: second, version: 2 };
      expect(recording.events).toMatchObject([
        { revision: first, before: undefined, after: one },
        { revision: second, before: one, after: two },
        { revision: third, before: two, after: undefined },
        {
          revision: fourth,
          before: undefined,
          after: { createRevision: fourth, modRevision: fourth, version: 1 },
        },
      ]);
    });

    test("hands out the changes of a transaction together and in their order", async () => {
      await using world = await engine.open();
      const after = world.store.view.revision;
      const names = Array.from({ length: 100 }, (_, index) => `${world.root}${(index * 37) % 100}/x`);
      const live = record(world.store.watch({ prefix: world.root, after }));

      const revision = await write(world.store, ...names.map((name) => put(name, "x")));
      await reached(world, live, revision);
      const late = record(world.store.watch({ prefix: world.root, after }));
      await reached(world, late, revision);

      for (const { batches } of [live, late]) {
        expect(batches).toHaveLength(1);
        expect(batches[0]?.events.map((event) => event.key)).toEqual(names);
        expect(batches[0]?.events.map((event) => event.ordinal)).toEqual(names.map((_, index) => index));
      }
    });

    test("is one of many that are all told the same", async () => {
      await using world = await engine.open();
      const after = world.store.view.revision;
      const watchers = Array.from({ length: 20 }, () =>
        record(world.store.watch({ prefix: world.root, after })),
      );

      const { lines, end } = await writeHistory(world);

      for (const watcher of watchers) expect(await linesThrough(world, watcher, end)).toEqual(lines);
    });

    test("may use any lane", async () => {
      await using world = await engine.open();
      const after = world.store.view.revision;
      const watchers = (["health", "request", "loop", "background"] as const).map((lane) =>
        record(world.store.watch({ prefix: world.root, after, lane })),
      );

      const revision = await write(world.store, put(`${world.root}a`, "1"));

      for (const watcher of watchers) expect(await linesThrough(world, watcher, revision)).toHaveLength(1);
    });
  });

  describe("the revision of a watch", () => {
    test("moves on while nothing happens in range", async () => {
      await using world = await engine.open();
      const recording = record(
        world.store.watch({ prefix: `${world.root}a/`, after: world.store.view.revision }),
      );

      const revision = await write(world.store, put(`${world.root}b/x`, "aside"));
      await reached(world, recording, revision);

      expect(recording.events).toEqual([]);
    });

    test("moves on in a watch that starts in the past and finds nothing in range", async () => {
      await using world = await engine.open();
      const { start, end } = await writeHistory(world);
      const recording = record(world.store.watch({ prefix: `${world.root}nothing/`, after: start }));

      await reached(world, recording, end);

      expect(recording.events).toEqual([]);
    });

    test("is never ahead of an event that was not handed out", async () => {
      await using world = await engine.open();
      const watch = world.store.watch({ prefix: `${world.root}a/`, after: world.store.view.revision });

      const inRange = await write(world.store, put(`${world.root}a/x`, "1"));
      const aside = await write(world.store, put(`${world.root}b/x`, "1"));
      await world.pass(5);
      const early = watch.revision;
      const batch = await nextBatch(watch);

      expect(early).toBeLessThan(inRange);
      expect(batch.events.map((event) => event.revision)).toEqual([inRange]);
      expect(watch.revision).toBeGreaterThanOrEqual(batch.revision);
      await until(world, "the watch moves on", () => watch.revision >= aside);
      watch.close();
    });

    test("never goes back, neither while something waits to be read nor when the watch ends", async () => {
      await using world = await engine.open();
      const watch = world.store.watch({ prefix: `${world.root}a/`, after: world.store.view.revision });
      const aside = await write(world.store, put(`${world.root}b/x`, "1"));
      await until(world, "the watch moves on", () => watch.revision >= aside);

      const inRange = await write(world.store, put(`${world.root}a/x`, "1"));
      await world.pass(5);
      const waiting = watch.revision;
      watch.close();

      expect(waiting).toBeGreaterThanOrEqual(aside);
      expect(waiting).toBeLessThan(inRange);
      expect(watch.revision).toBe(waiting);
    });

    test("never goes back in a watch that had to catch up", async () => {
      await using world = await engine.open();
      const { start, end } = await writeHistory(world);
      const watch = world.store.watch({ prefix: `${world.root}late/`, after: start });
      const reading = nextBatch(watch);
      await until(world, "the watch catches up", () => watch.revision >= end);

      const first = await write(world.store, put(`${world.root}late/x`, "1"));
      await reading;
      const second = await write(world.store, put(`${world.root}late/x`, "2"));
      await world.pass(5);

      expect(watch.revision).toBeGreaterThanOrEqual(first);
      expect(watch.revision).toBeLessThan(second);
      watch.close();
    });

    test("a watch that lies in the past claims nothing that it has not handed out", async () => {
      await using world = await engine.open();
      const { start, revisions } = await writeHistory(world);
      const watch = world.store.watch({ prefix: world.root, after: start });

      await world.pass(5);

      expect(watch.revision).toBeLessThan(revisions[1] ?? 0);
      watch.close();
    });

    test("a watch can be resumed from it", async () => {
      await using world = await engine.open();
      const recording = record(
        world.store.watch({ prefix: `${world.root}a/`, after: world.store.view.revision }),
      );
      await reached(world, recording, await write(world.store, put(`${world.root}b/x`, "aside")));

      recording.watch.close();
      const next = await write(world.store, put(`${world.root}a/x`, "1"));

      expect(
        await watchBetween(world, { prefix: `${world.root}a/`, after: recording.watch.revision }, next),
      ).toHaveLength(1);
    });
  });

  describe("the end of a watch", () => {
    test("close ends a reader that waits", async () => {
      await using world = await engine.open();
      const recording = record(world.store.watch({ prefix: world.root, after: world.store.view.revision }));

      recording.watch.close();
      await recording.ended;

      expect(recording.end).toBe("done");
    });

    test("close ends a watch that still has something to tell, for good", async () => {
      await using world = await engine.open();
      const { start } = await writeHistory(world);
      const watch = world.store.watch({ prefix: world.root, after: start });

      watch.close();
      watch.close();

      expect((await watch.next()).done).toBe(true);
      await write(world.store, put(`${world.root}a`, "later"));
      expect((await watch.next()).done).toBe(true);
    });

    test("leaving the loop over it ends it", async () => {
      await using world = await engine.open();
      const { start } = await writeHistory(world);
      const watch = world.store.watch({ prefix: world.root, after: start });

      for await (const batch of watch) if (batch.events.length > 0) break;

      expect((await watch.next()).done).toBe(true);
    });

    test("a watcher that does not read is dropped, delays no other, and can resume", async () => {
      await using world = await engine.open();
      const after = world.store.view.revision;
      const slow = world.store.watch({ prefix: world.root, after });
      const quick = record(world.store.watch({ prefix: world.root, after }));

      const last = await flood(world, engine.slowAfterEvents);
      await reached(world, quick, last);

      expect(quick.events.length).toBeGreaterThanOrEqual(engine.slowAfterEvents);
      expect(await codeOf(() => slow.next())).toBe("SlowWatcher");
      expect(slow.revision).toBe(after);
      expect(await resumeCount(world, after, last)).toBe(quick.events.length);
    });

    test("a compaction ends no watch that keeps up", async () => {
      await using world = await engine.open();
      const recording = record(world.store.watch({ prefix: world.root, after: world.store.view.revision }));
      const { lines, end } = await writeHistory(world);
      await reached(world, recording, end);

      await world.store.compact(end);
      const deleted = await write(world.store, remove(`${world.root}c`));

      expect((await linesThrough(world, recording, deleted)).slice(0, -1)).toEqual(lines);
      expect(recording.events.at(-1)).toMatchObject({
        revision: deleted,
        key: `${world.root}c`,
        after: undefined,
      });
    });

    test("deletions around a compaction are told or refused, never lost", async () => {
      await using world = await engine.open();
      const { start, revisions, lines, end } = await writeDeletions(world);

      for (const compacted of revisions) {
        await world.store.compact(compacted);
        for (const [index, after] of [start, ...revisions].entries()) {
          const told = await toldOrRefused(world, after, end);
          if (after >= compacted) expect(told).toEqual(lines.slice(index));
          else expect(["refused", lines.slice(index)]).toContainEqual(told);
        }
      }
    });

    test("a compaction under a watch that catches up ends it or lets it tell all", async () => {
      await using world = await engine.open();
      const { start, end, lines } = await writeDeletions(world);
      const recording = record(world.store.watch({ prefix: world.root, after: start }));

      await world.store.compact(end);
      await until(
        world,
        "the watch ends or arrives",
        () => recording.end !== undefined || recording.watch.revision >= end,
      );

      const told = recording.events.map(line);
      if (recording.end === undefined) expect(told).toEqual(lines);
      else expect(recording.end).toBe("Compacted");
      expect(told).toEqual(lines.slice(0, told.length));
    });
  });
}

interface WrittenHistory {
  /** The revision before the first. */
  readonly start: number;
  readonly end: number;
  /** `start`, then the revision of each event. */
  readonly revisions: readonly number[];
  readonly lines: readonly string[];
}

/** Creations, changes, deletions and re-creations of three keys, one event per transaction; `c` stays alive. */
async function writeHistory(world: StoreFixture): Promise<WrittenHistory> {
  const [a, b, c] = [`${world.root}a`, `${world.root}b/x`, `${world.root}c`];
  const start = world.store.view.revision;
  const revisions = [start];
  const lines: string[] = [];
  const values = new Map<string, string>();
  for (const [index, key] of [a, b, a, c, b, a, c, c, b, a].entries()) {
    const before = values.get(key) ?? "-";
    const isDeleted = index === 4 || index === 5;
    const after = isDeleted ? "-" : `v${index}`;
    values.set(key, after);
    const revision = await write(world.store, isDeleted ? remove(key) : put(key, after));
    revisions.push(revision);
    lines.push(`${revision} ${key} ${before} -> ${after}`);
  }
  return { start, end: revisions.at(-1) ?? start, revisions, lines };
}

/** Many keys created and then deleted, one event per transaction. */
async function writeDeletions(world: StoreFixture): Promise<WrittenHistory> {
  const start = world.store.view.revision;
  const keys = Array.from({ length: 6 }, (_, index) => `${world.root}d/${index}`);
  const revisions = await writeEach(world.store, [...keys.map((key) => put(key, "1")), ...keys.map(remove)]);
  const lines = revisions.map((revision, index) => {
    const key = keys[index % keys.length] ?? "";
    return index < keys.length ? `${revision} ${key} - -> 1` : `${revision} ${key} 1 -> -`;
  });
  return { start, end: revisions.at(-1) ?? start, revisions, lines };
}

async function writeEach(store: Store, changes: readonly Change[]): Promise<number[]> {
  const revisions: number[] = [];
  for (const change of changes) revisions.push(await write(store, change));
  return revisions;
}

/** Writes this many events of 8 KiB. */
async function flood(world: StoreFixture, events: number): Promise<number> {
  const value = bytes("x".repeat(8192));
  let revision = 0;
  for (let written = 0; written < events; written += 100) {
    const changes = Array.from({ length: 100 }, (_, index): Change => ({
      type: "put",
      key: `${world.root}${index}`,
      value,
    }));
    ({ revision } = await world.store.write({ changes }));
  }
  return revision;
}

/** Number of events that a new watch delivers between two revisions, read batch by batch so that it is never slow. */
async function resumeCount(world: StoreFixture, after: number, through: number): Promise<number> {
  const recording = record(world.store.watch({ prefix: world.root, after }));
  await reached(world, recording, through);
  recording.watch.close();
  return recording.events.length;
}

async function toldOrRefused(
  world: StoreFixture,
  after: number,
  through: number,
): Promise<string[] | "refused"> {
  let told: string[] = [];
  const code = await codeOf(async () => {
    const watch = world.store.watch({ prefix: world.root, after });
    if (after < through) {
      const first = await nextBatch(watch);
      watch.close();
      told = [
        ...first.events.map(line),
        ...(await watchBetween(world, { prefix: world.root, after: first.revision }, through)),
      ];
    }
    watch.close();
  });
  if (code !== "none" && code !== "Compacted") throw new Error(`unexpected ${code}`);
  return code === "none" ? told : "refused";
}
