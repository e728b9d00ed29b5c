/** Work that the store's thread postpones while writers wait, and that no acknowledged write depends on. */
import { closeSync, openSync, readSync, statfsSync, statSync, truncateSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { BURST_CHECKPOINT_BYTES, DiskStore } from "./disk/disk-store.js";
import { readMark } from "./disk/marker.js";
import { contents, contentsOf, copyDir, makeDir, open, put, removeDirs, Writer } from "./fixture.ts";
import { encodeCommits } from "./row.ts";

const MIB = 1 << 20;
/** More bytes than are usually written before a checkpoint. */
const COMMITS = 100;
const VALUE = "v".repeat(60_000);

afterAll(removeDirs);

interface Burst {
  readonly dir: string;
  readonly store: DiskStore;
  readonly writer: Writer;
}

function openStore(maxBytes?: number): Burst {
  const dir = makeDir();
  const newClusterId = "00000000-0000-4000-8000-000000000000";
  const store = new DiskStore({ type: "open", dir, newClusterId, maxBytes }, () => undefined);
  return { dir, store, writer: new Writer() };
}

function commit({ store, writer }: Burst, key: string): void {
  store.commit(Buffer.from(encodeCommits([writer.next(put(key, key + VALUE))])));
}

/** Commits as the thread does while the next commit already waits. */
function burst(opened: Burst): void {
  for (let i = 0; i < COMMITS; i += 1) {
    commit(opened, `/k/${String(i)}`);
    opened.store.tidy(0, true);
  }
}

function sizes(dir: string): { readonly db: number; readonly log: number } {
  return { db: statSync(join(dir, "store.db")).size, log: statSync(join(dir, "store.db-wal")).size };
}

function flip(file: string, position: number): void {
  const fd = openSync(file, "r+");
  const byte = Buffer.alloc(1);
  readSync(fd, byte, 0, 1, position);
  writeSync(fd, Buffer.of((byte[0] ?? 0) ^ 1), 0, 1, position);
  closeSync(fd);
}

describe("a burst", () => {
  const { bavail, bsize } = statfsSync(tmpdir());
  const hasRoom = bavail * bsize > 16 * BURST_CHECKPOINT_BYTES;
  test.runIf(hasRoom)(
    "is not kept waiting by copying: the log gets room at once, and is copied once it is over",
    () => {
      const opened = openStore();

      burst(opened);
      expect(sizes(opened.dir).log).toBeGreaterThanOrEqual(BURST_CHECKPOINT_BYTES);
      expect(sizes(opened.dir).db).toBeLessThan(MIB);

      opened.store.tidy(0, false);
      expect(sizes(opened.dir).db).toBeGreaterThan(COMMITS * VALUE.length);
      opened.store.close();
      expect(sizes(opened.dir).log).toBe(0);
    },
  );

  test("survives a crash, whatever the reserved end of the log contains", async () => {
    const opened = openStore();
    burst(opened);
    const [whole, cut, flipped] = [copyDir(opened.dir), copyDir(opened.dir), copyDir(opened.dir)];
    opened.store.close();
    truncateSync(join(cut, "store.db-wal"), 2 * COMMITS * VALUE.length);
    flip(join(flipped, "store.db-wal"), BURST_CHECKPOINT_BYTES - 1000);

    for (const dir of [whole, cut, flipped]) {
      const { rows, backend } = await open(dir);
      expect(contents(rows)).toEqual(contentsOf(opened.writer.state));
      await backend.close();
    }
  });

  test("that lost a part of its log is refused", async () => {
    const opened = openStore();
    burst(opened);
    const flipped = copyDir(opened.dir);
    opened.store.close();
    flip(join(flipped, "store.db-wal"), (COMMITS * VALUE.length) / 2);

    await expect(open(flipped)).rejects.toThrow(/revision \d+, but revision 101 was acknowledged/);
  });

  test("reserves no space when the disk has little", () => {
    const opened = openStore(64 * MIB);

    burst(opened);

    expect(sizes(opened.dir).log).toBeLessThan(8 * MIB);
    expect(sizes(opened.dir).db).toBeGreaterThan(4 * MIB);
    opened.store.close();
  });
});

describe("forgetting history", () => {
  test("moves many values in short steps, and skips values superseded on the way", () => {
    const { store, writer } = openStore();
    const write = (keys: number): void => {
      for (let i = 0; i < 3000; i += 100) {
        const batch = Array.from({ length: 100 }, (_, n) =>
          writer.next(put(`/k/${String((i + n) % keys)}`, "v")),
        );
        store.commit(Buffer.from(encodeCommits(batch)));
      }
    };
    write(3000);
    const first = store.compact(3001);
    while (store.compact(3001) < 3001);
    write(30);

    expect(first).toBeLessThan(500);
    expect(store.compact(6001)).toBe(6001);
    store.close();
  });
});

describe("the marker", () => {
  test("follows a commit, and does not delay it", () => {
    const opened = openStore();
    const marked = (): number | undefined => readMark(join(opened.dir, "marker"))?.revision;

    commit(opened, "/a");
    commit(opened, "/b");
    expect(marked()).toBe(1);

    opened.store.tidy(0, true);
    expect(marked()).toBe(3);
    opened.store.close();
  });

  test("is up to date before any other request is served", async () => {
    const dir = makeDir();
    const { backend } = await open(dir);
    const writer = new Writer();
    for (let i = 0; i < 20; i += 1) await backend.commit([writer.next(put("/a", String(i)))]);

    await backend.compact(1);

    expect(readMark(join(dir, "marker"))?.revision).toBe(21);
    await backend.close();
  });
});
