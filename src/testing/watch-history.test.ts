import { describe, expect, test } from "vitest";
import type { Entry, WatchBatch, WatchEvent } from "../store/store.ts";
import {
  countEvents,
  watchViolations,
  type RecordedStep,
  type RecordedWatch,
  type WatchHistory,
} from "./watch-history.ts";
import type { RecordedTransaction } from "./watch-replay.ts";

const encoder = new TextEncoder();

function transaction(revision: number, changes: Record<string, string | undefined>): RecordedTransaction {
  return {
    revision,
    changes: Object.entries(changes).map(([key, value]) => ({
      key,
      value: value === undefined ? undefined : encoder.encode(value),
    })),
  };
}

/** a is created at 2, changed with b at 4, deleted at 6; c/x exists beside them; 7 creates a again. */
const TRANSACTIONS = [
  transaction(2, { "a/1": "one" }),
  transaction(3, { "c/x": "aside" }),
  transaction(4, { "a/1": "two", "a/2": "b" }),
  transaction(6, { "a/1": undefined }),
  transaction(7, { "a/1": "again" }),
];

function entry(
  key: string,
  value: string,
  revisions: readonly [create: number, mod: number, version: number],
): Entry {
  const [createRevision, modRevision, version] = revisions;
  const ordinal = 0;
  return {
    key,
    value: encoder.encode(value),
    createRevision,
    modRevision,
    version,
    ordinal,
    expiresAt: undefined,
    slot: undefined,
  };
}

const ONE = entry("a/1", "one", [2, 2, 1]);
const TWO = entry("a/1", "two", [2, 4, 2]);
const B = entry("a/2", "b", [4, 4, 1]);
const AGAIN = entry("a/1", "again", [7, 7, 1]);
const ASIDE = entry("c/x", "aside", [3, 3, 1]);

function told(revision: number, before: Entry | undefined, after: Entry | undefined): WatchEvent {
  return { revision, ordinal: 0, key: (before ?? after)?.key ?? "", before, after };
}

const CREATED = told(2, undefined, ONE);
const CHANGED = told(4, ONE, TWO);
const WITH_B = told(4, undefined, B);
const DELETED = told(6, TWO, undefined);
const RECREATED = told(7, undefined, AGAIN);

function batch(revision: number, ...events: WatchEvent[]): RecordedStep {
  return { type: "batch", batch: { revision, events } satisfies WatchBatch };
}

function progress(revision: number): RecordedStep {
  return { type: "progress", revision };
}

/** A watch of a/ from the beginning. Each test breaks it in one place. */
function history(
  steps: readonly RecordedStep[],
  changed: Partial<RecordedWatch> = {},
  compacted = 0,
): WatchHistory {
  const watch: RecordedWatch = { name: "w", prefix: "a/", after: 1, steps, end: "Left", ...changed };
  return { transactions: TRANSACTIONS, watches: [watch], compacted };
}

function broken(recorded: WatchHistory): string[] {
  return [...new Set(watchViolations(recorded).map((violation) => violation.promise))];
}

const WHOLE = [batch(2, CREATED), progress(3), batch(6, CHANGED, WITH_B, DELETED), batch(7, RECREATED)];

describe("watchViolations", () => {
  test("a history that keeps all promises has no violation", () => {
    expect(watchViolations(history(WHOLE))).toEqual([]);
  });

  test("a watch that its watcher closed early owes nothing more", () => {
    expect(watchViolations(history(WHOLE.slice(0, 2)))).toEqual([]);
  });

  test("a watch from a later revision owes only the rest", () => {
    expect(watchViolations(history([batch(6, DELETED), batch(7, RECREATED)], { after: 4 }))).toEqual([]);
  });

  test("a watch of one key gets events of that key only", () => {
    expect(watchViolations(history([batch(4, WITH_B), progress(7)], { prefix: "a/2" }))).toEqual([]);
    expect(broken(history([batch(2, CREATED)], { prefix: "a/2" }))).toEqual(["Filter"]);
  });

  test("events out of order break Ordered", () => {
    expect(broken(history([batch(6, CHANGED, WITH_B, CREATED, DELETED)]))).toContain("Ordered");
  });

  test("an event that is repeated in another batch breaks Unique", () => {
    expect(broken(history([batch(2, CREATED), batch(2, CREATED)]))).toContain("Unique");
  });

  test("an event that is repeated in one batch breaks Unique", () => {
    expect(broken(history([batch(2, CREATED, CREATED)]))).toEqual(["Unique"]);
  });

  test("an event omitted between two others breaks Reliable", () => {
    expect(broken(history([batch(2, CREATED), batch(6, DELETED)]))).toEqual(["Reliable"]);
  });

  test("an event that was never committed breaks Reliable", () => {
    const invented = told(5, undefined, entry("a/9", "ghost", [5, 5, 1]));

    expect(broken(history([batch(5, CREATED, CHANGED, WITH_B, invented)]))).toEqual(["Reliable"]);
  });

  test("a revision split over two batches breaks Atomic", () => {
    expect(broken(history([batch(2, CREATED), batch(3, CHANGED), batch(4, WITH_B)]))).toContain("Atomic");
  });

  test("a partial revision breaks Atomic", () => {
    expect(broken(history([batch(2, CREATED), batch(4, CHANGED), batch(6, DELETED)]))).toEqual(["Atomic"]);
  });

  test("a watch that skips its first event breaks Resumable", () => {
    expect(broken(history([batch(7, RECREATED)], { after: 4 }))).toEqual(["Resumable"]);
  });

  test("a watch that delivers old events breaks Resumable", () => {
    expect(broken(history([batch(6, DELETED)], { after: 6 }))).toEqual(["Resumable"]);
    expect(broken(history([batch(2, CREATED)], { after: 100 }))).toContain("Resumable");
  });

  test("a watch that ends as compacted without a compaction breaks Resumable", () => {
    expect(broken(history(WHOLE, { end: "Compacted" }, 5))).toEqual(["Resumable"]);
    expect(broken(history(WHOLE.slice(0, 1), { end: "Compacted" }, 5))).toEqual([]);
  });

  test("a bookmark ahead of the delivered events breaks Bookmarkable", () => {
    expect(broken(history([batch(2, CREATED), progress(4), batch(6, CHANGED, WITH_B, DELETED)]))).toContain(
      "Bookmarkable",
    );
    expect(broken(history([batch(6, CREATED)]))).toEqual(["Bookmarkable"]);
  });

  test("a bookmark that goes back breaks Bookmarkable", () => {
    expect(broken(history([batch(2, CREATED), progress(3), progress(2)]))).toEqual(["Bookmarkable"]);
  });

  test("a batch whose revision is below its events breaks Bookmarkable", () => {
    expect(broken(history([batch(1, CREATED)]))).toEqual(["Bookmarkable"]);
  });

  test("a key outside the range breaks Filter", () => {
    expect(broken(history([batch(3, CREATED, told(3, undefined, ASIDE))]))).toEqual(["Filter"]);
  });

  test("a wrong value before breaks BeforeAfter", () => {
    const wrong = told(4, entry("a/1", "other", [2, 2, 1]), TWO);

    expect(broken(history([batch(2, CREATED), batch(4, wrong, WITH_B)]))).toEqual(["BeforeAfter"]);
  });

  test("a wrong value after breaks BeforeAfter", () => {
    expect(broken(history([batch(2, told(2, undefined, entry("a/1", "other", [2, 2, 1])))]))).toEqual([
      "BeforeAfter",
    ]);
  });

  test("a wrong version breaks BeforeAfter", () => {
    const wrong = told(4, ONE, entry("a/1", "two", [2, 4, 3]));

    expect(broken(history([batch(2, CREATED), batch(4, wrong, WITH_B)]))).toEqual(["BeforeAfter"]);
  });

  test("a change delivered as a creation breaks IsCreate", () => {
    const wrong = told(4, undefined, entry("a/1", "two", [4, 4, 1]));

    expect(broken(history([batch(2, CREATED), batch(4, wrong, WITH_B)]))).toContain("IsCreate");
  });

  test("a creation after a deletion, delivered as a change, breaks IsCreate", () => {
    const wrong = told(7, TWO, entry("a/1", "again", [2, 7, 3]));

    expect(broken(history([batch(6, CREATED, CHANGED, WITH_B, DELETED), batch(7, wrong)]))).toContain(
      "IsCreate",
    );
  });

  test("a deletion delivered as a change breaks IsCreate", () => {
    const wrong = told(6, TWO, entry("a/1", "two", [2, 6, 3]));

    expect(broken(history([batch(6, CREATED, CHANGED, WITH_B, wrong)]))).toContain("IsCreate");
  });

  test("each broken promise names the watch", () => {
    expect(watchViolations(history([batch(7, RECREATED)], { after: 4, name: "third" }))).toEqual([
      { promise: "Resumable", watch: "third", message: "revision 6 is missing before 7" },
    ]);
  });
});

describe("countEvents", () => {
  test("counts the events of all watches", () => {
    expect(countEvents(history(WHOLE))).toBe(5);
  });
});
