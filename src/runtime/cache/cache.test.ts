import { describe, expect, test } from "vitest";
import type { ApiObject } from "../../api/api-object.ts";
import type { LabelSelector, ObjectMeta, OwnerReference } from "../../api/generated/types/meta-v1.ts";
import { silentLog } from "../../base/log/log.ts";
import type { Log } from "../../base/log/log.ts";
import type { WatcherEvent } from "../watch/watcher-event.ts";
import { Cache } from "./cache.ts";
import type { ObjectChange } from "./object-change.ts";

const NEVER = new AbortController().signal;

/** `default/a`; its uid is the place unless `metadata` sets one. */
function object(place: string, resourceVersion: string, metadata: ObjectMeta = {}): ApiObject {
  const [namespace = "", name = ""] = place.split("/");
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace, name, uid: place, resourceVersion, ...metadata },
  };
}

function reset(resourceVersion: string, ...objects: readonly ApiObject[]): WatcherEvent<ApiObject> {
  return { type: "reset", objects, resourceVersion };
}

function put(changed: ApiObject): WatcherEvent<ApiObject> {
  const resourceVersion = changed.metadata.resourceVersion ?? "";
  return { type: "changes", changes: [{ type: "put", object: changed }], resourceVersion };
}

function gone(changed: ApiObject): WatcherEvent<ApiObject> {
  const resourceVersion = changed.metadata.resourceVersion ?? "";
  return { type: "changes", changes: [{ type: "delete", object: changed }], resourceVersion };
}

function cacheOf(...events: readonly WatcherEvent<ApiObject>[]): Cache<ApiObject> {
  const cache = new Cache<ApiObject>(silentLog);
  for (const event of events) cache.apply(event);
  return cache;
}

function places(objects: readonly ApiObject[]): readonly string[] {
  return objects.map(({ metadata }) => `${metadata.namespace ?? ""}/${metadata.name ?? ""}`);
}

/** `+a` for an addition, `-a` for a removal, `a 1 2` for an update. */
function brief({ before, after }: ObjectChange<ApiObject>): string {
  if (before === undefined) return `+${after?.metadata.name ?? ""}`;
  if (after === undefined) return `-${before.metadata.name ?? ""}`;
  return `${before.metadata.name ?? ""} ${before.metadata.resourceVersion ?? ""} ${after.metadata.resourceVersion ?? ""}`;
}

function changesOf(cache: Cache<ApiObject>): string[] {
  const told: string[] = [];
  cache.subscribe((change) => told.push(brief(change)));
  return told;
}

async function isSettled(promise: Promise<void>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  await Promise.resolve();
  await Promise.resolve();
  return settled;
}

function owner(uid: string, controller: boolean): OwnerReference {
  return { apiVersion: "v1", kind: "X", name: uid, uid, controller };
}

describe("the content of a cache", () => {
  test("is found by namespace and name", () => {
    const a = object("x/a", "1");
    const cache = cacheOf(reset("1", a, object("y/a", "1")));

    expect(cache.find({ namespace: "x", name: "a" })).toBe(a);
    expect(cache.find({ namespace: "z", name: "a" })).toBeUndefined();
    expect(cache.size).toBe(2);
  });

  test("is listed in order of namespace and name", () => {
    const cache = cacheOf(reset("1", object("a/z", "1"), object("a-b/c", "1"), object("a/b", "1")));

    cache.apply(put(object("a/c", "2")));

    expect(places(cache.list())).toEqual(["a/b", "a/c", "a/z", "a-b/c"]);
    expect(places(cache.list({ namespace: "a" }))).toEqual(["a/b", "a/c", "a/z"]);
    expect(cache.list({ namespace: "b" })).toEqual([]);
  });

  test("is the same list until it changes, and then another list", () => {
    const cache = cacheOf(reset("1", object("x/a", "1"), object("y/b", "1")));
    const all = cache.list();
    const inX = cache.list({ namespace: "x" });

    expect(cache.list()).toBe(all);
    cache.apply(put(object("y/b", "2")));

    expect(cache.list()).not.toBe(all);
    expect(places(all)).toEqual(["x/a", "y/b"]);
    expect(cache.list({ namespace: "x" })).toBe(inX);
  });

  test("is found by its owners, and by the one that controls it", () => {
    const owned = object("x/a", "1", { ownerReferences: [owner("o", true), owner("p", false)] });
    const cache = cacheOf(reset("1", owned, object("x/b", "1", { ownerReferences: [owner("p", true)] })));

    expect(places(cache.ownedBy(object("x/o", "1", { uid: "o" })))).toEqual(["x/a"]);
    expect(places(cache.ownedBy(object("x/p", "1", { uid: "p" })))).toEqual(["x/b"]);
    expect(places(cache.dependentsOf("p"))).toEqual(["x/a", "x/b"]);
    expect(cache.dependentsOf("q")).toEqual([]);

    cache.apply(gone(object("x/a", "2")));
    expect(cache.dependentsOf("o")).toEqual([]);
  });

  test("is found as uncontrolled until an object controls it", () => {
    const cache = cacheOf(reset("1", object("x/a", "1"), object("x/b", "1"), object("y/a", "1")));
    expect(places(cache.uncontrolled("x"))).toEqual(["x/a", "x/b"]);

    cache.apply(put(object("x/a", "2", { ownerReferences: [owner("o", true)] })));
    cache.apply(put(object("x/b", "3", { ownerReferences: [owner("o", false)] })));

    expect(places(cache.uncontrolled("x"))).toEqual(["x/b"]);
    expect(places(cache.ownedBy(object("x/o", "1", { uid: "o" })))).toEqual(["x/a"]);
  });

  test("is found by user-defined indexes, also by those added late", () => {
    const cache = cacheOf(reset("1", object("x/a", "1", { generation: 1 }), object("x/b", "1")));
    const valuesOf = ({ metadata }: ApiObject) => [String(metadata.generation ?? 0)];

    cache.addIndex("generation", valuesOf);
    cache.addIndex("generation", valuesOf);
    cache.apply(put(object("x/b", "2", { generation: 1 })));

    expect(places(cache.indexed("generation", "1"))).toEqual(["x/a", "x/b"]);
    expect(() => cache.indexed("other", "1")).toThrow('no index "other"');
    expect(() => cache.addIndex("generation", () => [])).toThrow('another index "generation"');
  });

  test("is in no index whose function throws for it", () => {
    const cache = cacheOf(reset("1", object("x/a", "1"), object("x/b", "1", { generation: 2 })));

    cache.addIndex("generation", ({ metadata }) => {
      if (metadata.generation === undefined) throw new Error("none");
      return ["g"];
    });

    expect(places(cache.indexed("generation", "g"))).toEqual(["x/b"]);
  });
});

describe("a list by labels", () => {
  const MANY = Array.from({ length: 300 }, (_, at) =>
    object(`${at % 2 === 0 ? "x" : "y"}/o${String(at).padStart(3, "0")}`, "1", {
      labels: { app: `app-${at % 10}`, tier: at % 3 === 0 ? "db" : "web" },
    }),
  );

  test.each<LabelSelector>([
    { matchLabels: { app: "app-4" } },
    { matchLabels: { app: "app-4", tier: "db" } },
    {
      matchLabels: { tier: "web" },
      matchExpressions: [{ key: "app", operator: "NotIn", values: ["app-4"] }],
    },
    { matchExpressions: [{ key: "app", operator: "In", values: ["app-4", "app-5"] }] },
    { matchLabels: { constructor: "x" } },
    {},
  ])("equals a scan of all objects: %j", (labels) => {
    const large = cacheOf(reset("1", ...MANY));
    for (const [index, { metadata }] of MANY.entries())
      if (index % 7 === 0) large.apply(gone({ ...object("x/x", "2"), metadata: { ...metadata } }));
    const small = new Map(large.list().map((one) => [one, cacheOf(reset("1", one))]));

    for (const namespace of [undefined, "x", "y", "z"]) {
      const filter = { labels, ...(namespace !== undefined && { namespace }) };
      const searched = large.list().filter((one) => small.get(one)?.list(filter).length === 1);
      expect(large.list(filter)).toEqual(searched);
    }
  });
});

describe("a reset of a cache", () => {
  test("reports additions, removals and updates only", () => {
    const cache = cacheOf(reset("3", object("x/a", "1"), object("x/b", "2"), object("x/c", "3")));
    const kept = cache.find({ namespace: "x", name: "b" });
    const told = changesOf(cache);

    cache.apply(reset("9", object("x/d", "8"), object("x/b", "2"), object("x/c", "7")));

    expect(told).toEqual(["-a", "c 3 7", "+d"]);
    expect(cache.find({ namespace: "x", name: "b" })).toBe(kept);
    expect(places(cache.list())).toEqual(["x/b", "x/c", "x/d"]);
  });

  test("reports another object under the same name as a removal and an addition", () => {
    const cache = cacheOf(reset("1", object("x/a", "1")));
    const told = changesOf(cache);

    cache.apply(reset("5", object("x/a", "4", { uid: "other" })));
    cache.apply(put(object("x/a", "6", { uid: "third" })));

    expect(told).toEqual(["-a", "+a", "-a", "+a"]);
  });

  test("keeps the last of several objects of one name", () => {
    const cache = cacheOf(reset("2", object("x/a", "1"), object("x/a", "2")));

    expect(cache.list().map(({ metadata }) => metadata.resourceVersion)).toEqual(["2"]);
  });
});

describe("changes of a cache", () => {
  test("are reported after the cache has applied the whole batch", () => {
    const cache = cacheOf(reset("1"));
    const sizes: number[] = [];
    cache.subscribe(() => sizes.push(cache.size));

    cache.apply({
      type: "changes",
      changes: [
        { type: "put", object: object("x/a", "2") },
        { type: "put", object: object("x/b", "3") },
      ],
      resourceVersion: "3",
    });

    expect(sizes).toEqual([2, 2]);
  });

  test("of an object that was deleted and created again are both reported", () => {
    const cache = cacheOf(reset("1", object("x/a", "1")));
    const told = changesOf(cache);

    cache.apply({
      type: "changes",
      changes: [
        { type: "delete", object: object("x/a", "2") },
        { type: "put", object: object("x/a", "3", { uid: "new" }) },
      ],
      resourceVersion: "3",
    });

    expect(told).toEqual(["-a", "+a"]);
  });

  test("that are applied already, or that delete unknown objects, are no-ops", () => {
    const cache = cacheOf(reset("5", object("x/a", "5")));
    const told = changesOf(cache);

    cache.apply(put(object("x/a", "5")));
    cache.apply(gone(object("x/b", "6")));
    cache.apply(gone(object("x/a", "6", { uid: "earlier" })));

    expect(told).toEqual([]);
    expect(cache.size).toBe(1);
  });

  test("reach every listener even if another one throws", () => {
    const errors: string[] = [];
    const log: Log = { ...silentLog, error: (message) => errors.push(message) };
    const cache = new Cache<ApiObject>(log);
    const told: string[] = [];
    cache.subscribe(() => {
      throw new Error("listener");
    });
    cache.subscribe((change) => told.push(brief(change)));

    cache.apply(reset("1", object("x/a", "1")));

    expect(told).toEqual(["+a"]);
    expect(errors).toEqual(["a listener of the cache failed"]);
  });

  test("reach a listener from its subscription until it unsubscribes", () => {
    const cache = cacheOf(reset("1", object("x/a", "1")));
    const told: string[] = [];

    const end = cache.subscribe((change) => told.push(brief(change)));
    cache.apply(put(object("x/b", "2")));
    end();
    cache.apply(put(object("x/c", "3")));

    expect(told).toEqual(["+b"]);
  });

  test("of the current batch do not reach a listener that subscribes within it", () => {
    const cache = cacheOf();
    const told: string[] = [];
    let isFirst = true;
    cache.subscribe(() => {
      if (isFirst) cache.subscribe((change) => told.push(brief(change)));
      isFirst = false;
    });

    cache.apply(reset("1", object("x/a", "1"), object("x/b", "1")));
    cache.apply(put(object("x/c", "2")));

    expect(told).toEqual(["+c"]);
  });
});

describe("waiting for a cache", () => {
  test("ends with the first reset", async () => {
    const cache = cacheOf();
    const waiting = cache.synced(NEVER);

    expect(cache.hasSynced).toBe(false);
    expect(await isSettled(waiting)).toBe(false);
    cache.apply(reset("1"));

    await waiting;
    expect(cache.hasSynced).toBe(true);
    await cache.synced(NEVER);
  });

  test.each([put(object("x/a", "7")), reset("9"), { type: "progress", resourceVersion: "10" } as const])(
    "for a version ends with that version or a later one: $type $resourceVersion",
    async (event) => {
      const cache = cacheOf(reset("5"));
      const waiting = cache.waitFor("7", NEVER);

      cache.apply(put(object("x/b", "6")));
      expect(await isSettled(waiting)).toBe(false);
      cache.apply(event);

      await waiting;
      await cache.waitFor("7", NEVER);
    },
  );

  test("ends with the signal's reason", async () => {
    const cache = cacheOf(reset("5"));
    const ending = new AbortController();

    const waiting = cache.waitFor("7", ending.signal);
    ending.abort(new Error("enough"));

    await expect(waiting).rejects.toThrow("enough");
    await expect(cache.waitFor("7", ending.signal)).rejects.toThrow("enough");
  });

  test("for a version without order ends with that version, also when it was seen before, and with a reset", async () => {
    const cache = cacheOf(reset("s1", object("x/z", "held")));
    const later = cache.waitFor("b", NEVER);

    cache.apply(put(object("x/a", "a")));
    expect(await isSettled(later)).toBe(false);
    cache.apply(put(object("x/a", "b")));
    cache.apply(put(object("x/a", "c")));

    await later;
    await cache.waitFor("a", NEVER);
    await cache.waitFor("held", NEVER);
    const missed = cache.waitFor("d", NEVER);
    cache.apply(reset("s2"));
    await missed;
  });
});
