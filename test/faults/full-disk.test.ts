/** A full disk fails writes and nothing else; once there is room, writes work again, now and after the next start. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Loop } from "../../src/base/loop/loop.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { mergeContext } from "../../src/cluster/kubeconfig/user-kubeconfig.ts";
import { openFileStore, type FileStoreOptions } from "../../src/store/file-store.ts";
import { backupFile, writeBackup } from "../../src/store/file/backup.ts";
import { openMemoryStore } from "../../src/store/memory-store.ts";
import { isStoreError, StoreError } from "../../src/store/store-error.ts";
import type { Store } from "../../src/store/store.ts";
import { DISK_KIB, fillWithNothing, mountSmallDisk } from "./small-disk.ts";

const ROOT = "/registry/full/";
/** Has room for a log of more than one copy. */
const LARGER_DISK_KIB = 32 << 10;
const BALLAST_BYTES = 700 * 1024;
const VALUE_CHARS = 8000;

describe("a file store on a small file system", () => {
  test("fails writes when it is full, and takes them again when there is room", async ({ skip }) => {
    await using disk = await mountSmallDisk();
    if (disk === undefined) return skip("this user may not mount a tmpfs");
    await using world = await openWorld({ dir: join(disk.dir, "store") });
    await writeFile(join(disk.dir, "ballast"), Buffer.alloc(BALLAST_BYTES, 1));

    const acknowledged = await fillUp(world.store);
    await expectReadable(world.store, acknowledged);
    // As large as the failed one: the remaining room may do for a smaller one.
    const again = await codeOf(() => write(world.store, `${ROOT}again`, "x".repeat(VALUE_CHARS)));
    const health = world.store.health();
    await rm(join(disk.dir, "ballast"));
    await writeAgain(world.store, acknowledged);

    expect(again).toBe("NoSpace");
    expect(health.state).toBe("degraded");
    expect(health.reason).toContain("space");
    expect(world.store.health().state).toBe("ready");
    await expectReadable(world.store, acknowledged);
    await expectReadable(await world.reopen(), acknowledged);
  });

  test("that is closed while full has everything when it is opened again, full or not", async ({ skip }) => {
    await using disk = await mountSmallDisk();
    if (disk === undefined) return skip("this user may not mount a tmpfs");
    await using world = await openWorld({ dir: join(disk.dir, "store") });
    await writeFile(join(disk.dir, "ballast"), Buffer.alloc(BALLAST_BYTES, 1));
    const acknowledged = await fillUp(world.store);
    fillWithNothing(disk.dir);

    await world.store.close();
    const whileFull = await world.reopen().then(
      (store) => expectReadable(store, acknowledged),
      (error: unknown) => expect(isStoreError(error, "NoSpace"), String(error)).toBe(true),
    );
    await rm(join(disk.dir, "ballast"));
    await rm(join(disk.dir, "filler"), { force: true });
    const store = await world.reopen();

    expect(whileFull).toBeUndefined();
    await expectReadable(store, acknowledged);
    await writeAgain(store, acknowledged);
    await expectReadable(await world.reopen(), acknowledged);
  });

  test("that has no room to copy its log goes on until the log is full, and loses nothing", async ({
    skip,
  }) => {
    await using disk = await mountSmallDisk(LARGER_DISK_KIB);
    if (disk === undefined) return skip("this user may not mount a tmpfs");
    await using world = await openWorld({ dir: join(disk.dir, "store") });
    // Many at once leave a log with blocks for more than what is copied at once.
    const early = Array.from(
      { length: 800 },
      (_, n) => [`${ROOT}early-${n}`, "e".repeat(VALUE_CHARS)] as const,
    );
    await Promise.all(early.map(([key, value]) => write(world.store, key, value)));
    fillWithNothing(disk.dir);

    const acknowledged = new Map([...early, ...(await fillUp(world.store))]);
    await expectReadable(world.store, acknowledged);
    await rm(join(disk.dir, "filler"));
    await writeAgain(world.store, acknowledged);

    expect(acknowledged.size).toBeGreaterThan(early.length + 1);
    await expectReadable(await world.reopen(), acknowledged);
  });

  test("is not taken for damaged when there is no room to read or to copy it", async ({ skip }) => {
    await using disk = await mountSmallDisk();
    if (disk === undefined) return skip("this user may not mount a tmpfs");
    const dir = join(disk.dir, "store");
    await using world = await openWorld({ dir });
    await write(world.store, `${ROOT}a`, "a".repeat(VALUE_CHARS));
    const file = join(disk.dir, "backup");
    fillWithNothing(disk.dir);

    const backup = backupFile({ dir, file, loop: createRealLoop({ name: "backup" }) });
    await expect(backup).rejects.toThrow(`${file}: no space left to write`);
    await world.store.close();
    // A reader recreates the file, and finds no room.
    await rm(join(dir, "store.db-shm"), { force: true });
    fillWithNothing(disk.dir, "more");
    expect(await codeOf(() => world.reopen())).toBe("NoSpace");
    await rm(join(disk.dir, "filler"));

    await expectReadable(await world.reopen(), new Map([[`${ROOT}a`, "a".repeat(VALUE_CHARS)]]));
  });
});

test("a backup of another engine that finds no room says so, and leaves nothing behind", async ({ skip }) => {
  await using disk = await mountSmallDisk();
  if (disk === undefined) return skip("this user may not mount a tmpfs");
  const loop = createRealLoop({ name: "backup" });
  const memory = openMemoryStore({ loop });
  for (const name of ["a", "b", "c"]) await write(memory, `${ROOT}${name}`, name.repeat(DISK_KIB << 9));
  const file = join(disk.dir, "backup");

  const { revision } = memory.view;
  const entries = memory.view.range("", "\u{ffff}");
  const backup = writeBackup({ file, loop, clusterId: loop.random("id").uuid(), revision, entries });

  await expect(backup).rejects.toMatchObject({ code: "NoSpace" });
  await expect(backup).rejects.toThrow(file);
  expect(await readdir(disk.dir)).toEqual([]);
  await memory.close();
});

test("a kubeconfig keeps its text when there is no room for a context", async ({ skip }) => {
  await using disk = await mountSmallDisk();
  if (disk === undefined) return skip("this user may not mount a tmpfs");
  const loop = createRealLoop({ name: "kubeconfig" });
  const file = join(disk.dir, "config");
  await writeFile(file, "current-context: work\n");
  fillWithNothing(disk.dir);

  const access = { server: "https://127.0.0.1", ca: "x".repeat(4096), user: { cert: "", key: "" } };
  const merge = mergeContext({ file, loop }, { name: "setpoint", dataDir: "/data" }, access);

  await expect(merge).rejects.toThrow(`is on a full disk: free some space, or choose another place`);
  expect(await readFile(file, "utf8")).toBe("current-context: work\n");
  expect((await readdir(disk.dir)).toSorted()).toEqual(["config", "filler"]);
});

describe("a file store with a limit of its size", () => {
  test("fails writes above it, and takes them again after a compaction made room", async () => {
    const folder = await mkdtemp(join(tmpdir(), "setpoint-full-"));
    await using world = await openWorld({ dir: join(folder, "store"), maxBytes: 1 << 20 });

    const acknowledged = await fillUp(world.store, 10);
    await expectReadable(world.store, acknowledged);
    const degraded = world.store.health().state;
    await world.store.compact(world.store.view.revision);
    await writeAgain(world.store, acknowledged);

    expect(degraded).toBe("degraded");
    expect(world.store.health().state).toBe("ready");
    await expectReadable(await world.reopen(), acknowledged);
    await world.store.close();
    await rm(folder, { recursive: true });
  });

  test("loses no acknowledged write among many concurrent ones that fail", async () => {
    const folder = await mkdtemp(join(tmpdir(), "setpoint-full-"));
    await using world = await openWorld({ dir: join(folder, "store"), maxBytes: 1 << 20 });
    const values = Array.from({ length: 400 }, (_, index) => `${index} ${"x".repeat(5000)}`);

    const outcomes = await Promise.allSettled(
      values.map((value, index) => write(world.store, `${ROOT}${index}`, value)),
    );

    const acknowledged = new Map<string, string>();
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === "fulfilled") acknowledged.set(`${ROOT}${index}`, values[index] ?? "");
      else expect(isStoreError(outcome.reason, "NoSpace"), String(outcome.reason)).toBe(true);
    }
    expect(acknowledged.size).toBeLessThan(values.length);
    await expectReadable(world.store, acknowledged);
    await expectReadable(await world.reopen(), acknowledged);
    await world.store.close();
    await rm(folder, { recursive: true });
  });
});

type Acknowledged = Map<string, string>;

/** Writes until the disk is full; returns the acknowledged writes. With `keys`, only that many keys, again and again. */
async function fillUp(store: Store, keys = Infinity): Promise<Acknowledged> {
  const acknowledged: Acknowledged = new Map();
  for (let count = 0; count < 5000; count += 1) {
    const key = `${ROOT}${keys === Infinity ? count : count % keys}`;
    const value = `${count} ${"x".repeat(VALUE_CHARS)}`;
    const code = await codeOf(() => write(store, key, value));
    if (code === "none") acknowledged.set(key, value);
    else if (code === "NoSpace") return acknowledged;
    else throw new Error(`a full disk gives ${code}`);
  }
  throw new Error("the disk is never full");
}

/** The first write may still find the disk full. */
async function writeAgain(store: Store, acknowledged: Acknowledged): Promise<void> {
  const key = `${ROOT}afterwards`;
  for (let attempt = 0; attempt < 3; attempt += 1) {
    if ((await tryWrite(store, "afterwards")) === "none") {
      acknowledged.set(key, "afterwards");
      return;
    }
  }
  throw new Error("writes do not work again");
}

async function tryWrite(store: Store, name: string): Promise<string> {
  return await codeOf(() => write(store, `${ROOT}${name}`, name));
}

async function write(store: Store, key: string, value: string): Promise<unknown> {
  return await store.write({ changes: [{ type: "put", key, value: Buffer.from(value) }] });
}

async function codeOf(action: () => Promise<unknown>): Promise<string> {
  try {
    await action();
    return "none";
  } catch (error) {
    if (error instanceof StoreError) return error.code;
    throw error;
  }
}

/** The view holds exactly the acknowledged writes, both fresh and at the newest revision. */
async function expectReadable(store: Store, acknowledged: Acknowledged): Promise<void> {
  const expected = [...acknowledged].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const views = [store.view, store.accepted, await store.fresh(), await store.at(store.view.revision, ROOT)];
  for (const view of views) {
    const found = [...view.range(ROOT, `${ROOT}~`)].map(({ key, value }) => [
      key,
      Buffer.from(value).toString(),
    ]);
    expect(found).toEqual(expected);
  }
}

async function openWorld(options: Omit<FileStoreOptions, "loop">) {
  const loop: Loop = createRealLoop({ name: "full-disk" });
  let store = await openFileStore({ ...options, loop });
  return {
    get store() {
      return store;
    },
    reopen: async () => {
      await store.close();
      store = await openFileStore({ ...options, loop });
      return store;
    },
    [Symbol.asyncDispose]: () => store.close(),
  };
}

/** Takes the last free blocks of the file system. */
