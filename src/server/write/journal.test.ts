import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { authorOf, Journal } from "./journal.ts";
import type { JournalEntry } from "./journal.ts";

setFlagsFromString("--expose-gc");

function entry(revision: number, key: string): JournalEntry {
  return { revision, keys: [key], user: "u", manager: "m", userAgent: "a/1", cause: undefined, at: revision };
}

function requestWith(headers: Readonly<Record<string, string>>, query = ""): Parameters<typeof authorOf>[0] {
  return {
    query: new URLSearchParams(query),
    user: { name: "alice" },
    request: {
      headers: new Map(Object.entries(headers)),
      peer: undefined,
      signal: new AbortController().signal,
      readBody: () => Promise.resolve(new Uint8Array()),
    },
  };
}

describe("Journal", () => {
  test("finds a write by its revision and by each of its keys, oldest first", () => {
    const journal = new Journal();
    const both = { ...entry(2, "/registry/pods/a/x"), keys: ["/registry/pods/a/x", "/registry/pods/a/y"] };
    journal.record(entry(1, "/registry/pods/a/x"));
    journal.record(both);

    expect(journal.findByRevision(2)).toBe(both);
    expect(journal.of("/registry/pods/a/x").map(({ revision }) => revision)).toEqual([1, 2]);
    expect(journal.of("/registry/pods/a/y")).toEqual([both]);
    expect([journal.findByRevision(3), journal.of("/registry/pods/a/z")]).toEqual([undefined, []]);
  });

  test.each([
    ["entries", { maxEntries: 3, maxBytes: 1 << 20 }],
    ["bytes", { maxEntries: 1000, maxBytes: 1400 }],
  ])("evicts the oldest entries when there are too many %s", (_, limits) => {
    const journal = new Journal(0, limits);
    for (let revision = 1; revision <= 10; revision++) journal.record(entry(revision, "/registry/pods/a/x"));

    const kept = journal.of("/registry/pods/a/x").map(({ revision }) => revision);

    expect(kept).toEqual([8, 9, 10]);
    expect([7, 8].map((revision) => journal.findByRevision(revision)?.revision)).toEqual([undefined, 8]);
    expect([journal.floor, [...journal.since(8)].length]).toEqual([7, 2]);
  });

  test("finds the writes of a pass, which writes of another user never join", () => {
    const journal = new Journal(0, { maxEntries: 3, maxBytes: 1 << 20 });
    const cause = "replicaset/a-1 by=timer";
    for (const [revision, user] of [
      [1, "rs"],
      [2, "rs"],
      [3, "mallory"],
      [4, "rs"],
    ] as const)
      journal.record({ ...entry(revision, `/registry/pods/a/${String(revision)}`), user, cause });
    const of = (revision: number): readonly number[] =>
      journal.ofPass({ ...entry(revision, ""), user: "rs", cause }).map((each) => each.revision);

    expect(of(4)).toEqual([2, 4]);
    expect(journal.ofPass(entry(4, ""))).toEqual([]);
  });

  test("finds the newest write at a time, also after the clock was set back", () => {
    const journal = new Journal();
    for (const [revision, at] of [
      [1, 100],
      [2, 200],
      [3, 150],
      [4, 300],
    ] as const)
      journal.record({ ...entry(revision, "/registry/pods/a/x"), at });

    const found = [99, 100, 160, 250, 400].map((time) => journal.newestAt(time)?.revision);

    expect(found).toEqual([undefined, 1, 3, 3, 4]);
  });

  test("frequent writes never evict other entries", () => {
    const journal = new Journal(0, { maxEntries: 8, maxBytes: 1 << 20 });
    journal.record(entry(1, "/registry/pods/a/x"));
    for (let revision = 2; revision <= 100; revision++)
      journal.record(entry(revision, "/registry/leases/kube-node-lease/n"), "frequent");

    expect(journal.of("/registry/pods/a/x")).toHaveLength(1);
    expect(journal.of("/registry/leases/kube-node-lease/n")).toHaveLength(1);
  });
});

describe("authorOf", () => {
  test("returns user, manager, user agent and cause", () => {
    const headers = { "user-agent": "kubectl/v1.36 (linux)", "setpoint-cause": "replica-set/42" };

    expect(authorOf(requestWith(headers))).toEqual({
      user: "alice",
      manager: "kubectl",
      userAgent: "kubectl/v1.36 (linux)",
      cause: "replica-set/42",
    });
    expect(authorOf(requestWith(headers, "fieldManager=me")).manager).toBe("me");
  });

  test("returns the command of kubectl, unless the header holds anything else", () => {
    expect(authorOf(requestWith({ "kubectl-command": "kubectl scale" })).command).toBe("kubectl scale");
    expect(authorOf(requestWith({ "kubectl-command": "<script>" })).command).toBeUndefined();
  });

  test("keeps nothing of long headers but what it returns", () => {
    const collectGarbage = runInNewContext("gc") as () => void;
    const heapUsed = (): number => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const long = (index: number): string => Buffer.alloc(1 << 20, 97 + index).toString("latin1");
    const before = heapUsed();

    const authors = Array.from({ length: 20 }, (_, index) =>
      authorOf(requestWith({ "user-agent": `manager-of-twenty/${long(index)}` })),
    );

    expect(heapUsed() - before).toBeLessThan(10 << 20);
    expect(authors.map(({ manager }) => manager)).toContain("manager-of-twenty");
  });

  test.each(["", " begins with a space", "x".repeat(129), "\u{1f600}"])(
    "drops the invalid cause %j",
    (cause) => {
      expect(authorOf(requestWith({ "setpoint-cause": cause })).cause).toBeUndefined();
    },
  );
});
