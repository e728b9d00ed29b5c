/** Transactions: revisions, preconditions, atomicity, guarantees of a response. */
import { describe, expect, test } from "vitest";
import { isStoreError } from "../../../src/store/store-error.ts";
import { MAX_CHANGES, type Committed, type Store } from "../../../src/store/store.ts";
import type { StoreEngine, StoreFixture } from "../store-fixture.ts";
import { bytes, codeOf, contents, put, remove, text, watchBetween, write } from "./arrange.ts";

export function describeWrites(engine: StoreEngine): void {
  describe("revisions", () => {
    test("an empty store has a revision of 1 or more", async () => {
      await using world = await engine.open();

      expect(world.store.view.revision).toBeGreaterThanOrEqual(1);
      expect(Number.isSafeInteger(world.store.view.revision)).toBe(true);
    });

    test("each transaction has a revision of its own, higher than all before", async () => {
      await using world = await engine.open();
      const revisions = [world.store.view.revision];

      for (let count = 0; count < 10; count += 1) {
        revisions.push(
          await write(world.store, put(`${world.root}a`, `${count}`), put(`${world.root}b`, "x")),
        );
      }

      expect(revisions).toEqual([...new Set(revisions)].toSorted((a, b) => a - b));
      expect(world.store.view.revision).toBe(revisions.at(-1));
    });

    test("all entries of a transaction have its revision, and their place in it", async () => {
      await using world = await engine.open();

      const committed = await world.store.write({
        changes: [put(`${world.root}b`, "1"), put(`${world.root}a`, "2")],
      });

      expect(committed.entries.map((entry) => entry?.modRevision)).toEqual([
        committed.revision,
        committed.revision,
      ]);
      expect(committed.entries.map((entry) => entry?.key)).toEqual([`${world.root}b`, `${world.root}a`]);
      expect(committed.entries.map((entry) => entry?.ordinal)).toEqual([0, 1]);
    });

    test("the answer holds an entry for each put and nothing for a deletion", async () => {
      await using world = await engine.open();
      await write(world.store, put(`${world.root}a`, "1"));

      const { entries } = await world.store.write({
        changes: [remove(`${world.root}a`), put(`${world.root}b`, "2")],
      });

      expect(entries.map(text)).toEqual([undefined, "2"]);
    });

    test("create revision and version count from the creation", async () => {
      await using world = await engine.open();
      const key = `${world.root}a`;

      const first = await write(world.store, put(key, "1"));
      const second = await write(world.store, put(key, "2"));

      expect(world.store.view.get(key)).toMatchObject({
        createRevision: first,
        modRevision: second,
        version: 2,
      });
    });

    test("a key that is deleted and written again starts anew", async () => {
      await using world = await engine.open();
      const key = `${world.root}a`;
      await write(world.store, put(key, "1"));
      await write(world.store, put(key, "2"));

      const deletion = await write(world.store, remove(key));
      const absent = world.store.view.get(key);
      const again = await write(world.store, put(key, "3"));

      expect(absent).toBeUndefined();
      expect(again).toBeGreaterThan(deletion);
      expect(world.store.view.get(key)).toMatchObject({
        createRevision: again,
        modRevision: again,
        version: 1,
      });
    });

    test("writing the same value again is a revision", async () => {
      await using world = await engine.open();

      const first = await write(world.store, put(`${world.root}a`, "same"));
      const second = await write(world.store, put(`${world.root}a`, "same"));

      expect(second).toBeGreaterThan(first);
    });

    test("deleting a missing key is no revision and no event", async () => {
      await using world = await engine.open();
      const before = await write(world.store, put(`${world.root}a`, "1"));

      const { revision, entries } = await world.store.write({ changes: [remove(`${world.root}none`)] });
      const next = await write(world.store, put(`${world.root}z`, "end"));

      expect(revision).toBe(before);
      expect(entries).toEqual([undefined]);
      expect(await watchBetween(world, { prefix: world.root, after: before }, next)).toEqual([
        `${next} ${world.root}z - -> end`,
      ]);
    });

    test("a deletion of a missing key beside a change is left out", async () => {
      await using world = await engine.open();
      const after = world.store.view.revision;

      const revision = await write(world.store, remove(`${world.root}none`), put(`${world.root}a`, "1"));

      expect(await watchBetween(world, { prefix: world.root, after }, revision)).toEqual([
        `${revision} ${world.root}a - -> 1`,
      ]);
    });
  });

  describe("preconditions", () => {
    test("0 means that the key must not exist", async () => {
      await using world = await engine.open();
      const key = `${world.root}a`;
      const create = { compare: [{ key, modRevision: 0 }], changes: [put(key, "mine")] };

      await world.store.write(create);

      expect(await codeOf(() => world.store.write(create))).toBe("ConditionFailed");
      await write(world.store, remove(key));
      expect(await codeOf(() => world.store.write(create))).toBe("none");
    });

    test("a key must have the mod revision given", async () => {
      await using world = await engine.open();
      const key = `${world.root}a`;
      const first = await write(world.store, put(key, "1"));
      const second = await write(world.store, put(key, "2"));
      const attempt = (modRevision: number): Promise<string> =>
        codeOf(() => world.store.write({ compare: [{ key, modRevision }], changes: [put(key, "3")] }));

      expect(await attempt(first)).toBe("ConditionFailed");
      expect(await attempt(second + 1000)).toBe("ConditionFailed");
      expect(await attempt(second)).toBe("none");
    });

    test("a deletion can have one too", async () => {
      await using world = await engine.open();
      const key = `${world.root}a`;
      const first = await write(world.store, put(key, "1"));
      const second = await write(world.store, put(key, "2"));
      const attempt = (modRevision: number): Promise<string> =>
        codeOf(() => world.store.write({ compare: [{ key, modRevision }], changes: [remove(key)] }));

      expect(await attempt(first)).toBe("ConditionFailed");
      expect(text(world.store.view.get(key))).toBe("2");
      expect(await attempt(second)).toBe("none");
      expect(await attempt(second)).toBe("ConditionFailed");
    });

    test("one that fails on any key changes nothing, makes no revision and no event", async () => {
      await using world = await engine.open();
      const [a, b, other] = [`${world.root}a`, `${world.root}b`, `${world.root}other`];
      const revision = await write(world.store, put(a, "1"), put(b, "1"));
      const compare = [
        { key: a, modRevision: revision },
        { key: b, modRevision: revision },
        { key: other, modRevision: 7 },
      ];

      const code = await codeOf(() =>
        world.store.write({ compare, changes: [put(a, "2"), remove(b), put(other, "2")] }),
      );
      const next = await write(world.store, put(`${world.root}z`, "end"));

      expect(code).toBe("ConditionFailed");
      expect(contents(world.store.view, world.root).map(([, value]) => value)).toEqual(["1", "1", "end"]);
      expect(await watchBetween(world, { prefix: world.root, after: revision }, next)).toHaveLength(1);
    });

    test("they may name keys that the transaction does not change", async () => {
      await using world = await engine.open();
      const [guard, key] = [`${world.root}guard`, `${world.root}key`];
      const modRevision = await write(world.store, put(guard, "open"));
      const guarded = { compare: [{ key: guard, modRevision }], changes: [put(key, "in")] };

      expect(await codeOf(() => world.store.write(guarded))).toBe("none");
      await write(world.store, put(guard, "shut"));
      expect(await codeOf(() => world.store.write(guarded))).toBe("ConditionFailed");
    });

    test("a failed one shows in accepted why", async () => {
      await using world = await engine.open();
      const key = `${world.root}a`;
      const create = (value: string): Promise<Committed> =>
        world.store.write({ compare: [{ key, modRevision: 0 }], changes: [put(key, value)] });

      await Promise.allSettled([create("first"), create("second")]);

      expect(world.store.accepted.get(key)).toBeDefined();
    });

    test("of two writers with the same one, called at once, exactly one wins", async () => {
      await using world = await engine.open();
      const key = `${world.root}a`;
      const create = (value: string): Promise<Committed> =>
        world.store.write({ compare: [{ key, modRevision: 0 }], changes: [put(key, value)] });

      const outcomes = await Promise.allSettled([create("first"), create("second"), create("third")]);

      const winners = outcomes.filter((outcome) => outcome.status === "fulfilled");
      expect(winners).toHaveLength(1);
      expect(world.store.view.get(key)?.version).toBe(1);
    });

    test("a writer knows at once what it is judged against, or that it must wait its turn", async () => {
      await using world = await engine.open();
      const key = `${world.root}a`;

      const writing = world.store.write({ changes: [put(key, "1")] });
      const isKnown = text(world.store.accepted.get(key)) === "1";
      const mustWait = world.store.turn(key) !== undefined;
      await writing;

      expect(isKnown || mustWait).toBe(true);
      expect(text(world.store.accepted.get(key))).toBe("1");
    });

    test("64 concurrent increments of one counter are 64 versions", async () => {
      await using world = await engine.open();
      const key = `${world.root}counter`;

      const answers = await Promise.all(Array.from({ length: 64 }, () => increment(world.store, key)));

      expect(text(world.store.view.get(key))).toBe("64");
      expect(world.store.view.get(key)?.version).toBe(64);
      expect(new Set(answers).size).toBe(64);
    });

    test("transfers between accounts keep the sum", async () => {
      await using world = await engine.open();
      const accounts = Array.from({ length: 5 }, (_, index) => `${world.root}account/${index}`);
      await write(world.store, ...accounts.map((key) => put(key, "100")));

      await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          transfer(world.store, accounts[index % 5] ?? "", accounts[(index + 1 + (index % 4)) % 5] ?? ""),
        ),
      );

      const entries = accounts.map((key) => world.store.view.get(key));
      const amounts = entries.map((entry) => Number(text(entry)));
      expect(sum(entries.map((entry) => entry?.version ?? 0))).toBe(5 + 2 * 40);
      expect(sum(amounts)).toBe(500);
    });
  });

  describe("transactions", () => {
    test("one without changes is invalid", async () => {
      await using world = await engine.open();

      expect(await codeOf(() => world.store.write({ changes: [] }))).toBe("InvalidTransaction");
    });

    test("one that names a key twice is invalid and changes nothing", async () => {
      await using world = await engine.open();
      const key = `${world.root}a`;

      expect(await codeOf(() => write(world.store, put(key, "1"), put(key, "2")))).toBe("InvalidTransaction");
      expect(await codeOf(() => write(world.store, put(key, "1"), remove(key)))).toBe("InvalidTransaction");
      expect(world.store.view.get(key)).toBeUndefined();
    });

    test(`${MAX_CHANGES} changes are taken, one more is invalid`, async () => {
      await using world = await engine.open();
      const changes = (count: number) =>
        Array.from({ length: count }, (_, index) => put(`${world.root}${index}`, "x"));

      expect(await codeOf(() => write(world.store, ...changes(MAX_CHANGES + 1)))).toBe("InvalidTransaction");
      expect(contents(world.store.view, world.root)).toHaveLength(0);
      expect(await codeOf(() => write(world.store, ...changes(MAX_CHANGES)))).toBe("none");
      expect(contents(world.store.view, world.root)).toHaveLength(MAX_CHANGES);
    });

    test(`${MAX_CHANGES} conditions are taken, one more is invalid`, async () => {
      await using world = await engine.open();
      const conditions = (count: number) =>
        Array.from({ length: count }, (_, index) => ({ key: `${world.root}${index}`, modRevision: 0 }));
      const writing = (count: number) => () =>
        world.store.write({ compare: conditions(count), changes: [put(`${world.root}a`, "x")] });

      expect(await codeOf(writing(MAX_CHANGES + 1))).toBe("InvalidTransaction");
      expect(contents(world.store.view, world.root)).toHaveLength(0);
      expect(await codeOf(writing(MAX_CHANGES))).toBe("none");
    });

    test("readers see all of one or nothing", async () => {
      await using world = await engine.open();
      const [left, right] = [`${world.root}left`, `${world.root}right`];
      let torn = 0;
      let looks = 0;

      const writing = writeInTurn(world, 50, (step) => [put(left, `${step}`), put(right, `${step}`)]);
      await whileRunning(world, writing, () => {
        looks += 1;
        const { view } = world.store;
        if (text(view.get(left)) !== text(view.get(right))) torn += 1;
      });

      expect(torn).toBe(0);
      expect(looks).toBeGreaterThan(0);
    });

    test("is not visible before it is answered for", async () => {
      await using world = await engine.open();

      const writing = world.store.write({ changes: [put(`${world.root}a`, "1")] });
      const early = world.store.view.get(`${world.root}a`);
      await writing;

      expect(early).toBeUndefined();
    });

    test("many writers on different keys all succeed", async () => {
      await using world = await engine.open();
      const count = 500;

      const revisions = await Promise.all(
        Array.from({ length: count }, (_, index) =>
          write(world.store, put(`${world.root}k/${index}`, `${index}`)),
        ),
      );

      expect(new Set(revisions).size).toBe(count);
      expect(world.store.view.count(`${world.root}k/`, `${world.root}k0`)).toBe(count);
      for (const [index, revision] of revisions.entries()) {
        expect(world.store.view.get(`${world.root}k/${index}`)?.modRevision).toBe(revision);
      }
    });

    test("unconditional writes to one key all succeed, and the one with the highest revision stays", async () => {
      await using world = await engine.open();
      const key = `${world.root}a`;

      const revisions = await Promise.all(
        Array.from({ length: 30 }, (_, index) => write(world.store, put(key, `${index}`))),
      );

      const last = revisions.indexOf(Math.max(...revisions));
      expect(new Set(revisions).size).toBe(30);
      expect(text(world.store.view.get(key))).toBe(`${last}`);
      expect(world.store.view.get(key)?.version).toBe(30);
    });
  });

  describe("values", () => {
    test.each([
      ["an empty one", new Uint8Array(0)],
      ["all byte values", Uint8Array.from({ length: 256 }, (_, index) => index)],
      ["bytes that are not UTF-8", Uint8Array.of(0xff, 0xfe, 0xc3, 0x28, 0x00, 0x80)],
      ["1 MiB", Uint8Array.from({ length: 1024 * 1024 }, (_, index) => (index * 31) % 251)],
    ])("%s comes back as it was", async (_name, value) => {
      await using world = await engine.open();
      const key = `${world.root}value`;
      const after = world.store.view.revision;

      const { revision } = await world.store.write({ changes: [{ type: "put", key, value }] });

      const watch = world.store.watch({ prefix: key, after });
      const told = await watch.next();
      watch.close();
      expect(Buffer.compare(world.store.view.get(key)?.value ?? bytes("absent"), value)).toBe(0);
      expect(
        Buffer.compare((await world.store.at(revision, key)).get(key)?.value ?? bytes("absent"), value),
      ).toBe(0);
      expect(told.done === true ? undefined : told.value.events[0]?.after?.value.length).toBe(value.length);
    });

    test("keys may hold any text", async () => {
      await using world = await engine.open();
      const names = ["ключ", "鍵", "a b", "%2f..", "emoji 😀", "\u{7f}", "__proto__", "constructor"];

      await write(world.store, ...names.map((name) => put(`${world.root}${name}`, name)));

      for (const name of names) expect(text(world.store.view.get(`${world.root}${name}`))).toBe(name);
      expect(world.store.view.get("__proto__")).toBeUndefined();
    });

    test("the slot is the writer's own object wherever the entry appears", async () => {
      await using world = await engine.open();
      const key = `${world.root}a`;
      const slot = { decoded: true };
      const after = world.store.view.revision;

      const { entries } = await world.store.write({ changes: [put(key, "1", { slot })] });

      const watch = world.store.watch({ prefix: key, after });
      const told = await watch.next();
      watch.close();
      expect(entries[0]?.slot).toBe(slot);
      expect(world.store.view.get(key)?.slot).toBe(slot);
      expect(told.done === true ? undefined : told.value.events[0]?.after?.slot).toBe(slot);
    });

    test("what a reader puts into the slot is there for the next reader of that entry, not of a later one", async () => {
      await using world = await engine.open();
      const key = `${world.root}a`;
      await write(world.store, put(key, "1"));

      const entry = world.store.view.get(key);
      if (entry !== undefined) entry.slot = "decoded";
      const shared = world.store.view.get(key)?.slot;
      await write(world.store, put(key, "2"));

      expect(shared).toBe("decoded");
      expect(world.store.view.get(key)?.slot).toBeUndefined();
    });
  });
}

/** Reads the accepted value, adds one, and retries when another writer was faster. */
async function increment(store: Store, key: string): Promise<number> {
  return retry(store, [key], () => {
    const entry = store.accepted.get(key);
    return store.write({
      compare: [{ key, modRevision: entry?.modRevision ?? 0 }],
      changes: [put(key, `${Number(text(entry) ?? "0") + 1}`)],
    });
  });
}

async function transfer(store: Store, from: string, to: string): Promise<void> {
  await retry(store, [from, to], () => {
    const [source, target] = [store.accepted.get(from), store.accepted.get(to)];
    return store.write({
      compare: [
        { key: from, modRevision: source?.modRevision ?? 0 },
        { key: to, modRevision: target?.modRevision ?? 0 },
      ],
      changes: [put(from, `${Number(text(source)) - 1}`), put(to, `${Number(text(target)) + 1}`)],
    });
  });
}

/** Waits for its turn, then reads and submits without an await in between. */
async function retry(
  store: Store,
  touched: readonly string[],
  attempt: () => Promise<Committed>,
): Promise<number> {
  for (;;) {
    const turns = touched.map((key) => store.turn(key)).filter((turn) => turn !== undefined);
    if (turns.length > 0) {
      await Promise.all(turns);
      continue;
    }
    try {
      return (await attempt()).revision;
    } catch (error) {
      if (!isStoreError(error, "ConditionFailed")) throw error;
    }
  }
}

type Changes = Parameters<Store["write"]>[0]["changes"];

async function writeInTurn(
  world: StoreFixture,
  count: number,
  changes: (step: number) => Changes,
): Promise<void> {
  for (let step = 0; step < count; step += 1) await world.store.write({ changes: changes(step) });
}

/** Calls `look` between steps of the loop until the work is done. */
async function whileRunning(world: StoreFixture, work: Promise<void>, look: () => void): Promise<void> {
  let state: "running" | "over" = "running";
  const over = work.finally(() => {
    state = "over";
  });
  while ((state as string) === "running") {
    look();
    await world.pass(0);
  }
  await over;
}

function sum(numbers: readonly number[]): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
