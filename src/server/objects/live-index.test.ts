import { expect, test } from "vitest";
import { runToEnd } from "../../base/loop/yielding-work.ts";
import { openAccessWorld } from "../access/authz/fixture.ts";
import { LiveIndex } from "./live-index.ts";

const PREFIX = "/registry/pods/";

test("an index that keeps up has no changes left at its next read", async () => {
  const world = openAccessWorld();
  const calls: string[] = [];
  const index = new LiveIndex({
    prefix: PREFIX,
    add: ({ metadata }) => calls.push(`add ${metadata.name}`),
    remove: ({ metadata }) => calls.push(`remove ${metadata.name}`),
  });
  await world.put("pods/a/first", {});
  runToEnd(index.keepUp(world.store.view));
  expect(calls, "keepUp before the first read is a no-op").toEqual([]);

  expect(index.catchUp(world.store.view)).toBe(true);
  expect(calls.splice(0)).toEqual(["add first"]);

  await world.put("pods/a/second", {});
  await world.remove("pods/a/first");
  expect(runToEnd(index.keepUp(world.store.view))).toBe(true);
  expect(calls.splice(0)).toEqual(["remove first", "add second"]);
  expect(index.catchUp(world.store.view)).toBe(false);
  expect(runToEnd(index.keepUp(world.store.view))).toBe(false);
  expect(calls).toEqual([]);
});

test("many changes are applied in pieces, and a read in between finds all of them", async () => {
  const world = openAccessWorld();
  const names = Array.from({ length: 250 }, (_, at) => `pod-${String(at).padStart(3, "0")}`);
  for (const name of names) await world.put(`pods/a/${name}`, { metadata: { uid: `old ${name}` } });
  const known = new Set<string>();
  const index = new LiveIndex({
    prefix: PREFIX,
    add: ({ metadata }) => known.add(metadata.uid ?? ""),
    remove: ({ metadata }) => known.delete(metadata.uid ?? ""),
  });
  index.catchUp(world.store.view);
  for (const name of names.slice(100))
    await world.put(`pods/a/${name}`, { metadata: { uid: `new ${name}` } });
  for (const name of names.slice(0, 100)) await world.remove(`pods/a/${name}`);
  const all = names.slice(100).map((name) => `new ${name}`);

  const work = index.keepUp(world.store.view);
  work.next();
  expect(
    [...known].filter((uid) => uid.startsWith("new")),
    "a piece of the changes",
  ).toHaveLength(100);
  index.catchUp(world.store.view);

  expect([...known].toSorted()).toEqual(all);
  expect(work.next().done).toBe(true);
  expect([...known].toSorted()).toEqual(all);
});

test("a long first read lets other work run, and misses no change meanwhile", async () => {
  const world = openAccessWorld();
  const names = Array.from({ length: 250 }, (_, at) => `pod-${String(at).padStart(3, "0")}`);
  for (const name of names) await world.put(`pods/a/${name}`, {});
  const known = new Set<string>();
  const index = new LiveIndex({
    prefix: PREFIX,
    add: ({ metadata }) => known.add(metadata.name ?? ""),
    remove: ({ metadata }) => known.delete(metadata.name ?? ""),
  });
  let turns = 0;
  const turn = async (): Promise<void> => {
    turns += 1;
    await world.remove("pods/a/pod-000");
    await world.put("pods/a/new", {});
  };

  const ready = index.ready(world.store.view, turn);
  const second = index.ready(world.store.view, turn);

  expect(second, "the same for all who wait").toBe(ready);
  await ready;
  expect(turns).toBe(2);
  expect(index.ready(world.store.view, turn)).toBeUndefined();
  index.catchUp(world.store.view);
  expect([...known].toSorted()).toEqual(["new", ...names.slice(1)].toSorted());
});

test("a short first read needs no wait", async () => {
  const world = openAccessWorld();
  await world.put("pods/a/first", {});
  const index = new LiveIndex({ prefix: PREFIX, add: () => undefined, remove: () => undefined });

  expect(index.ready(world.store.view, () => Promise.resolve())).toBeUndefined();
});
