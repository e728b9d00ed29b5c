/**
 * Damages each file of a store that a killed process left behind. After that, and after one more start, either the
 * store is refused or every acknowledged write is unchanged.
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isStoreError } from "../store-error.ts";
import { loadStore } from "./disk/load.js";
import {
  contents,
  contentsOf,
  copyDir,
  makeDir,
  open,
  put,
  remove,
  removeDirs,
  stateOf,
  Writer,
} from "./fixture.ts";
import { decodeRows } from "./row.ts";

const TIMEOUT_MS = 90_000;
/** Files left by a killed process: most data in store.db, the newest commits only in store.db-wal. */
let killed: string;
/** The same store, closed properly. */
let closed: string;
let acknowledged: Map<string, string>;
let revision: number;

/** Covers rows in the database and in its log, superseded rows, deletions, free pages and a compacted past. */
beforeAll(async () => {
  const dir = makeDir();
  const writer = new Writer();
  const first = await open(dir);
  for (let i = 0; i < 60; i += 1) {
    await first.backend.commit([writer.next(put(`/k/${String(i % 20)}`, `${String(i)} `.repeat(900)))]);
  }
  await first.backend.commit([
    writer.next(remove("/k/3")),
    writer.next(remove("/k/4"), put("/large", "x".repeat(100_000))),
  ]);
  await first.backend.compact(50);
  await first.backend.close();
  const second = await open(dir);
  for (let i = 0; i < 12; i += 1) {
    const again = `again ${String(i)} `.repeat(500);
    await second.backend.commit([writer.next(put(`/k/${String(i)}`, again), put("/t", String(i)))]);
  }
  // The marker is written after the response to a commit, and before the response to any other request.
  await second.backend.compact(1);
  killed = copyDir(dir);
  await second.backend.close();
  closed = copyDir(dir);
  acknowledged = contentsOf(writer.state);
  revision = writer.state.revision;
});

type Verdict = "refused" | "intact";

/** Opens the store, compares it, writes once more, and opens it again. */
async function verdict(dir: string): Promise<Verdict> {
  for (const round of [0, 1]) {
    const opened = await open(dir).catch((error: unknown) => {
      if (isStoreError(error, "Damaged")) return error;
      throw error;
    });
    if (opened instanceof Error) {
      expect(opened.message).toContain(dir);
      expect(round, opened.message).toBe(0);
      await expect(open(dir)).rejects.toMatchObject({ code: "Damaged" });
      return "refused";
    }
    const more: [string, string][] = round === 0 ? [] : [["/more", "0"]];
    expect(contents(opened.rows)).toEqual(new Map([...acknowledged, ...more]));
    expect(opened.revision).toBe(revision + round);
    const writer = new Writer(stateOf(opened.rows, opened.revision));
    await opened.backend.commit([writer.next(put("/more", String(round)))]);
    await opened.backend.close();
  }
  return "intact";
}

/** Result of opening a copy of the store after `harm` was done to it. */
async function after(harm: (dir: string) => void, source = killed): Promise<Verdict> {
  const dir = copyDir(source);
  harm(dir);
  const found = await verdict(dir);
  rmSync(dir, { recursive: true });
  return found;
}

function flip(file: string, position: number): void {
  const fd = openSync(file, "r+");
  const byte = Buffer.alloc(1);
  readSync(fd, byte, 0, 1, position);
  byte[0] = (byte[0] ?? 0) ^ (1 << (position % 8));
  writeSync(fd, byte, 0, 1, position);
  closeSync(fd);
}

function spread(size: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => Math.floor((i * size) / count) + (i % 97));
}

/**
 * Executes SQL on the store, as a user of the sqlite3 tool could. The connection closes after the last statement, so no
 * log is left.
 */
function tamper(dir: string, sql: string): void {
  const db = new Database(join(dir, "store.db"));
  db.exec(sql);
  db.close();
}

afterAll(removeDirs);

describe("a store that was not damaged", () => {
  test("opens as the killed process left it", async () => {
    expect(await verdict(copyDir(killed))).toBe("intact");
  });

  test("opens without the files that it can rebuild", async () => {
    const harm = (dir: string): void => {
      for (const name of ["store.db-shm", "lock", "pid"]) rmSync(join(dir, name));
    };
    expect(await after(harm)).toBe("intact");
  });
});

describe("a flipped bit", () => {
  test.each([
    { name: "store.db", special: [19, 28, 33, 39, 100], count: 2 },
    { name: "store.db-wal", special: [9], count: 4 },
    { name: "marker", special: [60, 4096 + 60], count: 0 },
  ])(
    "in $name is noticed or harmless",
    async ({ name, special, count }) => {
      const { size } = statSync(join(killed, name));
      const verdicts: Verdict[] = [];
      for (const position of [...special, ...spread(size, count)]) {
        verdicts.push(await after((dir) => flip(join(dir, name), position)));
      }
      expect(verdicts.includes("refused")).toBe(name !== "marker");
    },
    TIMEOUT_MS,
  );

  test("anywhere in the database changes no accepted row", () => {
    const good = loadAll(join(closed, "store.db"));
    const copy = join(makeDir(), "store.db");
    let refused = 0;
    for (const position of spread(statSync(join(closed, "store.db")).size, 250)) {
      copyFileSync(join(closed, "store.db"), copy);
      flip(copy, position);
      const found = loadAll(copy);
      if (found === undefined) refused += 1;
      else expect(found).toEqual(good);
      rmSync(copy);
    }
    expect(refused).toBeGreaterThan(100);
  });
});

function loadAll(file: string): unknown[] | undefined {
  const rows: unknown[] = [];
  try {
    const { meta, head } = loadStore(file, (slab) => {
      decodeRows(slab, (row) => rows.push({ ...row, value: row.value && Buffer.from(row.value).toString() }));
    });
    return [meta, head, ...rows];
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "Damaged") return undefined;
    throw error;
  }
}

describe("a truncated file", () => {
  test.each(["store.db", "store.db-wal"])("%s is noticed", async (name) => {
    const { size } = statSync(join(killed, name));
    for (const length of [0, Math.floor(size / 2)]) {
      expect(await after((dir) => truncateSync(join(dir, name), length))).toBe("refused");
    }
  });

  test("by its last byte is noticed, or was not needed", async () => {
    const cut = (dir: string, name: string): void =>
      truncateSync(join(dir, name), statSync(join(dir, name)).size - 1);
    expect(await after((dir) => cut(dir, "store.db-wal"))).toBe("refused");
    expect(["refused", "intact"]).toContain(await after((dir) => cut(dir, "store.db")));
  });

  test("marker is noticed, or its other slot serves", async () => {
    expect(await after((dir) => truncateSync(join(dir, "marker"), 0))).toBe("refused");
    expect(await after((dir) => truncateSync(join(dir, "marker"), 50))).toBe("refused");
    expect(await after((dir) => truncateSync(join(dir, "marker"), 4200))).toBe("intact");
  });
});

describe("a missing file", () => {
  test("is noticed if it holds data", async () => {
    expect(await after((dir) => rmSync(join(dir, "store.db")))).toBe("refused");
    expect(await after((dir) => rmSync(join(dir, "store.db-wal")))).toBe("refused");
    expect(await after((dir) => rmSync(join(dir, "marker")))).toBe("refused");
    expect(await after((dir) => [rmSync(join(dir, "marker")), rmSync(join(dir, "store.db"))])).toBe(
      "refused",
    );
    expect(await after((dir) => rmSync(join(dir, "store.db")), closed)).toBe("refused");
  });
});

const NEWEST = "WHERE id = (SELECT max(id) FROM log)";

describe("missing or changed rows", () => {
  test.each([
    ["a live row of the compacted past", "DELETE FROM live WHERE id = (SELECT min(id) FROM live)"],
    ["a batch with a superseded record", "DELETE FROM log WHERE id = 62 * 128"],
    [
      "half of the newest transaction",
      `UPDATE log SET records = substr(records, 1, length(records) - 84) ${NEWEST}`,
    ],
    [
      "half of the newest record",
      `UPDATE log SET records = substr(records, 1, length(records) - 42) ${NEWEST}`,
    ],
    ["a transaction in between", "DELETE FROM log WHERE id / 128 = 66"],
    ["all of the log", "DELETE FROM log"],
    ["all live rows", "DELETE FROM live"],
    ["a live value", "UPDATE live SET value = x'78' WHERE id = (SELECT min(id) FROM live)"],
    ["a live value of another type", "UPDATE live SET value = 7 WHERE id = (SELECT min(id) FROM live)"],
    ["a live key", "UPDATE live SET key = '/other' WHERE id = (SELECT max(id) FROM live)"],
    ["the id of a live row", "UPDATE live SET id = id + 1 WHERE id = (SELECT min(id) FROM live)"],
    ["a live row of the future", "UPDATE live SET id = 1000 * 128 WHERE id = (SELECT max(id) FROM live)"],
    ["a batch", `UPDATE log SET records = zeroblob(length(records)) ${NEWEST}`],
    ["a batch of another type", `UPDATE log SET records = 7 ${NEWEST}`],
    ["an empty batch", `UPDATE log SET records = x'' ${NEWEST}`],
    ["a batch with more behind", `UPDATE log SET records = CAST(records || x'00' AS BLOB) ${NEWEST}`],
    [
      "a deletion instead of a value",
      "UPDATE log SET records = CAST(substr(records, 1, 12) || x'ffffffff' || substr(records, 17) AS BLOB) " +
        NEWEST,
    ],
    [
      "a length that is too large",
      "UPDATE log SET records = CAST(substr(records, 1, 8) || x'ffffffff' || substr(records, 13) AS BLOB) " +
        NEWEST,
    ],
    ["the id of a batch", `UPDATE log SET id = id + 1 ${NEWEST}`],
    ["the compacted revision", "UPDATE meta SET compacted = 51"],
    ["meta", "DELETE FROM meta"],
    ["a table more", "CREATE TABLE other (id)"],
    ["the kind of file", "PRAGMA application_id = 1"],
  ])("%s: noticed", (_, sql) => {
    const dir = copyDir(closed);
    tamper(dir, sql);
    expect(loadAll(join(dir, "store.db"))).toBe(undefined);
  });

  test("the newest transaction: noticed by the marker", async () => {
    expect(await after((dir) => tamper(dir, `DELETE FROM log ${NEWEST}`), closed)).toBe("refused");
  });
});

describe("a folder that is not a store", () => {
  test("is refused and left as it was", async () => {
    const dir = makeDir();
    writeFileSync(join(dir, "store.db"), "to whom it may concern ".repeat(500));
    const text = readFileSync(join(dir, "store.db"), "utf8");

    await expect(open(dir)).rejects.toMatchObject({ code: "Damaged" });

    expect(readFileSync(join(dir, "store.db"), "utf8")).toBe(text);
    expect(existsSync(join(dir, "marker"))).toBe(false);
  });

  test("another SQLite database with our marker is refused", async () => {
    const foreign = (dir: string): void => {
      rmSync(join(dir, "store.db"));
      tamper(dir, "CREATE TABLE log (id)");
    };
    expect(await after(foreign, closed)).toBe("refused");
  });

  test("the marker of another store is refused", async () => {
    const other = makeDir();
    await (await open(other)).backend.close();
    expect(await after((dir) => copyFileSync(join(other, "marker"), join(dir, "marker")), closed)).toBe(
      "refused",
    );
  });

  test("a newer format is named as such", async () => {
    const dir = copyDir(closed);
    tamper(dir, "PRAGMA user_version = 4");
    await expect(open(dir)).rejects.toThrow(/store\.db: has format 4, written by a newer setpoint/);
  });

  test("an older format is named as such, with what to do", async () => {
    const dir = copyDir(closed);
    tamper(dir, "PRAGMA user_version = 1");
    await expect(open(dir)).rejects.toThrow(
      /store\.db: has format 1, written by an older setpoint.*Go on with the older one/,
    );
  });
});

describe("a refusal", () => {
  test("changes neither the database nor its log", async () => {
    const dir = copyDir(killed);
    flip(join(dir, "store.db-wal"), Math.floor(statSync(join(dir, "store.db-wal")).size / 2));
    const before = texts(dir);

    await expect(open(dir)).rejects.toThrow(/revision \d+, but revision \d+ was acknowledged/);

    expect(texts(dir) === before).toBe(true);
  });
});

function texts(dir: string): string {
  return ["store.db", "store.db-wal", "marker"].map((name) => readFileSync(join(dir, name), "latin1")).join();
}
