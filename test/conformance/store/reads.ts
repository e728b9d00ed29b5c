/** Views: snapshots, ranges, the past, compaction, freshness. */
import { describe, expect, test } from "vitest";
import { prefixEnd } from "../../../src/store/store.ts";
import type { StoreEngine } from "../store-fixture.ts";
import { codeOf, contents, keys, put, remove, text, watchBetween, write } from "./arrange.ts";

export function describeReads(engine: StoreEngine): void {
  describe("views", () => {
    test("a writer that was answered reads its write everywhere", async () => {
      await using world = await engine.open();
      const key = `${world.root}a`;
      const after = world.store.view.revision;

      const revision = await write(world.store, put(key, "mine"));

      expect(world.store.view.revision).toBeGreaterThanOrEqual(revision);
      expect(text(world.store.view.get(key))).toBe("mine");
      expect(text(world.store.accepted.get(key))).toBe("mine");
      expect(text((await world.store.fresh()).get(key))).toBe("mine");
      expect(text((await world.store.at(revision, world.root)).get(key))).toBe("mine");
      expect(await watchBetween(world, { prefix: world.root, after }, revision)).toEqual([
        `${revision} ${key} - -> mine`,
      ]);
    });

    test("what is accepted can be seen once it has settled", async () => {
      await using world = await engine.open();
      const key = `${world.root}a`;
      const writing = write(world.store, put(key, "1"));
      const accepted = text(world.store.accepted.get(key));

      const isKept = (await world.store.settling()) ?? true;

      expect(isKept).toBe(true);
      expect(text(world.store.view.get(key))).toBe(accepted);
      await writing;
      expect(world.store.settling()).toBeUndefined();
    });

    test("only a shared store has to ask for its newest view", async () => {
      await using world = await engine.open();
      await write(world.store, put(`${world.root}a`, "1"));

      const fresh = world.store.fresh();

      expect(fresh instanceof Promise).toBe(world.store.isShared);
      expect(text((await fresh).get(`${world.root}a`))).toBe("1");
    });

    test("a view keeps showing its revision while others write", async () => {
      await using world = await engine.open();
      await write(world.store, put(`${world.root}a`, "1"), put(`${world.root}b`, "1"));
      const view = world.store.view;
      const { revision } = view;
      const before = contents(view, world.root);

      await write(
        world.store,
        put(`${world.root}a`, "2"),
        remove(`${world.root}b`),
        put(`${world.root}c`, "2"),
      );

      expect(view.revision).toBe(revision);
      expect(contents(view, world.root)).toEqual(before);
      expect(view.count(world.root, prefixEnd(world.root))).toBe(2);
      expect(contents(world.store.view, world.root).map(([, value]) => value)).toEqual(["2", "2"]);
    });

    test("a mark stays while nothing under its prefix changes, and tells what has changed since", async () => {
      await using world = await engine.open();
      const [here, there] = [`${world.root}here/`, `${world.root}there/`];
      await write(world.store, put(`${here}a`, "1"), put(`${here}b`, "1"));
      const view = world.store.view;
      const mark = view.mark(here);

      await write(world.store, put(`${there}a`, "1"));
      expect(world.store.view.mark(here)).toBe(mark);

      await write(world.store, put(`${here}a`, "2"), remove(`${here}b`), put(`${here}c`, "2"));
      const later = world.store.view;

      expect(view.mark(here)).toBe(mark);
      expect(later.mark(here)).not.toBe(mark);
      expect([...later.changesSince(mark, here)]).toEqual(
        ["a", "b", "c"].map((name) => ({
          before: view.get(`${here}${name}`),
          after: later.get(`${here}${name}`),
        })),
      );
      expect([...later.changesSince(later.mark(here), here)]).toEqual([]);
    });

    test("a range that is being read does not change", async () => {
      await using world = await engine.open();
      const names = Array.from(
        { length: 20 },
        (_, index) => `${world.root}${String(index).padStart(2, "0")}`,
      );
      await write(world.store, ...names.map((key) => put(key, "1")));
      const reading = world.store.view.range(world.root, prefixEnd(world.root));

      const first = reading.next();
      await write(world.store, ...names.slice(1).map(remove), put(`${world.root}50`, "new"));

      expect([first.done === true ? "" : first.value.key, ...keys(reading)]).toEqual(names);
    });

    test("the newest view only moves on", async () => {
      await using world = await engine.open();
      const seen: number[] = [];

      const writing = Promise.all(
        Array.from({ length: 20 }, (_, index) => write(world.store, put(`${world.root}${index}`, "x"))),
      );
      for (let look = 0; look < 20; look += 1) {
        seen.push(world.store.view.revision);
        await world.pass(0);
      }
      await writing;

      expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    });

    test("fresh is at least as new as what was acknowledged before", async () => {
      await using world = await engine.open();

      const revision = await write(world.store, put(`${world.root}a`, "1"));

      expect((await world.store.fresh()).revision).toBeGreaterThanOrEqual(revision);
    });
  });

  describe("ranges", () => {
    test("come in the order of UTF-16 code units, whatever the order of writing", async () => {
      await using world = await engine.open();
      const names = ["b", "a", "a/", "a/b", "a0", "A", "é", "～", "😀", "~", "aa"].map(
        (name) => `${world.root}${name}`,
      );

      for (const name of names) await write(world.store, put(name, "x"));

      expect(keys(world.store.view.range(world.root, prefixEnd(world.root)))).toEqual(names.toSorted());
    });

    test("hold their lower and not their upper bound", async () => {
      await using world = await engine.open();
      const [a, b, c] = [`${world.root}a`, `${world.root}b`, `${world.root}c`];
      await write(world.store, put(a, "1"), put(b, "1"), put(c, "1"));
      const { view } = world.store;

      expect(keys(view.range(a, c))).toEqual([a, b]);
      expect(keys(view.range(`${a}\0`, `${c}\0`))).toEqual([b, c]);
      expect(keys(view.range(b, b))).toEqual([]);
      expect(keys(view.range(c, a))).toEqual([]);
      expect(keys(view.range(`${c}x`, prefixEnd(world.root)))).toEqual([]);
    });

    test("count says how many entries a range has", async () => {
      await using world = await engine.open();
      const names = Array.from(
        { length: 100 },
        (_, index) => `${world.root}${String(index).padStart(3, "0")}`,
      );
      await write(world.store, ...names.map((name) => put(name, "x")));
      const { view } = world.store;

      for (const [from, to] of [
        [0, 100],
        [3, 50],
        [50, 50],
        [99, 100],
        [60, 20],
      ] as const) {
        const bounds = [
          `${world.root}${String(from).padStart(3, "0")}`,
          `${world.root}${String(to).padStart(3, "0")}`,
        ] as const;
        expect(view.count(...bounds)).toBe([...view.range(...bounds)].length);
      }
      expect(view.count(world.root, prefixEnd(world.root))).toBe(100);
      expect(view.count("", prefixEnd(""))).toBe([...view.range("", prefixEnd(""))].length);
    });

    test("a prefix ends at its slash", async () => {
      await using world = await engine.open();
      await write(
        world.store,
        put(`${world.root}foo/x`, "in"),
        put(`${world.root}foobar/x`, "out"),
        put(`${world.root}foo`, "out"),
      );

      const prefix = `${world.root}foo/`;

      expect(contents(world.store.view, prefix)).toEqual([[`${prefix}x`, "in"]]);
      expect(contents(await world.store.at(world.store.view.revision, prefix), prefix)).toEqual([
        [`${prefix}x`, "in"],
      ]);
    });
  });

  describe("the past", () => {
    test("every revision can be read as it was, also across deletions", async () => {
      await using world = await engine.open();
      const [a, b] = [`${world.root}a`, `${world.root}b`];
      const states: [number, [string, string | undefined][]][] = [];
      for (const changes of [
        [put(a, "1")],
        [put(b, "1")],
        [put(a, "2"), remove(b)],
        [remove(a)],
        [put(a, "3"), put(b, "3")],
      ]) {
        const revision = await write(world.store, ...changes);
        states.push([revision, contents(world.store.view, world.root)]);
      }

      for (const [revision, state] of states) {
        const view = await world.store.at(revision, world.root);
        expect(view.revision).toBe(revision);
        expect(contents(view, world.root)).toEqual(state);
        expect(view.count(world.root, prefixEnd(world.root))).toBe(state.length);
      }
    });

    test("a change of the past has the key's state before and after it", async () => {
      await using world = await engine.open();
      const [a, b] = [`${world.root}a`, `${world.root}b`];
      const made = await write(world.store, put(a, "1"));
      const both = await write(world.store, put(a, "2"), put(b, "1"));
      const gone = await write(world.store, remove(a));

      const found = await Promise.all(
        [made, both, gone].map(async (revision) => await world.store.change(revision, a)),
      );

      expect(found.map((each) => [each?.revision, text(each?.before), text(each?.after)])).toEqual([
        [made, undefined, "1"],
        [both, "1", "2"],
        [gone, "2", undefined],
      ]);
      expect(await world.store.change(made, b)).toBeUndefined();
      await expect(world.store.change(gone + 1000, a)).rejects.toMatchObject({ code: "FutureRevision" });
      await world.store.compact(both);
      await expect(world.store.change(both, a)).rejects.toMatchObject({ code: "Compacted" });
    });

    test("an entry of the past has the revisions and version it had", async () => {
      await using world = await engine.open();
      const key = `${world.root}a`;
      const first = await write(world.store, put(key, "1"));
      const second = await write(world.store, put(key, "2"));
      await write(world.store, remove(key));

      const [then, later] = [await world.store.at(first, key), await world.store.at(second, key)];

      expect(then.get(key)).toMatchObject({ createRevision: first, modRevision: first, version: 1 });
      expect(later.get(key)).toMatchObject({ createRevision: first, modRevision: second, version: 2 });
    });

    test("a revision that is not reached yet is told as such", async () => {
      await using world = await engine.open();
      const revision = await write(world.store, put(`${world.root}a`, "1"));

      expect(await codeOf(() => world.store.at(revision + 1000, world.root))).toBe("FutureRevision");
    });
  });

  describe("compaction", () => {
    test("ends reads of older revisions and nothing else", async () => {
      await using world = await engine.open();
      const key = `${world.root}a`;
      const revisions = await writeVersions(world.store, key, 10);
      const compacted = revisions[5] ?? 0;

      await world.store.compact(compacted);

      for (const [index, revision] of revisions.entries()) {
        if (index < 5) expect(await codeOf(() => world.store.at(revision, world.root))).toBe("Compacted");
        else expect(text((await world.store.at(revision, world.root)).get(key))).toBe(`${index}`);
      }
      expect(text(world.store.view.get(key))).toBe("9");
      expect(world.store.view.get(key)).toMatchObject({ createRevision: revisions[0], version: 10 });
    });

    test("ends watches that start before it, and none that start at it", async () => {
      await using world = await engine.open();
      const key = `${world.root}a`;
      const revisions = await writeVersions(world.store, key, 6);
      const [compacted = 0, last = 0] = [revisions[3], revisions[5]];

      await world.store.compact(compacted);

      for (const after of revisions.slice(0, 2)) {
        expect(await codeOf(() => world.store.watch({ prefix: world.root, after }).next())).toBe("Compacted");
      }
      expect(await watchBetween(world, { prefix: world.root, after: compacted }, last)).toEqual([
        `${revisions[4]} ${key} 3 -> 4`,
        `${last} ${key} 4 -> 5`,
      ]);
    });

    test("a watch that starts just before it is refused or told everything, never silent", async () => {
      await using world = await engine.open();
      const [a, b] = [`${world.root}a`, `${world.root}b`];
      const created = await write(world.store, put(a, "1"));
      const deleted = await write(world.store, remove(a));
      const last = await write(world.store, put(b, "1"));

      await world.store.compact(deleted);

      const attempt = await watchBetween(world, { prefix: world.root, after: created }, last).catch(
        () => "refused",
      );
      const whole = [`${deleted} ${a} 1 -> -`, `${last} ${b} - -> 1`];
      expect(["refused", whole]).toContainEqual(attempt);
    });

    test("keeps live keys that have not changed for long", async () => {
      await using world = await engine.open();
      const old = await write(world.store, put(`${world.root}old`, "still here"));
      await writeVersions(world.store, `${world.root}busy`, 10);

      await world.store.compact(world.store.view.revision);
      const view = await world.store.at(world.store.view.revision, world.root);

      expect(view.get(`${world.root}old`)).toMatchObject({
        createRevision: old,
        modRevision: old,
        version: 1,
      });
      expect(contents(world.store.view, world.root)).toEqual([
        [`${world.root}busy`, "9"],
        [`${world.root}old`, "still here"],
      ]);
    });

    test("again, or further back, changes nothing", async () => {
      await using world = await engine.open();
      const revisions = await writeVersions(world.store, `${world.root}a`, 6);
      const [older = 0, compacted = 0] = [revisions[1], revisions[3]];

      await world.store.compact(compacted);
      await world.store.compact(compacted);
      await world.store.compact(older);

      expect(await codeOf(() => world.store.at(older, world.root))).toBe("Compacted");
      expect(text((await world.store.at(compacted, world.root)).get(`${world.root}a`))).toBe("3");
    });

    test("views that are held stay readable", async () => {
      await using world = await engine.open();
      await writeVersions(world.store, `${world.root}a`, 3);
      const held = world.store.view;
      await writeVersions(world.store, `${world.root}a`, 6);

      await world.store.compact(world.store.view.revision);

      expect(text(held.get(`${world.root}a`))).toBe("2");
    });

    test("writes go on meanwhile", async () => {
      await using world = await engine.open();
      await writeVersions(world.store, `${world.root}a`, 20);

      const [, revision] = await Promise.all([
        world.store.compact(world.store.view.revision),
        write(world.store, put(`${world.root}b`, "meanwhile")),
      ]);

      expect(world.store.view.get(`${world.root}b`)?.modRevision).toBe(revision);
    });
  });
}

/** Writes 0, 1, 2 … to the key, each at its own revision. */
async function writeVersions(
  store: Parameters<typeof write>[0],
  key: string,
  count: number,
): Promise<number[]> {
  const revisions: number[] = [];
  for (let index = 0; index < count; index += 1) revisions.push(await write(store, put(key, `${index}`)));
  return revisions;
}
