import { describe, expect, test } from "vitest";
import type { ApiObject } from "../../api/api-object.ts";
import { silentLog } from "../../base/log/log.ts";
import { SLICE_ITEMS } from "../../base/loop/in-slices.ts";
import { runToEnd, type YieldingWork } from "../../base/loop/yielding-work.ts";
import { Cache } from "./cache.ts";
import type { ObjectChange } from "./object-change.ts";

const COUNT = 3 * SLICE_ITEMS + 1;

function object(at: number, resourceVersion = "1"): ApiObject {
  const name = `c${String(at).padStart(5, "0")}`;
  const labels = { app: `app-${String(at % 3)}` };
  const ownerReferences = [
    { apiVersion: "v1", kind: "X", name: "o", uid: `o${String(at % 3)}`, controller: true },
  ];
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "x", name, uid: name, resourceVersion, labels, ownerReferences },
  };
}

function objects(resourceVersion = "1"): readonly ApiObject[] {
  return Array.from({ length: COUNT }, (_, at) => object(at, resourceVersion));
}

function reset(...content: readonly ApiObject[]) {
  return { type: "reset", objects: content, resourceVersion: "9" } as const;
}

function filled(): Cache<ApiObject> {
  const cache = new Cache<ApiObject>(silentLog);
  cache.apply(reset(...objects()));
  return cache;
}

/** Changes that a listener receives in each step of the work. */
function changesByStep(cache: Cache<ApiObject>, work: YieldingWork<void>): readonly number[] {
  const counts: number[] = [];
  let count = 0;
  cache.subscribe(() => (count += 1));
  for (let isDone = false; !isDone; count = 0) {
    isDone = work.next().done === true;
    counts.push(count);
  }
  return counts;
}

function isCurrent(cache: Cache<ApiObject>, { before, after }: ObjectChange<ApiObject>): boolean {
  const { namespace, name = "" } = (after ?? before)?.metadata ?? {};
  return cache.find({ namespace, name }) === after;
}

describe("a cache", () => {
  test("fills in slices, has synced at the end, and finds all by its indexes", () => {
    const cache = new Cache<ApiObject>(silentLog);
    cache.indexControllers();
    const synced: boolean[] = [];
    cache.subscribe(() => synced.push(cache.hasSynced));
    const counts = changesByStep(cache, cache.applyInSlices(reset(...objects())));

    expect(Math.max(...counts)).toBe(SLICE_ITEMS);
    expect(counts.reduce((sum, count) => sum + count)).toBe(COUNT);
    expect(synced.every((each) => !each)).toBe(true);
    expect(cache.hasSynced).toBe(true);
    const owner = { apiVersion: "v1", kind: "X", metadata: { name: "o", uid: "o0" } };
    expect(cache.ownedBy(owner).length).toBe(Math.ceil(COUNT / 3));
  });

  test("applies a relist in slices, and a listener reads what each change says", () => {
    const cache = filled();
    const wanted = objects("2").slice(SLICE_ITEMS);
    const stale: unknown[] = [];
    cache.subscribe((change) => {
      if (!isCurrent(cache, change)) stale.push(change);
    });
    const counts = changesByStep(cache, cache.applyInSlices(reset(...wanted, object(COUNT + 5))));

    expect(Math.max(...counts)).toBe(SLICE_ITEMS);
    expect(stale).toEqual([]);
    expect(cache.list()).toEqual([...wanted, object(COUNT + 5)]);
  });

  test("applies a large batch of changes in slices", () => {
    const cache = filled();
    const changes = objects("2").map((each) => ({ type: "put", object: each }) as const);
    const counts = changesByStep(
      cache,
      cache.applyInSlices({ type: "changes", changes, resourceVersion: "10" }),
    );

    expect(counts).toEqual([SLICE_ITEMS, SLICE_ITEMS, SLICE_ITEMS, 1]);
    expect(cache.list()).toEqual(objects("2"));
  });

  test("takes objects in any order", () => {
    const cache = new Cache<ApiObject>(silentLog);
    cache.apply(reset(...objects().toReversed()));

    expect(cache.list()).toEqual(objects());
  });
});

describe("a walk over a cache", () => {
  test("shows newer states, and skips objects that were removed or replaced since its beginning", () => {
    const cache = filled();
    const walk = cache.walk()[Symbol.iterator]();
    walk.next();
    const again = object(2, "12");
    cache.apply({
      type: "changes",
      changes: [
        { type: "put", object: object(1, "10") },
        { type: "delete", object: object(2, "11") },
        { type: "put", object: { ...again, metadata: { ...again.metadata, uid: "other" } } },
        { type: "delete", object: object(3, "13") },
      ],
      resourceVersion: "13",
    });

    expect([walk.next().value, walk.next().value]).toEqual([object(1, "10"), object(4)]);
  });

  test("visits only the objects of its namespace", () => {
    const cache = filled();
    const other = { ...object(0), metadata: { ...object(0).metadata, namespace: "y" } };
    cache.apply({ type: "changes", changes: [{ type: "put", object: other }], resourceVersion: "10" });
    const before = cache.visited;

    expect([...cache.walk("y")]).toEqual([other]);
    expect(cache.visited - before).toBe(1);
    expect([cache.countIn("y"), cache.countIn("x"), cache.countIn("z")]).toEqual([1, COUNT, 0]);
  });
});

describe("a selection by labels", () => {
  const chosen = { labels: { matchLabels: { app: "app-1" } } };

  test("builds the index in slices, and sees changes that arrive meanwhile", () => {
    const cache = filled();
    const work = cache.select(chosen);
    work.next();
    const moved = { ...object(2, "2"), metadata: { ...object(2, "2").metadata, labels: { app: "app-1" } } };
    cache.apply({
      type: "changes",
      changes: [
        { type: "put", object: moved },
        { type: "delete", object: object(1, "3") },
      ],
      resourceVersion: "3",
    });
    const before = cache.visited;
    work.next();
    const visitedInStep = cache.visited - before;
    const found = runToEnd(work);

    expect(visitedInStep).toBe(SLICE_ITEMS);
    expect(found).toEqual(cache.list().filter(({ metadata }) => metadata.labels?.["app"] === "app-1"));
    expect(found).toContain(moved);
  });

  test("visits only its result once the index exists, and concurrent ones share it", () => {
    const cache = filled();
    const [first, second] = [cache.select(chosen), cache.select(chosen)];
    first.next();
    second.next();
    const found = runToEnd(first);
    const before = cache.visited;

    expect(runToEnd(second)).toEqual(found);
    expect(runToEnd(cache.select(chosen))).toEqual(found);
    expect(cache.visited - before).toBe(2 * found.length);
  });
});
