import { expect, test } from "vitest";
import type { ApiObject } from "../../api/api-object.ts";
import { SLICE_ITEMS } from "../../base/loop/in-slices.ts";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import { KeyFeed } from "./key-feed.ts";

const MANY = 10 * SLICE_ITEMS;

function objects(count: number): readonly ApiObject[] {
  return Array.from({ length: count }, (_, at) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: `c${String(at)}` },
  }));
}

test("keys are added while few are queued, and all of them in the end", async () => {
  const loop = new VirtualLoop({ seed: 1 });
  const queue: ApiObject[] = [];
  let [added, deepest] = [0, 0];
  const feed = new KeyFeed({
    loop,
    depth: () => queue.length,
    add: (object) => {
      added += 1;
      queue.push(object);
      deepest = Math.max(deepest, queue.length);
    },
  });
  feed.begin(objects(MANY));
  const addedAtOnce = added;
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    feed.taken();
    await loop.settle();
  }

  expect(addedAtOnce).toBe(SLICE_ITEMS);
  expect(added).toBe(MANY);
  expect(deepest).toBeLessThan(2 * SLICE_ITEMS);
});

test("objects that need no pass are visited in slices, without a key being taken", async () => {
  const loop = new VirtualLoop({ seed: 1 });
  let visited = 0;
  const feed = new KeyFeed({ loop, depth: () => 0, add: () => (visited += 1) });
  feed.begin(objects(MANY));
  const visitedAtOnce = visited;
  await loop.settle();

  expect(visitedAtOnce).toBe(SLICE_ITEMS);
  expect(visited).toBe(MANY);
});

test("a feed that has ended adds no more keys", async () => {
  const loop = new VirtualLoop({ seed: 1 });
  let added = 0;
  const feed = new KeyFeed({ loop, depth: () => 0, add: () => (added += 1) });
  feed.begin(objects(MANY));
  feed.end();
  await loop.settle();

  expect(added).toBe(SLICE_ITEMS);
});
