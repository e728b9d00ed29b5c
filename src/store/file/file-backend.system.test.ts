import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Commit } from "../commit.ts";
import {
  askChild,
  contents,
  contentsOf,
  copyDir,
  makeDir,
  open,
  openRequest,
  put,
  remove,
  removeDirs,
  stateOf,
  Writer,
} from "./fixture.ts";
import { encodeCommits } from "./row.ts";
import type { Request } from "./thread-protocol.ts";

afterAll(removeDirs);

describe("file backend", () => {
  test("returns all commits", async () => {
    const dir = makeDir();
    const first = await open(dir);
    const writer = new Writer();
    const one = writer.next(put("/a/1", "one"));
    const two = writer.next(put("/a/2", "two", 500), put("/b\0ü😀", ""));
    await first.backend.commit([one, two]);
    await first.backend.commit([writer.next(remove("/a/1"), put("/a/2", "zwei"))]);
    await first.backend.close();

    const second = await open(dir);

    expect(second).toMatchObject({ clusterId: first.clusterId, compactedRevision: 0, revision: 4 });
    expect(contents(second.rows)).toEqual(contentsOf(writer.state));
    expect(
      second.rows.map((row) => [row.id, row.key, row.version, row.createRevision, row.prevId, row.changes]),
    ).toEqual([
      [2 * 128, "/a/1", 1, 2, 0, 1],
      [3 * 128, "/a/2", 1, 3, 0, 2],
      [3 * 128 + 1, "/b\0ü😀", 1, 3, 0, 2],
      [4 * 128, "/a/1", 0, 0, 2 * 128, 2],
      [4 * 128 + 1, "/a/2", 2, 3, 3 * 128, 2],
    ]);
    expect(second.rows[1]?.expiresAt).toBe(two.time + 500);
    expect(second.rows.map((row) => row.time)).toEqual([
      one.time,
      two.time,
      two.time,
      two.time + 1,
      two.time + 1,
    ]);
    await second.backend.close();
  });

  test("a new store is at revision 1, empty", async () => {
    const { backend, rows, revision, compactedRevision, clusterId } = await open(makeDir());

    expect([rows, revision, compactedRevision]).toEqual([[], 1, 0]);
    expect(clusterId).toMatch(/^[0-9a-f-]{36}$/);
    await backend.close();
  });

  test("large batches, large transactions and large values come back", async () => {
    const dir = makeDir();
    const first = await open(dir);
    const writer = new Writer();
    const many = Array.from({ length: 300 }, (_, i) => writer.next(put(`/n/${String(i)}`, String(i))));
    const wide = writer.next(...Array.from({ length: 128 }, (_, i) => put(`/w/${String(i)}`, "w".repeat(i))));
    await first.backend.commit([...many, wide, writer.next(put("/big", "b".repeat(3 << 20)))]);
    await first.backend.close();

    const second = await open(dir);

    expect(contents(second.rows)).toEqual(contentsOf(writer.state));
    await second.backend.close();
  });

  test("acknowledged commits survive a kill of the process", async () => {
    const dir = makeDir();
    const first = await open(dir);
    const writer = new Writer();
    await first.backend.commit([writer.next(put("/a", "1")), writer.next(put("/b", "2"))]);
    const killed = copyDir(dir);
    await first.backend.close();

    const second = await open(killed);

    expect(contents(second.rows)).toEqual(contentsOf(writer.state));
    await second.backend.close();
  });

  test("a commit that does not follow the last is refused before it is on disk", async () => {
    const dir = makeDir();
    const { backend } = await open(dir);
    const writer = new Writer();
    writer.next(put("/skipped", ""));

    await expect(backend.commit([writer.next(put("/a", "1"))])).rejects.toThrow("revision 3 cannot follow 1");

    await backend.close();
    const again = await open(dir);
    expect(again.rows).toEqual([]);
    await again.backend.close();
  });

  test("after close everything is refused as closed", async () => {
    const { backend } = await open(makeDir());
    await backend.close();

    await expect(backend.commit([new Writer().next(put("/a", "1"))])).rejects.toMatchObject({
      code: "Closed",
    });
    await expect(backend.read(1, 2)).rejects.toMatchObject({ code: "Closed" });
  });
});

describe("creation", () => {
  test("resumes where a crash interrupted it", async () => {
    const dir = makeDir();
    await (await open(dir)).backend.close();
    const file = (name: string): string => join(dir, name);

    // Crash before the database was renamed: leftovers of an attempt.
    const early = makeDir();
    writeFileSync(join(early, "store.db.new"), "half written");
    writeFileSync(join(early, "marker.new"), "half written");
    await (await open(early)).backend.close();
    expect(readdirSync(early).filter((name) => name.includes(".new"))).toEqual([]);

    // Crash before the marker was renamed.
    renameSync(file("marker"), file("marker.new"));
    const { backend, revision } = await open(dir);
    expect(revision).toBe(1);
    expect(existsSync(file("marker"))).toBe(true);
    await backend.close();
  });

  test("a database without a marker is refused", async () => {
    const dir = makeDir();
    await (await open(dir)).backend.close();
    rmSync(join(dir, "marker"));

    await expect(open(dir)).rejects.toThrow(
      /marker: is missing, but there is a database.*setpoint up --restore FILE/,
    );
    expect(existsSync(join(dir, "marker"))).toBe(false);
  });
});

describe("lock", () => {
  test("a second store in the same process is refused", async () => {
    const dir = makeDir();
    const { backend } = await open(dir);

    await expect(open(dir)).rejects.toMatchObject({
      code: "Locked",
      message: `${dir} is in use by this process (${String(process.pid)}) already`,
    });

    const writer = new Writer();
    await backend.commit([writer.next(put("/a", "1"))]);
    await backend.close();
    await (await open(dir)).backend.close();
  });

  test("another process is refused with the pid of the first", async () => {
    const dir = makeDir();
    const { backend } = await open(dir);

    const message = `${dir} is in use by process ${String(process.pid)}`;
    expect(askChild([openRequest(dir)])).toMatchObject([{ type: "failed", code: "Locked", message }]);
    await backend.close();
    // Not closed, but killed with its process.
    expect(askChild([openRequest(dir)])).toMatchObject([{ type: "done", result: { revision: 1 } }]);
    await (await open(dir)).backend.close();
  });

  test("a foreign lock file is refused", async () => {
    const dir = makeDir();
    writeFileSync(join(dir, "lock"), "mine ".repeat(1000));

    await expect(open(dir)).rejects.toThrow(/lock: is not a lock file of setpoint/);
  });
});

describe("a full disk", () => {
  test("fails commits until compaction makes room", async () => {
    const dir = makeDir();
    const { backend } = await open(dir, { maxBytes: 1 << 20 });
    const writer = new Writer();
    const value = "v".repeat(20_000);
    let acknowledged = writer.state;
    const fill = async (): Promise<void> => {
      for (let i = 0; i < 100; i += 1) {
        await backend.commit([new Writer(acknowledged).next(put("/k", value))]);
        acknowledged = new Writer(acknowledged).state.with(
          acknowledged.revision + 1,
          nextEvents(acknowledged, value),
        );
      }
    };

    await expect(fill()).rejects.toMatchObject({ code: "NoSpace" });
    await expect(fill()).rejects.toMatchObject({ code: "NoSpace" });
    await backend.compact(acknowledged.revision);
    await backend.commit([new Writer(acknowledged).next(put("/k", "small"))]);
    await backend.close();

    const again = await open(dir);
    expect(contents(again.rows)).toEqual(new Map([["/k", "small"]]));
    expect(again.revision).toBe(acknowledged.revision + 1);
    await again.backend.close();
  });

  test("that is real fails commits, loses nothing, and accepts writes once there is space", async () => {
    const dir = makeDir();
    if (!isMountable(dir)) return;
    try {
      await fillAndFree(dir);
    } finally {
      execFileSync("umount", [dir]);
    }
  });
});

function nextEvents(state: Writer["state"], value: string): Commit["events"] {
  return new Writer(state).next(put("/k", value)).events;
}

function isMountable(dir: string): boolean {
  return spawnSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", dir]).status === 0;
}

async function fillAndFree(mount: string): Promise<void> {
  const dir = join(mount, "store");
  const ballast = join(mount, "ballast");
  mkdirSync(dir);
  writeFileSync(ballast, Buffer.alloc(1 << 20));
  const { backend } = await open(dir);
  let writer = new Writer();
  let failed = 0;
  for (let i = 0; i < 400; i += 1) {
    const acknowledged = writer.state;
    try {
      await backend.commit([writer.next(put(`/k/${String(i)}`, "v".repeat(20_000)))]);
    } catch (error) {
      expect(error).toMatchObject({ code: "NoSpace" });
      writer = new Writer(acknowledged);
      failed += 1;
      if (failed === 3) rmSync(ballast);
      if (failed === 6) break;
    }
  }
  expect(failed).toBe(6);
  await backend.close();

  const again = await open(dir);
  expect(contents(again.rows)).toEqual(contentsOf(writer.state));
  await again.backend.close();
}

describe("a failing disk", () => {
  test("breaks the store: the commit and all later ones are refused", () => {
    const dir = makeDir();
    const records = encodeCommits([new Writer().next(put("/a", "v".repeat(2 << 20)))]);
    const commit: Request = { type: "commit", records, elapsedMs: 0 };

    // A limit on the size of files makes writes fail with EFBIG, which is not what a full disk does.
    const replies = askChild([openRequest(dir), commit, commit], { maxFileBlocks: 1024 });

    expect(replies).toMatchObject([
      { type: "done" },
      { type: "failed", code: "OutcomeUnknown" },
      { type: "failed", code: "OutcomeUnknown" },
    ]);
    expect(JSON.stringify(replies)).toContain("the process must end");
  });
});

describe("archive", () => {
  test("returns past commits with the values before and after", async () => {
    const dir = makeDir();
    const { backend } = await open(dir);
    const writer = new Writer();
    writer.next(put("/a", "1"), put("/b", "1"));
    writer.next(put("/a", "2", 1000));
    writer.next(remove("/a"), put("/b", "2"));
    await backend.commit(writer.commits);

    const { commits, through } = await backend.read(2, 4);

    expect(through).toBe(4);
    expect(plain(commits)).toEqual(plain(writer.commits.slice(1)));
    expect(plain((await backend.read(0, 2)).commits)).toEqual(plain(writer.commits.slice(0, 1)));
    await backend.close();
  });

  test("comes in bounded pieces of whole commits", async () => {
    const { backend } = await open(makeDir());
    const writer = new Writer();
    for (let i = 0; i < 50; i += 1) {
      writer.next(
        ...Array.from({ length: 60 }, (_, key) => put(`/${String(key)}`, `${String(i)} `.repeat(10))),
      );
    }
    for (let i = 0; i < 5; i += 1) writer.next(put("/large", String(i).repeat(2 << 20)));
    await backend.commit(writer.commits);

    const found = [];
    for (let after = 1; after < writer.state.revision;) {
      const { commits, through } = await backend.read(after, writer.state.revision);
      expect(commits.length).toBe(through - after);
      expect(commits.length).toBeLessThan(20);
      found.push(...commits);
      after = through;
    }

    expect(plain(found)).toEqual(plain(writer.commits));
    await backend.close();
  });

  test("answers Compacted for dropped revisions", async () => {
    const { backend } = await open(makeDir());
    const writer = new Writer();
    for (let i = 0; i < 5; i += 1) writer.next(put("/a", String(i)));
    await backend.commit(writer.commits);
    await backend.compact(4);

    expect(backend.floor).toBe(4);
    await expect(backend.read(3, 6)).rejects.toMatchObject({ code: "Compacted" });
    expect(plain((await backend.read(4, 6)).commits)).toEqual(plain(writer.commits.slice(3)));
    await backend.close();
  });
});

/** Commits without the fields that an archive does not keep, with values as text. */
function plain(commits: readonly Pick<Commit, "revision" | "events">[]): unknown {
  const text = (entry: Commit["events"][number]["after"]): unknown =>
    entry && { ...entry, value: Buffer.from(entry.value).toString() };
  return commits.map(({ revision, events }) => ({
    revision,
    events: events.map((event) => ({ ...event, before: text(event.before), after: text(event.after) })),
  }));
}

describe("compaction", () => {
  test("leaves the live values and the history after it", async () => {
    const dir = makeDir();
    const first = await open(dir);
    const writer = new Writer();
    for (let i = 0; i < 700; i += 1) {
      const key = `/k/${String(i % 30)}`;
      await first.backend.commit([
        i % 7 === 6 ? writer.next(remove(`/k/${String((i - 1) % 30)}`)) : writer.next(put(key, String(i))),
      ]);
    }
    await first.backend.compact(500);
    await first.backend.close();

    const second = await open(dir);

    expect(second).toMatchObject({ compactedRevision: 500, revision: 701 });
    expect(contents(second.rows)).toEqual(contentsOf(writer.state));
    expect(second.rows.filter((row) => row.revision > 500).length).toBe(201);
    expect(second.rows.filter((row) => row.revision <= 500).length).toBeLessThanOrEqual(30);
    await second.backend.compact(701);
    await second.backend.close();

    const third = await open(dir);
    expect(third).toMatchObject({ compactedRevision: 701, revision: 701 });
    expect(third.rows.length).toBe(writer.state.live.liveCount);
    await third.backend.close();
  });

  test("within a batch keeps both parts of it", async () => {
    const dir = makeDir();
    const first = await open(dir);
    const writer = new Writer();
    for (let i = 0; i < 40; i += 1) writer.next(put(`/k/${String(i % 9)}`, String(i)), put("/empty", ""));
    writer.next(remove("/k/0"));
    await first.backend.commit(writer.commits);
    for (const revision of [2, 13, 30]) await first.backend.compact(revision);
    const before = plain((await first.backend.read(30, 42)).commits);
    await first.backend.close();

    const second = await open(dir);

    expect(second).toMatchObject({ compactedRevision: 30, revision: 42 });
    expect(contents(second.rows)).toEqual(contentsOf(writer.state));
    expect(second.rows.filter((row) => row.revision <= 30).length).toBe(10);
    expect(before).toEqual(plain(writer.commits.slice(29)));
    expect(plain((await second.backend.read(30, 42)).commits)).toEqual(before);
    await second.backend.compact(42);
    await second.backend.close();
    const third = await open(dir);
    expect(contents(third.rows)).toEqual(contentsOf(writer.state));
    await third.backend.close();
  });

  test("of everything that was deleted leaves an empty store at its revision", async () => {
    const dir = makeDir();
    const first = await open(dir);
    const writer = new Writer();
    await first.backend.commit([writer.next(put("/a", "1")), writer.next(remove("/a"))]);
    await first.backend.compact(3);
    await first.backend.close();

    const second = await open(dir);

    expect([second.rows, second.revision]).toEqual([[], 3]);
    const next = new Writer(stateOf(second.rows, second.revision));
    await second.backend.commit([next.next(put("/a", "2"))]);
    await second.backend.close();
    const third = await open(dir);
    expect(third.revision).toBe(4);
    await third.backend.close();
  });

  test("advances between commits", async () => {
    const { backend } = await open(makeDir());
    const writer = new Writer();
    for (let i = 0; i < 3000; i += 1) writer.next(put(`/k/${String(i)}`, "v"));
    await backend.commit(writer.commits);

    const order: string[] = [];
    const compaction = backend.compact(3000).then(() => order.push("compacted"));
    await backend.commit([writer.next(put("/a", "1"))]).then(() => order.push("committed"));
    await compaction;

    expect(order).toEqual(["committed", "compacted"]);
    await backend.close();
  });

  test("keeps the files bounded under steady updates", async () => {
    const dir = makeDir();
    // The log starts again after an eighth of it, and commits wait for the copy after four eighths.
    const maxBytes = 32 << 20;
    const { backend } = await open(dir, { maxBytes });
    const writer = new Writer();
    for (let round = 0; round < 80; round += 1) {
      const from = writer.commits.length;
      for (let i = 0; i < 500; i += 1) writer.next(put(`/k/${String(i % 100)}`, "v".repeat(1000)));
      await backend.commit(writer.commits.slice(from));
      await backend.compact(writer.state.revision - 500);
    }

    // 40 MB were written; 600 rows remain.
    const sizes = readdirSync(dir).map((name) => statSync(join(dir, name)).size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(maxBytes / 2 + (8 << 20));
    await backend.close();
    expect(statSync(join(dir, "store.db")).size).toBeLessThan(4 << 20);
    expect(readFileSync(join(dir, "marker"), "latin1")).toContain(
      `revision ${String(writer.state.revision).padStart(16, "0")}`,
    );
  });
});
