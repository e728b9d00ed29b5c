/** Stores whose process was killed while it dropped history. */
import { join } from "node:path";
import Database from "libsql";
import { afterAll, describe, expect, test } from "vitest";
import { DiskStore } from "./disk/disk-store.js";
import { contents, contentsOf, copyDir, makeDir, open, put, remove, removeDirs, Writer } from "./fixture.ts";
import { encodeCommits } from "./row.ts";

const KEYS = 600;
const TARGET = 2500;

afterAll(removeDirs);

interface Interrupted {
  readonly dir: string;
  readonly writer: Writer;
  /** Revision that the cut had reached. */
  readonly reached: number;
}

/**
 * Five rounds over all keys, in which every seventh is deleted and created again. The first round is dropped, and a
 * part of the next three.
 */
async function interrupt(steps: number): Promise<Interrupted> {
  const dir = makeDir();
  const newClusterId = "00000000-0000-4000-8000-000000000000";
  const store = new DiskStore({ type: "open", dir, newClusterId, maxBytes: undefined }, () => undefined);
  const writer = new Writer();
  store.commit(Buffer.from(encodeCommits([writer.next(put("/kept", "for ever"))])));
  for (let round = 0; round < 5; round += 1) {
    const batch = Array.from({ length: KEYS }, (_, n) => {
      const isDeletion = round % 2 === 1 && n % 7 === 0;
      return writer.next(
        isDeletion ? remove(`/k/${String(n)}`) : put(`/k/${String(n)}`, `${String(round)} of ${String(n)}`),
      );
    });
    store.commit(Buffer.from(encodeCommits(batch)));
    while (store.compact(KEYS) < KEYS);
  }
  let reached = 0;
  for (let step = 0; step < steps; step += 1) {
    reached = store.compact(TARGET);
    store.commit(Buffer.from(encodeCommits([writer.next(put("/other", String(step)))])));
  }
  const copy = copyDir(dir);
  await store.close();
  return { dir: copy, writer, reached };
}

function keptAt(writer: Writer, revision: number): number {
  const live = new Set<string>();
  for (const { revision: at, events } of writer.commits) {
    if (at > revision) break;
    for (const { key, after } of events) {
      if (after === undefined) live.delete(key);
      else live.add(key);
    }
  }
  return live.size;
}

describe.each([1, 2, 4])("a cut that was interrupted after %i steps", (steps) => {
  test("keeps all live values, and the history after its target", async () => {
    const { dir, writer, reached } = await interrupt(steps);
    expect(reached).toBeLessThan(TARGET);

    const { backend, rows, compactedRevision, revision } = await open(dir);

    expect([compactedRevision, revision]).toEqual([TARGET, writer.state.revision]);
    expect(contents(rows)).toEqual(contentsOf(writer.state));
    await expect(backend.read(TARGET - 1, revision)).rejects.toMatchObject({ code: "Compacted" });
    const { commits } = await backend.read(TARGET, revision);
    expect(commits.map((commit) => commit.revision)).toEqual(
      writer.commits.slice(TARGET - 1, TARGET - 1 + commits.length).map((commit) => commit.revision),
    );
    expect(commits.length).toBeGreaterThan(0);
    await backend.close();
  });

  test("is completed by the next one, and keeps all live values", async () => {
    const { dir, writer } = await interrupt(steps);
    const first = await open(dir);
    await first.backend.compact(TARGET);
    await first.backend.close();

    const second = await open(dir);

    expect(second.compactedRevision).toBe(TARGET);
    expect(contents(second.rows)).toEqual(contentsOf(writer.state));
    expect(second.rows.filter(({ revision }) => revision <= TARGET).length).toBe(keptAt(writer, TARGET));
    await second.backend.compact(writer.state.revision);
    await second.backend.close();
    const third = await open(dir);
    expect(contents(third.rows)).toEqual(contentsOf(writer.state));
    expect(third.rows.length).toBe(writer.state.live.liveCount);
    await third.backend.close();
  });

  test.each([
    ["a value that lives", "DELETE FROM live WHERE key = '/kept'"],
    ["a part of what is still to be cut", "DELETE FROM log WHERE id = (SELECT min(id) FROM log)"],
    ["its end", "UPDATE meta SET floor = floor + 1"],
  ])("that lost %s is refused", async (_, sql) => {
    const { dir } = await interrupt(steps);
    const db = new Database(join(dir, "store.db"));
    expect(db.prepare(sql).run().changes).toBe(1);
    db.close();

    await expect(open(dir)).rejects.toMatchObject({ code: "Damaged" });
  });
});
