import { describe, expect, test } from "vitest";
import { State } from "../state.ts";
import type { Entry } from "../store.ts";
import { advancesOf, GapError } from "./feed-events.ts";
import { Keyspace } from "./keyspace.ts";
import { keyBytes, type EtcdEvent } from "./wire/etcd-protocol.ts";

const keyspace = new Keyspace("/registry/");

function put(key: string, revision: number, version = 1): EtcdEvent {
  const kv = {
    key: keyBytes(key),
    value: keyBytes(`value ${String(revision)}`),
    create_revision: revision - version + 1,
    mod_revision: revision,
    version,
  };
  return { type: 0, kv, prev_kv: null };
}

function remove(key: string, revision: number): EtcdEvent {
  const kv = {
    key: keyBytes(key),
    value: new Uint8Array(),
    create_revision: 0,
    mod_revision: revision,
    version: 0,
  };
  return { type: 1, kv, prev_kv: null };
}

function advances(state: State, ...events: EtcdEvent[]): ReturnType<typeof advancesOf> {
  return advancesOf(state, events, { keyspace, now: 0, made: () => undefined });
}

function stateAfter(...events: EtcdEvent[]): State {
  return advances(State.empty(), ...events).at(-1)?.state ?? State.empty();
}

describe("advancesOf", () => {
  test("events of one revision are one commit, in the order of their transaction", () => {
    const [first, second] = advances(
      State.empty(),
      put("/registry/b", 5),
      put("/registry/a", 5),
      put("/registry/b", 6, 2),
    );

    expect(first?.commit.events.map(({ key, ordinal }) => [key, ordinal])).toEqual([
      ["/registry/b", 0],
      ["/registry/a", 1],
    ]);
    expect(second?.commit).toMatchObject({ revision: 6, liveCount: 2 });
    expect(second?.state.get("/registry/b")?.version).toBe(2);
  });

  test("a change carries the entry before it", () => {
    const state = stateAfter(put("/registry/a", 5));

    const [changed] = advances(state, put("/registry/a", 6, 2));

    expect(changed?.commit.events[0]?.before).toBe(state.get("/registry/a"));
  });

  test("keys outside the prefix are no change", () => {
    expect(advances(State.empty(), put("/other/a", 5), put("compact_rev_key", 6))).toEqual([]);
  });

  test("the key by which servers agree on compaction is no change", () => {
    const all = new Keyspace("");

    const made = advancesOf(State.empty(), [put("compact_rev_key", 5)], {
      keyspace: all,
      now: 0,
      made: () => undefined,
    });

    expect(made).toEqual([]);
  });

  test("repeated events are skipped", () => {
    const state = stateAfter(put("/registry/a", 5), put("/registry/a", 6, 2));

    expect(advances(state, put("/registry/a", 5), put("/registry/a", 6, 2))).toEqual([]);
  });

  test.each([
    ["a lost update", [put("/registry/a", 8, 3)]],
    ["a lost creation before an update", [put("/registry/b", 8, 2)]],
    ["a lost creation before a deletion", [remove("/registry/b", 8)]],
    ["a lost deletion", [put("/registry/a", 8, 1)]],
  ])("%s is noticed", (_name, events) => {
    const state = stateAfter(put("/registry/a", 5));

    expect(() => advances(state, ...events)).toThrow(GapError);
  });

  test("each entry is shown before it is visible", () => {
    const made: Entry[] = [];

    advancesOf(State.empty(), [put("/registry/a", 5), remove("/registry/a", 6)], {
      keyspace,
      now: 0,
      made: (entry) => made.push(entry),
    });

    expect(made.map(({ key, modRevision }) => [key, modRevision])).toEqual([["/registry/a", 5]]);
  });
});
