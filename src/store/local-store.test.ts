import { expect, test } from "vitest";
import { VirtualLoop } from "../base/loop/virtual/virtual-loop.ts";
import type { Backend } from "./backend.ts";
import { HeldBackend } from "./fixture.ts";
import { LocalStore } from "./local-store.ts";
import { Mirror } from "./mirror.ts";
import { RetentionWindow } from "./retention-window.ts";
import { State } from "./state.ts";
import { StoreError } from "./store-error.ts";
import type { Change, View } from "./store.ts";

function openWorld(): { loop: VirtualLoop; backend: HeldBackend; store: LocalStore } {
  const loop = new VirtualLoop({ seed: 1, name: "test" });
  const backend = new HeldBackend();
  const store = new LocalStore({ loop, backend, mirror: new Mirror({ loop }, State.empty()) });
  return { loop, backend, store };
}

function put(key: string, text: string): { changes: Change[] } {
  return { changes: [{ type: "put", key, value: Buffer.from(text) }] };
}

function textAt(view: View, key: string): string | undefined {
  const entry = view.get(key);
  return entry && Buffer.from(entry.value).toString();
}

test("a kept accepted view stays as it was while more is written", async () => {
  const { loop, backend, store } = openWorld();
  const first = store.write(put("/k/a", "1"));
  const kept = store.accepted;
  const second = store.write(put("/k/a", "2"));

  expect([kept.revision, textAt(kept, "/k/a")]).toEqual([2, "1"]);
  expect([store.accepted.revision, textAt(store.accepted, "/k/a")]).toEqual([3, "2"]);
  expect([store.view.revision, textAt(store.view, "/k/a")]).toEqual([1, undefined]);
  await loop.settle();
  backend.batches[0]?.succeed();
  await Promise.all([first, second]);
  expect(textAt(kept, "/k/a")).toBe("1");
});

test("acceptedNow always equals a view of the accepted state", async () => {
  const { loop, backend, store } = openWorld();
  const pods = store.acceptedNow.mark("/registry/pods/");
  const nodes = store.acceptedNow.mark("/registry/nodes/");
  const written = store.write(put("/registry/pods/a/x", "1"));

  expect(store.acceptedNow.get("/registry/pods/a/x")?.modRevision).toBe(2);
  expect(store.acceptedNow.mark("/registry/nodes/")).toBe(nodes);
  expect(store.acceptedNow.mark("/registry/pods/")).not.toBe(pods);
  expect(store.acceptedNow.mark("/registry/pods/")).toBe(store.accepted.mark("/registry/pods/"));
  expect(store.acceptedNow.get("/registry/pods/a/x")).toBe(store.accepted.get("/registry/pods/a/x"));
  await loop.settle();
  backend.batches[0]?.fail(new StoreError("NoSpace", "full"));
  await expect(written).rejects.toThrow("full");
  expect(store.acceptedNow.get("/registry/pods/a/x")).toBeUndefined();
});

test("each batch shows the state at its own end, whatever was accepted since", async () => {
  const { loop, backend, store } = openWorld();
  // Writes more than one batch holds, in one step.
  const writes = Array.from({ length: 3000 }, (_, n) => store.write(put("/k/a", String(n))));
  const seen: (readonly [number, string | undefined])[] = [];
  for (let next = 0; seen.at(-1)?.[0] !== 3001; next += 1) {
    await loop.settle();
    backend.batches[next]?.succeed();
    await loop.settle();
    seen.push([store.view.revision, textAt(store.view, "/k/a")]);
  }

  await Promise.all(writes);
  expect(backend.batches.length).toBeGreaterThan(2);
  expect(backend.batches.flatMap(({ revisions }) => revisions)).toEqual(
    Array.from({ length: 3000 }, (_, n) => n + 2),
  );
  expect(seen).toEqual(
    backend.batches.map(({ revisions }) => [revisions.at(-1), String((revisions.at(-1) ?? 0) - 2)]),
  );
  for (const revision of [2, 20, 1100, 3001]) {
    expect(textAt(await store.at(revision, "/k/"), "/k/a")).toBe(String(revision - 2));
  }
});

test("an unknown outcome of the backend ends the store, which sends no further batch", async () => {
  const { loop, backend, store } = openWorld();
  const watch = store.watch({ prefix: "", after: 1 });
  const [first, second] = [store.write(put("/k/a", "1")), store.write(put("/k/b", "1"))];
  const outcomes = Promise.allSettled([first, second, watch.next(), store.ended]);
  await loop.settle();

  backend.batches[0]?.fail(new Error("store.db-wal: the disk failed a write or sync"));
  await loop.settle();

  for (const outcome of await outcomes) {
    expect(outcome).toMatchObject({ status: "rejected", reason: { code: "OutcomeUnknown" } });
    expect(String(outcome.status === "rejected" && outcome.reason)).toContain(
      "the disk failed a write or sync",
    );
  }
  await expect(store.write(put("/k/a", "2"))).rejects.toMatchObject({ code: "OutcomeUnknown" });
  expect(store.health().state).toBe("degraded");
  expect(backend.batches).toHaveLength(1);
});

test("a no-op behind a refused write is not refused", async () => {
  const { loop, backend, store } = openWorld();
  const written = store.write(put("/k/a", "1"));
  await loop.settle();
  backend.batches[0]?.fail(new StoreError("NoSpace", "full"));
  await expect(written).rejects.toThrow("full");

  const removed = store.write({ changes: [{ type: "delete", key: "/k/a" }] });

  expect(await removed).toEqual({ revision: 1, entries: [undefined] });
});

class BackendWithoutRoomToCut extends HeldBackend {
  override async compact(): Promise<void> {
    return Promise.reject(new StoreError("NoSpace", "no room to cut history"));
  }
}

test("a cut of history without space loses no accepted write", async () => {
  const loop = new VirtualLoop({ seed: 1, name: "test" });
  const backend = new BackendWithoutRoomToCut();
  const mirror = new Mirror({ loop }, State.empty());
  const diskWindow = new RetentionWindow({ windowMs: 1000, maxBytes: 1 });
  const store = new LocalStore({ loop, backend, mirror, diskWindow });
  const writes: Promise<unknown>[] = [];
  for (const key of ["/k/a", "/k/b", "/k/c", "/k/d"]) {
    writes.push(store.write(put(key, "1")));
    await loop.settle();
  }

  // The second write makes a cut of the first due, so a cut runs while other writes are in flight.
  backend.batches[0]?.succeed();
  await loop.settle();
  backend.batches[1]?.succeed();
  await loop.settle();
  expect(store.health()).toEqual({ state: "degraded", reason: "no room to cut history" });
  writes.push(store.write(put("/k/e", "1")));
  for (let next = 2; next < 5; next += 1) {
    await loop.settle();
    backend.batches[next]?.succeed();
  }

  await loop.settle();
  await Promise.all(writes);
  expect(backend.batches.flatMap(({ revisions }) => revisions)).toEqual([2, 3, 4, 5, 6]);
  expect(["/k/a", "/k/b", "/k/c", "/k/d", "/k/e"].map((key) => textAt(store.view, key))).toEqual(
    Array.from({ length: 5 }, () => "1"),
  );
});

test("old history is cut although the store is full, and retried while there is no space", async () => {
  const loop = new VirtualLoop({ seed: 1, name: "test" });
  const held = new HeldBackend();
  const cuts: number[] = [];
  let isFull = false;
  const compact = async (revision: number): Promise<void> => {
    cuts.push(revision);
    if (isFull) throw new StoreError("NoSpace", "no room to cut history");
  };
  const backend: Backend = { compact, commit: (batch) => held.commit(batch), close: () => held.close() };
  const mirror = new Mirror({ loop }, State.empty());
  const diskWindow = new RetentionWindow({ windowMs: 1000, maxBytes: 1 << 20 });
  const store = new LocalStore({ loop, backend, mirror, diskWindow }).begin();
  const first = store.write(put("/k/a", "1"));
  await loop.settle();
  held.batches[0]?.succeed();
  await first;
  const second = store.write(put("/k/a", "2"));
  await loop.settle();
  held.batches[1]?.fail(new StoreError("NoSpace", "full"));
  await expect(second).rejects.toThrow("full");
  isFull = true;

  await loop.advance(60_000);
  const whileFull = [...cuts];
  isFull = false;
  await loop.advance(60_000);

  expect(whileFull).toEqual([2, 2]);
  expect(cuts).toEqual([2, 2, 2]);
});
