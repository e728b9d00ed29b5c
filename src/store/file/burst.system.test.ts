/** Work that the store does behind the response to a commit, and that no acknowledged write depends on. */
import { closeSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { DiskStore } from "./disk/disk-store.js";
import { readMark } from "./disk/marker.js";
import {
  askChild,
  contents,
  contentsOf,
  copyDir,
  makeDir,
  open,
  openRequest,
  put,
  removeDirs,
  Writer,
} from "./fixture.ts";
import { encodeCommits } from "./row.ts";
import type { Request } from "./thread-protocol.ts";

const MIB = 1 << 20;
/** More bytes than the size of the log that triggers a checkpoint. */
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
    opened.store.tidy(0);
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

function headerOf(dir: string): string {
  const header = Buffer.alloc(32);
  const fd = openSync(join(dir, "store.db-wal"), "r");
  readSync(fd, header, 0, header.length, 0);
  closeSync(fd);
  return header.toString("hex");
}

describe("a burst", () => {
  test("does not wait for its log to be copied: commits go on, and then the log starts again", async () => {
    // An eighth of it is the size at which the log starts again.
    const opened = openStore(32 * MIB);
    commit(opened, "/first");
    const header = headerOf(opened.dir);

    // All in one turn, so the thread of the store learns of no copy that ends.
    burst(opened);
    expect(sizes(opened.dir).log).toBeGreaterThan((COMMITS * VALUE.length) / 2);
    await opened.store.idle();
    expect(sizes(opened.dir).db).toBeGreaterThan(MIB);
    expect(headerOf(opened.dir)).toBe(header);

    // One more copy, of the rest.
    for (let i = 0; headerOf(opened.dir) === header && i < 4; i += 1) {
      opened.store.tidy(0);
      await opened.store.idle();
      commit(opened, "/last");
    }
    expect(headerOf(opened.dir)).not.toBe(header);
    expect(sizes(opened.dir).db).toBeGreaterThan(COMMITS * VALUE.length);
    await opened.store.close();
    expect(sizes(opened.dir).log).toBe(0);
  });

  test("leaves a bounded log, also if writers give the copy no time", async () => {
    const opened = openStore(32 * MIB);

    for (let round = 0; round < 4; round += 1) burst(opened);

    expect(sizes(opened.dir).log).toBeLessThan(20 * MIB);
    await opened.store.close();
  });

  test("survives a crash while its log is copied", async () => {
    const opened = openStore();
    burst(opened);
    const copy = copyDir(opened.dir);
    await opened.store.close();

    const { rows, backend } = await open(copy);

    expect(contents(rows)).toEqual(contentsOf(opened.writer.state));
    await backend.close();
  });

  test.each([3, 4, 5, 6, 7, 8])("survives a kill while its log is copied, after %i MiB", async (mib) => {
    const dir = makeDir();
    const writer = new Writer();
    const commits = Array.from({ length: mib }, (_, n): Request => {
      const records = encodeCommits([writer.next(put(`/k/${String(n)}`, "v".repeat(MIB)))]);
      return { type: "commit", records, elapsedMs: 0 };
    });

    // The process is killed behind its last response, where a copy begins or goes on.
    expect(askChild([openRequest(dir), ...commits]).map(({ type }) => type)).not.toContain("failed");

    const { rows, backend } = await open(dir);
    expect(contents(rows)).toEqual(contentsOf(writer.state));
    await backend.close();
  });

  test("that lost a part of its log is refused", async () => {
    const opened = openStore();
    burst(opened);
    const flipped = copyDir(opened.dir);
    await opened.store.close();
    flip(join(flipped, "store.db-wal"), (COMMITS * VALUE.length) / 2);

    await expect(open(flipped)).rejects.toThrow(/revision \d+, but revision 101 was acknowledged/);
  });
});

describe("forgetting history", () => {
  test("moves many values in short steps, and skips values superseded on the way", async () => {
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
    await store.close();
  });

  test("writes about a megabyte in a step, on however many pages its rows lie", async () => {
    const keys = 1500;
    const opened = openStore();
    const { store, writer } = opened;
    const write = (order: readonly number[]): void => {
      const batch = order.map((n) => writer.next(put(`/k/${String(n)}`, "v".repeat(5000))));
      store.commit(Buffer.from(encodeCommits(batch)));
    };
    const inOrder = Array.from({ length: keys }, (_, n) => n);
    write(inOrder);
    while (store.compact(keys + 1) < keys + 1);
    // 7 has no common divisor with the number of keys.
    write(inOrder.map((n) => (n * 7) % keys));

    const target = writer.state.revision;
    const written = [];
    for (let reached = 0; reached < target;) {
      const before = sizes(opened.dir).log;
      reached = store.compact(target);
      written.push(sizes(opened.dir).log - before);
      // Commits go on between the steps.
      commit(opened, "/other");
    }

    expect(written.length).toBeGreaterThan(1);
    expect(Math.max(...written)).toBeLessThan(2 * MIB);
    await store.close();
    const { rows, backend } = await open(opened.dir);
    expect(contents(rows)).toEqual(contentsOf(writer.state));
    await backend.close();
  });
});

describe("the marker", () => {
  test("follows a commit, and does not delay it", async () => {
    const opened = openStore();
    const marked = (): number | undefined => readMark(join(opened.dir, "marker"))?.revision;

    commit(opened, "/a");
    commit(opened, "/b");
    expect(marked()).toBe(1);

    opened.store.tidy(0);
    expect(marked()).toBe(3);
    await opened.store.close();
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
