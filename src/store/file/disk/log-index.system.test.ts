import fc from "fast-check";
import { expect, test } from "vitest";
import { put, remove, Writer } from "../fixture.ts";
import { encodeCommits } from "../row.ts";
import { LogIndex, type StepLimit } from "./log-index.js";
import { revisionOf, ROWS_PER_REVISION } from "./record.js";

const KEYS = ["/a", "/b", "/c", "/d", "/e"];

/** Puts a key, or deletes it if it exists. */
const change = fc.record({ key: fc.constantFrom(...KEYS), isDeletion: fc.boolean() });
const transaction = fc.uniqueArray(change, { minLength: 1, maxLength: 3, selector: ({ key }) => key });
type Transaction = { key: string; isDeletion: boolean }[];

/** Ids of the live records after each revision. */
function write(transactions: readonly Transaction[]): { index: LogIndex; live: Map<number, Set<number>> } {
  const index = new LogIndex();
  const writer = new Writer();
  const live = new Map([[1, new Set<number>()]]);
  for (const changes of transactions) {
    const wanted = changes.map(({ key, isDeletion }) =>
      isDeletion && writer.state.get(key) !== undefined ? remove(key) : put(key, "v"),
    );
    index.add(Buffer.from(encodeCommits([writer.next(...wanted)])));
    live.set(writer.state.revision, new Set([...writer.state.range("", "\u{ffff}")].map(idOf)));
  }
  return { index, live };
}

function idOf({ modRevision, ordinal }: { modRevision: number; ordinal: number }): number {
  return modRevision * ROWS_PER_REVISION + ordinal;
}

/** Content of the table `live` after cutting history in steps of this size. */
function cutInSteps(index: LogIndex, rows: Set<number>, range: { after: number; target: number }): void {
  const limit: StepLimit = { removed: 1, added: 2, bytes: 500, passed: 800 };
  const cut = index.cut(range.after, range.target);
  for (let reached = range.after; reached < range.target;) {
    const { through, survivors, dead } = index.step(cut, limit);
    expect(through > reached || dead.length > 0).toBe(true);
    for (const id of dead) rows.delete(id);
    cut.removed += dead.length;
    for (const id of survivors) rows.add(id);
    index.drop(through);
    reached = through;
  }
}

test("cuts in small steps leave the live records of their end, and never move a record in vain", () => {
  fc.assert(
    fc.property(
      fc.array(transaction, { minLength: 2, maxLength: 60 }),
      fc.integer({ min: 1, max: 60 }),
      (transactions, first) => {
        const { index, live } = write(transactions);
        const newest = transactions.length + 1;
        const rows = new Set<number>();
        const middle = Math.min(first, newest);

        cutInSteps(index, rows, { after: 1, target: middle });
        expect(rows).toEqual(live.get(middle));
        cutInSteps(index, rows, { after: middle, target: newest });
        expect(rows).toEqual(live.get(newest));
      },
    ),
  );
});

test("an interrupted cut resumes where it stopped, without the records it has skipped", () => {
  fc.assert(
    fc.property(fc.array(transaction, { minLength: 6, maxLength: 60 }), (transactions) => {
      const { index, live } = write(transactions);
      const newest = transactions.length + 1;
      const rows = new Set<number>();
      const { through, survivors } = index.step(index.cut(1, newest), {
        removed: 1,
        added: 1,
        bytes: 1,
        passed: 300,
      });
      for (const id of survivors) rows.add(id);
      index.drop(through);

      cutInSteps(index, rows, { after: through, target: newest });

      expect(rows).toEqual(live.get(newest));
    }),
  );
});

test("a cut is bounded, and ends with a whole revision", () => {
  const index = new LogIndex();
  const writer = new Writer();
  const batch = Array.from({ length: 1100 }, (_, n) =>
    writer.next(...Array.from({ length: 120 }, (__, key) => put(`/${String(key)}`, String(n)))),
  );
  index.add(Buffer.from(encodeCommits(batch)));

  const cut = index.cut(1, 1101);

  expect(cut.target).toBeLessThan(1101);
  expect(cut.target * 120).toBeLessThan((1 << 17) + 2 * ROWS_PER_REVISION);
  const limit = { removed: Infinity, added: Infinity, bytes: Infinity, passed: Infinity };
  const { survivors } = index.step(cut, limit);
  expect(new Set(survivors.map(revisionOf))).toEqual(new Set([cut.target]));
  expect(survivors.length).toBe(120);
});

test("a cut deletes superseded rows in order, before it moves any record", () => {
  const index = new LogIndex();
  const writer = new Writer();
  const keys = Array.from({ length: 40 }, (_, n) => `/${String(n)}`);
  const write = (order: readonly string[]): Buffer =>
    Buffer.from(encodeCommits(order.map((key) => writer.next(put(key, "v")))));
  index.add(write(keys));
  index.drop(41);
  index.add(write(keys.toReversed()));

  const cut = index.cut(41, 81);
  const limit = { removed: 30, added: Infinity, bytes: Infinity, passed: Infinity };
  const first = index.step(cut, limit);
  cut.removed += first.dead.length;
  const second = index.step(cut, limit);

  expect(first).toMatchObject({ through: 41, survivors: [] });
  expect([...first.dead, ...second.dead].map(revisionOf)).toEqual(keys.map((_, n) => n + 2));
  expect(second).toMatchObject({ through: 81, survivors: { length: 40 } });
});
