import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { State } from "../state.ts";
import { backupFile, readBackup, restoreFile, writeBackup } from "./backup.ts";
import { createStore } from "./disk/install.js";
import {
  contents,
  contentsOf,
  copyDir,
  loop,
  makeDir,
  open,
  put,
  remove,
  removeDirs,
  Writer,
} from "./fixture.ts";
import type { LoadedRow } from "./row.ts";

/** Creates a closed store with some history. */
async function makeStore(): Promise<{ dir: string; clusterId: string; state: State }> {
  const dir = makeDir();
  const { backend, clusterId } = await open(dir);
  const writer = new Writer();
  for (let i = 0; i < 40; i += 1) writer.next(put(`/k/${String(i % 15)}`, `value ${String(i)} `.repeat(300)));
  writer.next(remove("/k/3"), put("/ttl", "t", 60_000));
  await backend.commit(writer.commits);
  await backend.close();
  return { dir, clusterId, state: writer.state };
}

afterAll(removeDirs);

describe("backup", () => {
  test("of a store under writes is one of its states", async () => {
    const dir = makeDir();
    const { backend } = await open(dir);
    const writer = new Writer();
    const states = new Map([[1, writer.state]]);
    const file = join(makeDir(), "backup");
    const commit = async (): Promise<void> => {
      const next = writer.next(put(`/k/${String(writer.state.revision % 50)}`, "v".repeat(2000)));
      await backend.commit([next]);
      states.set(next.revision, writer.state);
    };
    for (let i = 0; i < 200; i += 1) await commit();

    const backup = { isDone: false };
    const done = backupFile({ dir, file, loop }).finally(() => (backup.isDone = true));
    while (!backup.isDone) await commit();
    const { revision } = await done;

    expect(revision).toBeGreaterThanOrEqual(201);
    const restored = makeDir();
    await restoreFile({ file, dir: restored, loop });
    const opened = await open(restored);
    expect(opened.revision).toBe(revision);
    expect(contents(opened.rows)).toEqual(contentsOf(states.get(revision) ?? writer.state));
    await opened.backend.close();
    await backend.close();
  });

  test("of a killed store has all acknowledged writes", async () => {
    const dir = makeDir();
    const { backend } = await open(dir);
    const writer = new Writer();
    await backend.commit([writer.next(put("/a", "1"))]);
    const killed = copyDir(dir);
    await backend.close();
    const file = join(makeDir(), "it's a backup");

    await backupFile({ dir: killed, file, loop });

    expect(await contentsOfBackup(file)).toEqual(new Map([["/a", "1"]]));
  });

  test("does not replace a file", async () => {
    const { dir } = await makeStore();
    const file = join(makeDir(), "precious");
    writeFileSync(file, "data");

    await expect(backupFile({ dir, file, loop })).rejects.toThrow(/precious exists already/);

    expect(readFileSync(file, "utf8")).toBe("data");
  });

  test("of a damaged store is refused and leaves no file", async () => {
    const { dir } = await makeStore();
    const files = makeDir();
    copyFileSync(join((await makeStore()).dir, "marker"), join(dir, "marker"));

    await expect(backupFile({ dir, file: join(files, "backup"), loop })).rejects.toMatchObject({
      code: "Damaged",
    });

    expect(readdirSync(files)).toEqual([]);
  });

  test("of a directory without a store is refused", async () => {
    const file = join(makeDir(), "backup");
    await expect(backupFile({ dir: makeDir(), file, loop })).rejects.toThrow(/there is no store/);
  });

  test("into a missing folder is refused with the given name", async () => {
    const { dir } = await makeStore();
    const path = join(makeDir(), "nowhere", "backup");

    const error: unknown = await backupFile({ dir, file: path, loop }).catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({ code: "ENOENT", syscall: "open", path });
  });
});

async function contentsOfBackup(file: string): Promise<Map<string, string>> {
  const rows: LoadedRow[] = [];
  await readBackup({ file, loop, onRow: (row) => rows.push(row) });
  return contents(rows);
}

describe("restore", () => {
  test("gives the same store", async () => {
    const { dir, clusterId, state } = await makeStore();
    const file = join(makeDir(), "backup");
    await backupFile({ dir, file, loop });
    const restored = join(makeDir(), "new", "store");

    await restoreFile({ file, dir: restored, loop });

    const { backend, rows, ...head } = await open(restored);
    expect(head).toMatchObject({ clusterId, revision: state.revision, compactedRevision: 0 });
    expect(contents(rows)).toEqual(contentsOf(state));
    await backend.commit([new Writer(state).next(put("/more", "1"))]);
    await backend.close();
  });

  test("leaves no mode switch to the first start, which may be killed meanwhile", async () => {
    const { dir } = await makeStore();
    const file = join(makeDir(), "backup");
    await backupFile({ dir, file, loop });
    const [restored, created] = [makeDir(), makeDir()];

    await restoreFile({ file, dir: restored, loop });
    createStore(created, loop.random("id").uuid());

    // https://www.sqlite.org/fileformat2.html: bytes 18 and 19 are 2 in the mode with a write-ahead log.
    for (const made of [restored, created]) {
      expect([...readFileSync(join(made, "store.db")).subarray(18, 20)]).toEqual([2, 2]);
      expect(readdirSync(made).filter((name) => name.startsWith("store.db"))).toEqual(["store.db"]);
    }
  });

  test.each(["file", "memory"])("names a file that is no backup, or is not there: %s", async (engine) => {
    const restore = (file: string): Promise<unknown> =>
      engine === "file"
        ? restoreFile({ file, dir: makeDir(), loop })
        : readBackup({ file, loop, onRow: () => undefined });
    const [text, missing] = [join(makeDir(), "text"), join(makeDir(), "missing")];
    writeFileSync(text, "no database ".repeat(100));

    await expect(restore(text)).rejects.toThrow(
      `${text} is no backup that can be restored: is not a database. Nothing was changed: choose another one`,
    );
    await expect(restore(missing)).rejects.toMatchObject({ code: "ENOENT", path: missing });
  });

  test("refuses a directory that has a store", async () => {
    const { dir } = await makeStore();
    const file = join(makeDir(), "backup");
    await backupFile({ dir, file, loop });

    await expect(restoreFile({ file, dir, loop })).rejects.toThrow(/already holds a store/);
    rmSync(join(dir, "store.db"));
    await expect(restoreFile({ file, dir, loop })).rejects.toThrow(/already holds a store/);
  });

  test("refuses a damaged backup and leaves nothing of it", async () => {
    const { dir } = await makeStore();
    const file = join(makeDir(), "backup");
    await backupFile({ dir, file, loop });
    truncateSync(file, 40_000);
    const restored = makeDir();

    await expect(restoreFile({ file, dir: restored, loop })).rejects.toMatchObject({ code: "Damaged" });
    await expect(restoreFile({ file, dir: restored, loop })).rejects.toThrow(
      `${file} is no backup that can be restored: `,
    );

    expect(readdirSync(restored).filter((name) => /store|marker/.test(name))).toEqual([]);
  });
});

describe("a backup written by another engine", () => {
  test("holds its entries, also when their places in a transaction are not known", async () => {
    const { state } = await makeStore();
    const entries = [...state.range("", "\u{ffff}")];
    const twins = ["/x", "/y", "/z"].map((key) => ({
      ...entries[0],
      key,
      value: Buffer.from(key),
      ordinal: 0,
      modRevision: 7,
      createRevision: 7,
      version: 1,
      expiresAt: undefined,
      slot: undefined,
    }));
    const file = join(makeDir(), "backup");
    const clusterId = "11111111-2222-4333-8444-555555555555";

    await writeBackup({ file, loop, clusterId, revision: 99, entries: [...entries, ...twins] });

    const dir = makeDir();
    expect(await restoreFile({ file, dir, loop })).toEqual({
      clusterId,
      revision: 99,
      compactedRevision: 99,
    });
    const { backend, rows } = await open(dir);
    expect(contents(rows)).toEqual(new Map([...contentsOf(state), ["/x", "/x"], ["/y", "/y"], ["/z", "/z"]]));
    expect(rows.find(({ key }) => key === "/ttl")?.expiresAt).toBe(state.get("/ttl")?.expiresAt);
    await backend.close();
  });

  test("may be empty", async () => {
    const file = join(makeDir(), "backup");

    await writeBackup({
      file,
      loop,
      clusterId: "11111111-2222-4333-8444-555555555555",
      revision: 5,
      entries: [],
    });

    expect(await contentsOfBackup(file)).toEqual(new Map());
    expect(existsSync(`${file}.partial`)).toBe(false);
  });
});
