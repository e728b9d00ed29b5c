/** Stores to damage, their acknowledged content, and the check that an opened store still has all of it. */
import { cp } from "node:fs/promises";
import type { Loop, Random } from "../../src/base/loop/loop.ts";
import { seededRandom } from "../../src/base/loop/random.ts";
import { openFileStore } from "../../src/store/file-store.ts";
import { isStoreError } from "../../src/store/store-error.ts";
import type { Change, Store } from "../../src/store/store.ts";

const DAMAGE_ROOT = "/registry/damage/";
const KEYS = 30;

/** Everything that a reader can see of a store. */
export interface Acknowledged {
  readonly revision: number;
  readonly compacted: number;
  readonly entries: readonly string[];
  readonly history: readonly string[];
}

/** A store with live and deleted keys, history, a compaction, keys that expire in an hour, small and large values. */
async function fillStore(store: Store, seed: number, transactions: number): Promise<void> {
  const random = seededRandom("damage", seed);
  for (let count = 0; count < transactions; count += 1) {
    const numbers = new Set(Array.from({ length: 1 + random.below(3) }, () => random.below(KEYS)));
    await store.write({ changes: [...numbers].map((number) => someChange(number, count, random)) });
    if (count === Math.floor(transactions / 2)) await store.compact(store.view.revision - 5);
  }
}

function someChange(number: number, count: number, random: Random): Change {
  const key = `${DAMAGE_ROOT}${number}`;
  const kind = random.below(8);
  if (kind === 0) return { type: "delete", key };
  const value = Buffer.from(`${count} ${"v".repeat(random.below(kind === 1 ? 20_000 : 800))}`);
  return kind === 2 ? { type: "put", key, value, ttlMs: 3_600_000 } : { type: "put", key, value };
}

/** Reads the whole store, present and past. */
async function readAll(store: Store, compacted: number): Promise<Acknowledged> {
  const { view } = store;
  const entries = [...view.range("", "\u{ffff}")].map(
    ({ key, value, createRevision, modRevision, version }) =>
      `${key} ${createRevision} ${modRevision} ${version} ${Buffer.from(value).toString("latin1")}`,
  );
  const history: string[] = [];
  if (view.revision > compacted) {
    for await (const batch of store.watch({ prefix: "", after: compacted })) {
      for (const { revision, key, after } of batch.events) {
        history.push(
          `${revision} ${key} ${after === undefined ? "deleted" : Buffer.from(after.value).toString("latin1")}`,
        );
      }
      if (batch.revision >= view.revision) break;
    }
  }
  return { revision: view.revision, compacted, entries, history };
}

/**
 * Makes a store in `dir`: closes it, opens it, writes once more, and copies it to `copy` as a crash would leave it. Then closes `dir` too.
 */
export async function makeStores(
  loop: Loop,
  { dir, copy }: { dir: string; copy: string },
): Promise<Acknowledged> {
  const first = await openFileStore({ dir, loop });
  await fillStore(first, 1, 120);
  await first.close();
  const second = await openFileStore({ dir, loop });
  await fillStore(second, 2, 60);
  const acknowledged = await readAll(second, second.view.revision - 25);
  // The marker follows the response to a write, and precedes the response to anything else.
  await second.compact(1);
  await cp(dir, copy, { recursive: true });
  await second.close();
  return acknowledged;
}

export type Outcome = "refused" | "whole";

/** Opens the store; throws unless it is refused as damaged, naming one of its files, or has everything. */
export async function openAndCheck(loop: Loop, dir: string, acknowledged: Acknowledged): Promise<Outcome> {
  const opened = await openOrRefuse(loop, dir);
  if (opened === "refused") return "refused";
  try {
    compare(await readAll(opened, acknowledged.compacted), acknowledged);
    return "whole";
  } finally {
    await opened.close();
  }
}

/** Like `openAndCheck`, and writes once more if the store opens: damage must not spread to later writes. */
export async function openAndWrite(
  loop: Loop,
  dir: string,
  acknowledged: Acknowledged,
): Promise<{ readonly outcome: Outcome; readonly acknowledged: Acknowledged }> {
  const opened = await openOrRefuse(loop, dir);
  if (opened === "refused") return { outcome: "refused", acknowledged };
  try {
    compare(await readAll(opened, acknowledged.compacted), acknowledged);
    await fillStore(opened, 3, 4);
    return { outcome: "whole", acknowledged: await readAll(opened, opened.view.revision - 2) };
  } finally {
    await opened.close();
  }
}

async function openOrRefuse(loop: Loop, dir: string): Promise<Store | "refused"> {
  try {
    return await openFileStore({ dir, loop });
  } catch (error) {
    if (isStoreError(error, "Damaged") && error.message.includes(dir)) return "refused";
    throw error;
  }
}

function compare(found: Acknowledged, expected: Acknowledged): void {
  for (const what of ["revision", "entries", "history"] as const) {
    if (JSON.stringify(found[what]) !== JSON.stringify(expected[what])) {
      throw new Error(
        `the store opens, but its ${what} are not what was acknowledged: ${firstDifference(found, expected, what)}`,
      );
    }
  }
}

function firstDifference(
  found: Acknowledged,
  expected: Acknowledged,
  what: "revision" | "entries" | "history",
): string {
  if (what === "revision") return `${found.revision} instead of ${expected.revision}`;
  const index = expected[what].findIndex((line, at) => line !== found[what][at]);
  return `${found[what][index]?.slice(0, 80)} instead of ${expected[what][index]?.slice(0, 80)}`;
}
