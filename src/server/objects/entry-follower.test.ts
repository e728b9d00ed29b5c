import { expect, test } from "vitest";
import { runToEnd } from "../../base/loop/yielding-work.ts";
import { openAccessFixture } from "../access/authz/fixture.ts";
import { EntryFollower } from "./entry-follower.ts";

const PREFIX = "/registry/pods/";

/** A follower that keeps the keys and create revisions of the entries. */
function follow() {
  const calls: string[] = [];
  const known = new Map<string, number>();
  const follower = new EntryFollower({
    prefix: PREFIX,
    apply: (changes) => {
      for (const { before, after } of changes) {
        if (before !== undefined) calls.push(`remove ${nameOf(before)}`);
        if (after !== undefined) calls.push(`add ${nameOf(after)}`);
        if (after !== undefined) known.set(nameOf(after), after.modRevision);
        else if (before !== undefined) known.delete(nameOf(before));
      }
    },
  });
  return { calls, known, follower };
}

function nameOf({ key }: { readonly key: string }): string {
  return key.slice(key.lastIndexOf("/") + 1);
}

async function manyPods(count = 250) {
  const fixture = openAccessFixture();
  const names = Array.from({ length: count }, (_, at) => `pod-${String(at).padStart(4, "0")}`);
  for (const name of names) await fixture.put(`pods/a/${name}`, {});
  return { fixture, names };
}

test("changes that were read have gone at the next read", async () => {
  const fixture = openAccessFixture();
  const { calls, follower } = follow();
  await fixture.put("pods/a/first", {});

  expect(follower.catchUp(fixture.store.view)).toBe(true);
  expect(calls.splice(0)).toEqual(["add first"]);

  await fixture.put("pods/a/second", {});
  await fixture.remove("pods/a/first");
  expect(runToEnd(follower.catchUpInPieces(fixture.store.view))).toBe(true);
  expect(calls.splice(0)).toEqual(["remove first", "add second"]);
  expect(follower.catchUp(fixture.store.view)).toBe(false);
  expect(runToEnd(follower.catchUpInPieces(fixture.store.view))).toBe(false);
  expect(calls).toEqual([]);
});

test("many changes are applied in pieces, and a read in between finds all of them", async () => {
  const { fixture, names } = await manyPods();
  const { known, follower } = follow();
  follower.catchUp(fixture.store.view);
  const before = fixture.store.view.revision;
  for (const name of names.slice(100)) await fixture.put(`pods/a/${name}`, {});
  for (const name of names.slice(0, 100)) await fixture.remove(`pods/a/${name}`);

  const work = follower.catchUpInPieces(fixture.store.view);
  work.next();
  expect(known.size, "a piece of the changes").toBe(150);
  follower.catchUp(fixture.store.view);

  expect([...known.keys()].toSorted()).toEqual(names.slice(100));
  expect([...known.values()].every((revision) => revision > before)).toBe(true);
  expect(work.next().done).toBe(true);
  expect(known.size).toBe(150);
});

test("a reader of many changes waits in pieces, and never goes back to an older view", async () => {
  const { fixture, names } = await manyPods(600);
  const { known, follower } = follow();
  follower.catchUp(fixture.store.view);
  for (const name of names) await fixture.put(`pods/a/${name}`, {});
  const older = fixture.store.view;
  let turns = 0;
  const turn = async (): Promise<void> => {
    turns += 1;
    if (turns > 1) return;
    await fixture.remove("pods/a/pod-0599");
    follower.catchUp(fixture.store.view);
  };

  const first = follower.ready(older, turn);
  const second = follower.ready(older, () => Promise.resolve());
  expect(first, "more changes than one step applies").toBeInstanceOf(Promise);
  await Promise.all([first, second]);

  expect(turns).toBeGreaterThan(0);
  expect(known.size).toBe(599);
  expect(follower.revision).toBe(fixture.store.view.revision);
  expect(follower.ready(fixture.store.view, turn)).toBeUndefined();
  expect(follower.catchUp(older), "an older view").toBe(false);
});

test("a long first read lets other work run, and misses no change meanwhile", async () => {
  const { fixture, names } = await manyPods();
  const { known, follower } = follow();
  let turns = 0;
  const turn = async (): Promise<void> => {
    turns += 1;
    await fixture.remove("pods/a/pod-0000");
    await fixture.put("pods/a/new", {});
  };

  const ready = follower.ready(fixture.store.view, turn);
  const second = follower.ready(fixture.store.view, turn);

  expect(second, "the same for all who wait").toBe(ready);
  await ready;
  expect(turns).toBe(2);
  expect(follower.ready(fixture.store.view, turn)).toBeUndefined();
  follower.catchUp(fixture.store.view);
  expect([...known.keys()].toSorted()).toEqual(["new", ...names.slice(1)].toSorted());
});

test("a short first read needs no wait", async () => {
  const { fixture } = await manyPods(1);

  expect(follow().follower.ready(fixture.store.view, () => Promise.resolve())).toBeUndefined();
});
