/** Guarantees of lists and watches beyond api.test.ts. Tests that need time run on a virtual loop. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { VirtualLoop } from "../../src/base/loop/virtual/virtual-loop.ts";
import { TestApi, text, watchEvents, listOf } from "../api-harness.ts";
import type { Reply, ReplyBody } from "../api-harness.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const EVENTS = "/api/v1/namespaces/default/events";
const MERGE = "application/merge-patch+json";
const TOO_FAR = "999999";

interface SeenEvent {
  readonly type: string;
  readonly object: ReplyBody;
}

function configMap(name: string, data: Record<string, string> = { a: "1" }): Record<string, unknown> {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels: { app: name } }, data };
}

function names({ body }: Reply): readonly string[] {
  const items = listOf(body["items"]);
  return items.map((item) => text(item["metadata"]?.["name"]));
}

function versionOf(object: ReplyBody): string {
  return text(object["metadata"]?.["resourceVersion"]);
}

/** Type, name and version of an event. */
function brief({ type, object }: SeenEvent): string {
  return `${type} ${text(object["metadata"]?.["name"])} ${versionOf(object)}`;
}

/** First events of a watch; leaves it afterwards. */
async function firstEvents(api: TestApi, target: string, count: number): Promise<readonly SeenEvent[]> {
  const ending = new AbortController();
  const response = await api.raw("GET", target, undefined, { signal: ending.signal });
  const seen: SeenEvent[] = [];
  for await (const event of watchEvents(response)) {
    seen.push(event);
    if (seen.length === count) break;
  }
  ending.abort();
  return seen;
}

async function withMaps(...created: readonly string[]): Promise<TestApi> {
  const api = await TestApi.start();
  for (const name of created) await api.send("POST", MAPS, configMap(name));
  return api;
}

/** An API on a clock that runs only while the test drives it. */
class VirtualApi implements AsyncDisposable {
  readonly loop: VirtualLoop;
  readonly api: TestApi;

  private constructor(loop: VirtualLoop, api: TestApi) {
    this.loop = loop;
    this.api = api;
  }

  static async start(): Promise<VirtualApi> {
    const loop = new VirtualLoop({ seed: 7 });
    const world = new VirtualApi(loop, await TestApi.start([], { loop }));
    await world.send("POST", "/api/v1/namespaces", { metadata: { name: "default" } });
    return world;
  }

  send(method: string, target: string, body?: unknown): Promise<Reply> {
    return this.until(this.api.send(method, target, body));
  }

  async until<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const settled = work.finally(() => (isDone = true));
    await this.loop.until(() => isDone);
    return settled;
  }

  /** Reads in the background into `events`. */
  async watch(query: string): Promise<{ readonly events: SeenEvent[]; readonly end: Promise<number> }> {
    const response = await this.until(this.api.raw("GET", `${MAPS}?watch=true${query}`));
    const events: SeenEvent[] = [];
    const read = async (): Promise<number> => {
      for await (const event of watchEvents(response)) events.push(event);
      return this.loop.now();
    };
    return { events, end: read() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.until(this.api.store.close());
  }
}

describe("the resourceVersion of a list", () => {
  test.each([
    ["none", ""],
    ["0", "&resourceVersion=0"],
    ["an old one", "&resourceVersion=OLD"],
    ["an old one with NotOlderThan", "&resourceVersion=OLD&resourceVersionMatch=NotOlderThan"],
    ["0 with NotOlderThan", "&resourceVersion=0&resourceVersionMatch=NotOlderThan"],
  ])("%s shows the newest state", async (_, query) => {
    await using api = await withMaps("a");
    const old = versionOf((await api.send("GET", MAPS)).body);
    await api.send("POST", MAPS, configMap("b"));

    const list = await api.send("GET", `${MAPS}?limit=0${query.replace("OLD", old)}`);

    expect(names(list)).toEqual(["a", "b"]);
    expect(versionOf(list.body)).toBe(String(api.store.view.revision));
  });

  test("with Exact shows that very state", async () => {
    await using api = await withMaps("a", "b");
    const old = versionOf((await api.send("GET", MAPS)).body);
    await api.send("DELETE", `${MAPS}/a`);
    await api.send("PATCH", `${MAPS}/b`, { data: { a: "2" } }, { type: MERGE });

    const list = await api.send("GET", `${MAPS}?resourceVersion=${old}&resourceVersionMatch=Exact`);

    expect([names(list), versionOf(list.body)]).toEqual([["a", "b"], old]);
    expect(listOf(list.body["items"])[1]?.["data"]).toEqual({ a: "1" });
  });

  test("besides a limit shows that very state too", async () => {
    await using api = await withMaps("a", "b");
    const old = versionOf((await api.send("GET", MAPS)).body);
    await api.send("DELETE", `${MAPS}/a`);

    const list = await api.send("GET", `${MAPS}?limit=1&resourceVersion=${old}`);

    expect([names(list), versionOf(list.body)]).toEqual([["a"], old]);
    expect(list.body["metadata"]).toMatchObject({ remainingItemCount: 1 });
  });

  test("with Exact of a compacted revision is Expired", async () => {
    await using api = await withMaps("a", "b");
    await api.store.compact(api.store.view.revision);

    const { code, body } = await api.send("GET", `${MAPS}?resourceVersion=2&resourceVersionMatch=Exact`);

    expect([code, body["reason"], body["status"]]).toEqual([410, "Expired", "Failure"]);
  });

  test.each([
    ["a list", MAPS],
    ["a list with Exact", `${MAPS}?resourceVersionMatch=Exact`],
    ["a get", `${MAPS}/a`],
    ["a watch", `${MAPS}?watch=1`],
  ])("%s that is not reached within three seconds is a timeout", async (_, target) => {
    await using world = await VirtualApi.start();
    await world.send("POST", MAPS, configMap("a"));
    const began = world.loop.now();
    const separator = target.includes("?") ? "&" : "?";

    const reply = await world.send("GET", `${target}${separator}resourceVersion=${TOO_FAR}`);

    const current = String(world.api.store.view.revision);
    expect(reply.body).toMatchObject({
      kind: "Status",
      code: 504,
      reason: "Timeout",
      message: `Timeout: Too large resource version: ${TOO_FAR}, current: ${current}`,
      details: { causes: [{ reason: "ResourceVersionTooLarge" }], retryAfterSeconds: 1 },
    });
    expect(reply.headers.get("retry-after")).toBe("1");
    expect(world.loop.now() - began).toBeGreaterThanOrEqual(3000);
    expect(world.loop.now() - began).toBeLessThan(3500);
  });

  test("a watch that begins there is told so by its only event", async () => {
    await using world = await VirtualApi.start();
    const options = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan";

    const { code, bytes } = await world.send("GET", `${MAPS}?watch=1&${options}&resourceVersion=${TOO_FAR}`);

    expect(code).toBe(200);
    expect(JSON.parse(bytes.toString())).toMatchObject({
      type: "ERROR",
      object: { code: 504, reason: "Timeout", details: { causes: [{ reason: "ResourceVersionTooLarge" }] } },
    });
  });

  test("a watch from a revision that is about to come begins there", async () => {
    await using world = await VirtualApi.start();
    const next = String(world.api.store.view.revision + 1);

    const watching = firstEvents(world.api, `${MAPS}?watch=1&resourceVersion=${next}`, 1);
    await world.send("POST", MAPS, configMap("a"));
    await world.send("POST", MAPS, configMap("b"));
    const events = await world.until(watching);

    expect(events.map(brief)).toEqual([`ADDED b ${String(Number(next) + 1)}`]);
  });

  test("that is about to come is waited for", async () => {
    await using world = await VirtualApi.start();
    const next = String(world.api.store.view.revision + 1);

    const waiting = world.api.send("GET", `${MAPS}?resourceVersion=${next}`);
    await world.send("POST", MAPS, configMap("a"));
    const list = await world.until(waiting);

    expect([list.code, names(list), versionOf(list.body)]).toEqual([200, ["a"], next]);
  });
});

describe("a list in pieces", () => {
  test("says how many are left, but not of a selection", async () => {
    await using api = await withMaps("a", "b", "c");

    const all = await api.send("GET", `${MAPS}?limit=1`);
    const some = await api.send("GET", `${MAPS}?limit=1&labelSelector=app`);

    expect(all.body["metadata"]).toMatchObject({ remainingItemCount: 2 });
    expect(some.body["metadata"]).not.toHaveProperty("remainingItemCount");
    expect(some.body["metadata"]).toHaveProperty("continue");
  });

  test.each(["", "&resourceVersionMatch=NotOlderThan"])(
    "is whole where any revision will do, but of Events: %j",
    async (match) => {
      await using api = await withMaps("a", "b", "c");
      const involvedObject = { kind: "ConfigMap", namespace: "default", name: "a" };
      for (const name of ["e", "f"])
        await api.send("POST", EVENTS, { metadata: { name }, involvedObject, reason: "Test" });

      const query = `limit=1&resourceVersion=0${match}`;
      const maps = await api.send("GET", `${MAPS}?${query}`);
      const events = await api.send("GET", `${EVENTS}?${query}`);

      expect([names(maps), names(events)]).toEqual([["a", "b", "c"], ["e"]]);
      expect(maps.body["metadata"]).not.toHaveProperty("continue");
    },
  );

  test.each(["fieldSelector=metadata.name%3Da", "fieldSelector=metadata.name%3Da&labelSelector=app%3Da"])(
    "is whole when no more than one object can be found: %s",
    async (query) => {
      await using api = await TestApi.start();
      for (const name of ["a", "b", "c"]) await api.send("POST", MAPS, configMap(name));

      const list = await api.send("GET", `${MAPS}?limit=1&${query}`);

      expect([names(list), list.body["metadata"]?.["continue"]]).toEqual([["a"], undefined]);
      for (const other of ["metadata.name%3Dz", "metadata.name%3Da&labelSelector=app%3Db"])
        expect(names(await api.send("GET", `${MAPS}?fieldSelector=${other}`))).toEqual([]);
    },
  );

  test("fills each piece of a selection", async () => {
    await using api = await withMaps("a", "b", "c", "d", "e");
    const selector = `labelSelector=${encodeURIComponent("app in (b,d,e)")}`;

    const first = await api.send("GET", `${MAPS}?limit=2&${selector}`);
    const token = text(first.body["metadata"]?.["continue"]);
    const second = await api.send("GET", `${MAPS}?limit=2&${selector}&continue=${token}`);

    expect([names(first), names(second)]).toEqual([["b", "d"], ["e"]]);
    expect(second.body["metadata"]).not.toHaveProperty("continue");
  });

  test("whose revision is gone says so, with a token that goes on from the same place now", async () => {
    await using api = await withMaps("a", "b", "c");
    const first = await api.send("GET", `${MAPS}?limit=1`);
    await api.send("DELETE", `${MAPS}/b`);
    await api.send("POST", MAPS, configMap("d"));
    await api.store.compact(api.store.view.revision);

    const token = text(first.body["metadata"]?.["continue"]);
    const expired = await api.send("GET", `${MAPS}?limit=1&continue=${token}`);
    const again = text(expired.body["metadata"]?.["continue"]);
    const rest = await api.send("GET", `${MAPS}?continue=${again}`);

    expect([expired.code, expired.body["reason"]]).toEqual([410, "Expired"]);
    expect(expired.body["message"]).toMatch(/^The provided continue parameter is too old/);
    expect([rest.code, names(rest), versionOf(rest.body)]).toEqual([
      200,
      ["c", "d"],
      String(api.store.view.revision),
    ]);
  });

  test("whose revision is gone goes on with what came right behind its last piece", async () => {
    await using api = await withMaps("a", "c");
    const first = await api.send("GET", `${MAPS}?limit=1`);
    await api.send("POST", MAPS, configMap("b"));
    await api.store.compact(api.store.view.revision);

    const token = text(first.body["metadata"]?.["continue"]);
    const expired = await api.send("GET", `${MAPS}?limit=1&continue=${token}`);
    const again = text(expired.body["metadata"]?.["continue"]);

    expect(names(await api.send("GET", `${MAPS}?continue=${again}`))).toEqual(["b", "c"]);
  });

  test("shows its revision for five minutes, also where nothing is written meanwhile", async () => {
    await using api = await withMaps("a", "b", "c");
    const first = await api.send("GET", `${MAPS}?limit=1`);
    const members = membersOf(text(first.body["metadata"]?.["continue"]));
    const begun = (age: number): string => token({ ...members, since: Number(members["since"]) - age });

    const rest = await api.send("GET", `${MAPS}?continue=${begun(290_000)}`);
    const expired = await api.send("GET", `${MAPS}?continue=${begun(310_000)}`);
    const again = text(expired.body["metadata"]?.["continue"]);

    expect([rest.code, names(rest)]).toEqual([200, ["b", "c"]]);
    expect([expired.code, expired.body["reason"]]).toEqual([410, "Expired"]);
    expect(names(await api.send("GET", `${MAPS}?continue=${again}`))).toEqual(["b", "c"]);
  });

  test.each([
    ["nonsense", "invalid continue token: continue key is not valid"],
    [
      token({ v: "meta.k8s.io/v2", rv: 3, start: "a" }),
      "invalid continue token: continue key is not valid: server does not recognize this encoded version meta.k8s.io/v2",
    ],
    [
      token({ v: "meta.k8s.io/v1", rv: 0, start: "a" }),
      "invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
    ],
    [
      token({ v: "meta.k8s.io/v1", rv: 3 }),
      "invalid continue token: continue key is not valid: encoded start key empty (version meta.k8s.io/v1)",
    ],
    [
      token({ v: "meta.k8s.io/v1", rv: 3, start: "../../secrets/" }),
      "invalid continue token: continue key is not valid: ../../secrets/",
    ],
    [token({ v: 1 }), "invalid continue token: continue key is not valid"],
  ])("does not go on with the token %s", async (given, message) => {
    await using api = await withMaps("a");

    const { code, body } = await api.send("GET", `${MAPS}?continue=${given}`);

    expect([code, body["reason"], body["message"]]).toEqual([400, "BadRequest", message]);
  });

  test("takes no resourceVersion besides its token", async () => {
    await using api = await withMaps("a", "b");
    const first = await api.send("GET", `${MAPS}?limit=1`);
    const next = text(first.body["metadata"]?.["continue"]);

    const reply = await api.send("GET", `${MAPS}?continue=${next}&resourceVersion=2`);

    expect([reply.code, reply.body["message"]]).toEqual([
      400,
      "specifying resource version is not allowed when using continue",
    ]);
  });
});

function token(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString("base64url");
}

function membersOf(given: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(given, "base64url").toString()) as Record<string, unknown>;
}

describe("options that do not go together are refused", () => {
  const FORBIDDEN_ALONE =
    "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided";
  const NEEDS_NOT_OLDER =
    "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";

  test.each([
    ["resourceVersionMatch=Exact", FORBIDDEN_ALONE],
    ["resourceVersionMatch=NotOlderThan", FORBIDDEN_ALONE],
    [
      "resourceVersion=0&resourceVersionMatch=Exact",
      'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    ],
    [
      "resourceVersion=1&resourceVersionMatch=Newest",
      'resourceVersionMatch: Unsupported value: "Newest": supported values: "Exact", "NotOlderThan", ""',
    ],
    [
      "resourceVersion=1&resourceVersionMatch=Exact&continue=x",
      "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided",
    ],
    ["sendInitialEvents=true", "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"],
    [
      "sendInitialEvents=true&resourceVersionMatch=Exact",
      "[resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided, sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list]",
    ],
    ["watch=1&sendInitialEvents=true", NEEDS_NOT_OLDER],
    ["watch=1&sendInitialEvents=false", NEEDS_NOT_OLDER],
    [
      "watch=1&resourceVersion=1&resourceVersionMatch=NotOlderThan",
      "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
    ],
    [
      "watch=1&continue=x",
      "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided",
    ],
  ])("%s", async (query, message) => {
    await using api = await TestApi.start();

    const { code, body } = await api.send("GET", `${MAPS}?${query}`);

    expect([code, body["reason"]]).toEqual([422, "Invalid"]);
    expect(body["message"]).toBe(`ListOptions.meta.k8s.io "" is invalid: ${message}`);
  });

  test("with everything that is wrong named at once", async () => {
    await using api = await TestApi.start();

    const { code, body } = await api.send(
      "GET",
      `${MAPS}?watch=1&sendInitialEvents=true&resourceVersionMatch=Exact&continue=x`,
    );

    expect(code).toBe(422);
    expect(body["details"]?.["causes"]).toMatchObject([
      { reason: "FieldValueForbidden", field: "resourceVersionMatch" },
      { reason: "FieldValueNotSupported", field: "resourceVersionMatch" },
      { reason: "FieldValueForbidden", field: "resourceVersionMatch" },
    ]);
  });
});

describe("a watch begins", () => {
  test.each([
    ["without resourceVersion", ""],
    ["at 0", "&resourceVersion=0"],
  ])("%s with what exists, then goes on with changes", async (_, query) => {
    await using api = await withMaps("a", "b");

    const watching = firstEvents(api, `${MAPS}?watch=1${query}`, 3);
    const { body } = await api.send("POST", MAPS, configMap("c"));

    expect((await watching).map(brief)).toEqual(["ADDED a 3", "ADDED b 4", `ADDED c ${versionOf(body)}`]);
  });

  test("at an old revision with the very next change", async () => {
    await using api = await withMaps("a");
    const from = versionOf((await api.send("GET", MAPS)).body);
    const changed = await api.send("PATCH", `${MAPS}/a`, { data: { a: "2" } }, { type: MERGE });
    await api.send("DELETE", `${MAPS}/a`);

    const seen = await firstEvents(api, `${MAPS}?watch=1&resourceVersion=${from}`, 2);

    const last = String(api.store.view.revision);
    expect(seen.map(brief)).toEqual([`MODIFIED a ${versionOf(changed.body)}`, `DELETED a ${last}`]);
  });

  test("at a compacted revision with an error, and ends", async () => {
    await using api = await withMaps("a", "b");
    await api.store.compact(api.store.view.revision);

    const response = await api.raw("GET", `${MAPS}?watch=1&resourceVersion=2`);
    const seen: SeenEvent[] = [];
    for await (const event of watchEvents(response)) seen.push(event);

    expect(response.status).toBe(200);
    const message = `too old resource version: 2 (${String(api.store.view.revision)})`;
    expect(seen).toMatchObject([
      { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired", status: "Failure", message } },
    ]);
  });

  test("with initial events that end with an annotated bookmark", async () => {
    await using api = await withMaps("a", "b");
    const options = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    const revision = String(api.store.view.revision);

    const watching = firstEvents(api, `${MAPS}?watch=1&${options}`, 4);
    await api.send("DELETE", `${MAPS}/a`);

    const seen = await watching;
    expect(seen.map(brief).slice(0, 2)).toEqual(["ADDED a 3", "ADDED b 4"]);
    expect(seen[2]).toEqual({
      type: "BOOKMARK",
      object: {
        kind: "ConfigMap",
        apiVersion: "v1",
        metadata: { resourceVersion: revision, annotations: { "k8s.io/initial-events-end": "true" } },
      },
    });
    expect(seen[3]?.type).toBe("DELETED");
  });

  test.each([
    ["", ""],
    [" at 0", "&resourceVersion=0"],
  ])("with such a bookmark where it may come and no revision is named%s", async (_, query) => {
    await using api = await withMaps("a");

    const seen = await firstEvents(api, `${MAPS}?watch=1&allowWatchBookmarks=true${query}`, 2);

    expect(seen[1]).toMatchObject({
      type: "BOOKMARK",
      object: { metadata: { annotations: { "k8s.io/initial-events-end": "true" } } },
    });
  });

  test.each([
    ["", ""],
    [" at 0", "&resourceVersion=0"],
  ])("without initial events when they are not wanted%s", async (_, query) => {
    await using api = await withMaps("a", "b");
    const options = `sendInitialEvents=false&resourceVersionMatch=NotOlderThan${query}`;

    const watching = firstEvents(api, `${MAPS}?watch=1&${options}`, 1);
    await api.send("POST", MAPS, configMap("c"));

    expect((await watching).map(brief)).toEqual([`ADDED c ${String(api.store.view.revision)}`]);
  });

  test.each([
    ["by a field selector", `${MAPS}?watch=1&fieldSelector=metadata.name%3Db`],
    ["by the old path of an object", "/api/v1/watch/namespaces/default/configmaps/b"],
  ])("for one object %s", async (_, target) => {
    await using api = await withMaps("a", "b", "bb");

    const watching = firstEvents(api, target, 2);
    await api.send("PATCH", `${MAPS}/a`, { data: { a: "2" } }, { type: MERGE });
    await api.send("PATCH", `${MAPS}/bb`, { data: { a: "2" } }, { type: MERGE });
    const { body } = await api.send("PATCH", `${MAPS}/b`, { data: { a: "2" } }, { type: MERGE });

    expect((await watching).map(brief)).toEqual(["ADDED b 4", `MODIFIED b ${versionOf(body)}`]);
  });
});

test("a query with watch on the path of an object gets that object", async () => {
  await using api = await withMaps("a", "b");

  const { code, body } = await api.send("GET", `${MAPS}/b?watch=1`);

  expect([code, body["kind"]]).toEqual([200, "ConfigMap"]);
});

describe("a watch on the old path of an object", () => {
  const WATCHED_MAPS = "/api/v1/watch/namespaces/default/configmaps";

  test.each(["metadata.name%3Da", "metadata.namespace%3Ddefault"])(
    "takes no selector of other objects: %s",
    async (selector) => {
      await using api = await withMaps("a", "b");

      const reply = await api.send("GET", `${WATCHED_MAPS}/b?fieldSelector=${selector}`);

      expect([reply.code, reply.body["message"]]).toEqual([
        400,
        "fieldSelector metadata.name doesn't match requested name",
      ]);
    },
  );

  test("takes its own name as a selector", async () => {
    await using api = await withMaps("a", "b");

    const seen = await firstEvents(api, `${WATCHED_MAPS}/b?fieldSelector=metadata.name%3Db`, 1);

    expect(seen.map(brief)).toEqual(["ADDED b 4"]);
  });
});

describe("a watch in time", () => {
  test("ends after timeoutSeconds", async () => {
    await using world = await VirtualApi.start();
    const began = world.loop.now();

    const { end } = await world.watch("&timeoutSeconds=5");

    expect((await world.until(end)) - began).toBe(5000);
  });

  test.each(["-1", "9223372037"])(
    "with timeoutSeconds=%s, which is less than nothing in nanoseconds, ends at once",
    async (seconds) => {
      await using world = await VirtualApi.start();
      const begin = world.loop.now();

      const { end } = await world.watch(`&timeoutSeconds=${seconds}`);

      expect((await world.until(end)) - begin).toBeLessThan(100);
    },
  );

  test("without timeoutSeconds ends between half an hour and an hour, each at its own time", async () => {
    await using world = await VirtualApi.start();
    const began = world.loop.now();

    const watches = [await world.watch(""), await world.watch("")];
    const ends = await world.until(Promise.all(watches.map(({ end }) => end)));

    const minutes = ends.map((end) => (end - began) / 60_000);
    for (const after of minutes) {
      expect(after).toBeGreaterThanOrEqual(30);
      expect(after).toBeLessThanOrEqual(60);
    }
    expect(new Set(minutes).size).toBe(2);
  });

  test("is told every minute how far it is, even while only others change", async () => {
    await using world = await VirtualApi.start();
    const from = `&resourceVersion=${String(world.api.store.view.revision)}`;
    const wanted = await world.watch(`&allowWatchBookmarks=true&timeoutSeconds=100${from}`);
    const unwanted = await world.watch("&timeoutSeconds=100");
    await world.send("POST", "/api/v1/namespaces", { metadata: { name: "other" } });

    await world.loop.advance(61_000);

    const revision = String(world.api.store.view.revision);
    expect(wanted.events).toEqual([
      {
        type: "BOOKMARK",
        object: { kind: "ConfigMap", apiVersion: "v1", metadata: { resourceVersion: revision } },
      },
    ]);
    expect(unwanted.events).toEqual([]);
    await world.until(Promise.all([wanted.end, unwanted.end]));
  });

  test("is told two seconds before its end how far it is, so that it goes on from there", async () => {
    await using world = await VirtualApi.start();
    const from = `&resourceVersion=${String(world.api.store.view.revision)}`;
    const long = await world.watch(`&allowWatchBookmarks=true&timeoutSeconds=10${from}`);
    const short = await world.watch(`&allowWatchBookmarks=true&timeoutSeconds=2${from}`);
    await world.send("POST", "/api/v1/namespaces", { metadata: { name: "other" } });

    await world.loop.advance(7_900);
    expect(long.events).toEqual([]);
    await world.loop.advance(200);

    const revision = String(world.api.store.view.revision);
    expect(long.events).toMatchObject([
      { type: "BOOKMARK", object: { metadata: { resourceVersion: revision } } },
    ]);
    await world.until(Promise.all([long.end, short.end]));
    expect([long.events.length, short.events.length]).toEqual([1, 0]);
  });
});

test("a watch keeps nothing of the state that it began with, once that was told", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  await using world = await VirtualApi.start();
  await world.send("POST", MAPS, configMap("a"));
  const began = new WeakRef(world.api.store.view);

  const watching = await world.watch("");
  for (const name of ["b", "c"]) await world.send("POST", MAPS, configMap(name));
  await world.loop.advance(1000);
  collect();

  expect(watching.events.map(brief)).toEqual(["ADDED a 3", "ADDED b 4", "ADDED c 5"]);
  expect(began.deref()).toBeUndefined();
});

describe("a watch tells", () => {
  test("that a pod is marked before it is gone, also when it goes at once", async () => {
    await using api = await withMaps();
    const pods = "/api/v1/namespaces/default/pods";
    const spec = { containers: [{ name: "c", image: "c" }] };
    const { body } = await api.send("POST", pods, {
      kind: "Pod",
      apiVersion: "v1",
      metadata: { name: "p" },
      spec,
    });

    const reply = await api.send("DELETE", `${pods}/p?gracePeriodSeconds=0`);

    const seen = await firstEvents(api, `${pods}?watch=1&resourceVersion=${versionOf(body)}`, 2);
    expect(seen).toMatchObject([
      { type: "MODIFIED", object: { metadata: { generation: 2, deletionGracePeriodSeconds: 0 } } },
      { type: "DELETED", object: { metadata: { generation: 2, deletionGracePeriodSeconds: 0 } } },
    ]);
    expect(reply.code).toBe(200);
    expect(reply.body).toMatchObject({ kind: "Pod", metadata: { deletionGracePeriodSeconds: 0 } });
  });

  test("what stops to match as deleted, in its last matching state, at the revision of the change", async () => {
    await using api = await withMaps("a");
    const from = String(api.store.view.revision);
    await api.send("PATCH", `${MAPS}/a`, { metadata: { labels: { app: "x" } } }, { type: MERGE });
    const left = String(api.store.view.revision);
    await api.send("PATCH", `${MAPS}/a`, { data: { a: "2" } }, { type: MERGE });
    await api.send("PATCH", `${MAPS}/a`, { metadata: { labels: { app: "a" } } }, { type: MERGE });
    const back = String(api.store.view.revision);
    await api.send("DELETE", `${MAPS}/a`);
    const gone = String(api.store.view.revision);

    const target = `${MAPS}?watch=1&labelSelector=app%3Da&resourceVersion=${from}`;
    const seen = await firstEvents(api, target, 3);

    expect(seen.map(brief)).toEqual([`DELETED a ${left}`, `ADDED a ${back}`, `DELETED a ${gone}`]);
    expect(seen[0]?.object["metadata"]?.["labels"]).toEqual({ app: "a" });
    expect(seen[2]?.object["data"]).toEqual({ a: "2" });
  });

  test("of fields that begin and stop to match", async () => {
    await using api = await TestApi.start();
    const pods = "/api/v1/namespaces/default/pods";
    const spec = { containers: [{ name: "app", image: "web:1" }], nodeName: "node-1" };
    const watching = firstEvents(api, `${pods}?watch=1&fieldSelector=status.phase%3DRunning`, 2);

    await api.send("POST", pods, { metadata: { name: "web" }, spec });
    await api.send("PATCH", `${pods}/web/status`, { status: { phase: "Running" } }, { type: MERGE });
    await api.send("PATCH", `${pods}/web/status`, { status: { phase: "Succeeded" } }, { type: MERGE });

    const seen = await watching;
    expect(seen.map(({ type, object }) => [type, object["status"]?.["phase"]])).toEqual([
      ["ADDED", "Running"],
      ["DELETED", "Running"],
    ]);
  });

  test("of all namespaces, or of one and no other that begins with its name", async () => {
    await using api = await TestApi.start(["a", "ab"]);
    const all = firstEvents(api, "/api/v1/configmaps?watch=1", 2);
    const one = firstEvents(api, "/api/v1/namespaces/a/configmaps?watch=1", 1);

    await api.send("POST", "/api/v1/namespaces/ab/configmaps", configMap("first"));
    await api.send("POST", "/api/v1/namespaces/a/configmaps", configMap("second"));

    expect((await all).map(({ object }) => object["metadata"]?.["name"])).toEqual(["first", "second"]);
    expect((await one).map(({ object }) => object["metadata"]?.["name"])).toEqual(["second"]);
  });
});

describe("a consumer that does not read", () => {
  test("is disconnected without an error, resumes, and delays no other watch", async () => {
    await using api = await withMaps("big");
    const from = versionOf((await api.send("GET", MAPS)).body);
    const target = `${MAPS}?watch=1&resourceVersion=${from}`;
    const slow = watchEvents(await api.raw("GET", target));
    const quick = firstEvents(api, target, 50);
    const filling = "x".repeat(900_000);

    // 40 MB exceed a watcher's buffer of 32 MiB.
    for (let round = 1; round <= 45; round++) {
      const data = { round: String(round), filling };
      await api.send("PATCH", `${MAPS}/big`, { data }, { type: MERGE });
      if (round === 1) expect((await slow.next()).value).toMatchObject({ type: "MODIFIED" });
    }
    for (let round = 46; round <= 50; round++) {
      const data = { round: String(round), filling: "" };
      await api.send("PATCH", `${MAPS}/big`, { data }, { type: MERGE });
    }

    const rest: SeenEvent[] = [];
    for await (const event of slow) rest.push(event);
    expect((await quick).map(roundOf)).toEqual(Array.from({ length: 50 }, (_, n) => n + 1));
    expect(rest.length).toBeLessThan(49);
    expect(rest.every(({ type }) => type === "MODIFIED")).toBe(true);
    const last = rest.length + 1;
    const resumedFrom = String(Number(from) + last);
    const resumed = await firstEvents(api, `${MAPS}?watch=1&resourceVersion=${resumedFrom}`, 50 - last);
    expect(resumed.map(roundOf)).toEqual(Array.from({ length: 50 - last }, (_, n) => last + n + 1));
  });
});

function roundOf({ object }: SeenEvent): number {
  return Number(object["data"]?.["round"]);
}

describe("under concurrent writers", () => {
  /** Folds events into the state they lead to. */
  function folded(events: readonly SeenEvent[]): ReadonlyMap<string, string> {
    const state = new Map<string, string>();
    for (const { type, object } of events) {
      const name = text(object["metadata"]?.["name"]);
      if (type === "DELETED") state.delete(name);
      else state.set(name, versionOf(object));
    }
    return state;
  }

  /** Each writer shares its objects with the others; returns the responses. */
  async function write(api: TestApi, writer: number): Promise<readonly ReplyBody[]> {
    const answered: ReplyBody[] = [];
    for (let round = 0; round < 40; round++) {
      const name = `m${String((writer * 7 + round * 3) % 10)}`;
      const change = { metadata: { labels: { app: round % 2 === 0 ? "even" : "odd" } } };
      const replies = [
        await api.send("POST", MAPS, configMap(name, { by: String(writer) })),
        await api.send("PATCH", `${MAPS}/${name}`, change, { type: MERGE }),
        ...(round % 4 === 3 ? [await api.send("DELETE", `${MAPS}/${name}`)] : []),
      ];
      answered.push(...replies.filter(({ code }) => code < 300).map(({ body }) => body));
    }
    return answered;
  }

  test("a watch tells every change once, in order, and can be taken up anywhere", async () => {
    await using api = await TestApi.start();
    const from = api.store.view.revision;
    const live = firstEventsUntil(api, `${MAPS}?watch=1&resourceVersion=${String(from)}`, "last");
    const even = `${MAPS}?watch=1&labelSelector=app%3Deven&resourceVersion=${String(from)}`;

    const answers = (await Promise.all([1, 2, 3, 4].map((writer) => write(api, writer)))).flat();
    await api.send("POST", MAPS, configMap("last"));
    const events = await live;
    const revisions = events.map(({ object }) => Number(versionOf(object)));
    const middle = revisions[Math.floor(revisions.length / 2)] ?? 0;
    const resumed = firstEventsUntil(api, `${MAPS}?watch=1&resourceVersion=${String(middle)}`, "last");
    const selected = await firstEvents(api, even, selectedOf(events, "even").length);

    expect(events.length).toBeGreaterThan(100);
    expect(revisions).toEqual([...new Set(revisions)].toSorted((a, b) => a - b));
    for (const object of answers.filter(({ kind }) => text(kind) === "ConfigMap")) {
      const told = events.find((event) => versionOf(event.object) === versionOf(object));
      expect(told?.object).toEqual(object);
    }
    const { body } = await api.send("GET", MAPS);
    const items = listOf(body["items"]);
    const listed = items.map((item) => [text(item["metadata"]?.["name"]), versionOf(item)] as const);
    expect(folded(events)).toEqual(new Map(listed));
    expect((await resumed).map(brief)).toEqual(
      events.filter((_, at) => (revisions[at] ?? 0) > middle).map(brief),
    );
    expect(selected.map(brief)).toEqual(selectedOf(events, "even"));
  });

  /** Expected events of a watch with the selector `app=LABEL`, derived from a watch without one. */
  function selectedOf(events: readonly SeenEvent[], label: string): readonly string[] {
    const matching = new Set<string>();
    const told: string[] = [];
    for (const { type, object } of events) {
      const name = text(object["metadata"]?.["name"]);
      const isMatching = type !== "DELETED" && text(object["metadata"]?.["labels"]?.["app"]) === label;
      const was = matching.has(name);
      if (isMatching) matching.add(name);
      else matching.delete(name);
      if (isMatching) told.push(`${was ? "MODIFIED" : "ADDED"} ${name} ${versionOf(object)}`);
      else if (was) told.push(`DELETED ${name} ${versionOf(object)}`);
    }
    return told;
  }
});

describe("a long selector", () => {
  test("selects for each of the watches that share it", async () => {
    await using api = await withMaps("a", "b");
    const selector = encodeURIComponent(`app=b,!x${",!x".repeat(100)}`);
    const target = `${MAPS}?watch=1&resourceVersion=0&labelSelector=${selector}`;

    const [first, second] = await Promise.all([firstEvents(api, target, 1), firstEvents(api, target, 1)]);
    const third = await firstEvents(api, target, 1);

    expect(first.map(brief)).toEqual([expect.stringMatching(/^ADDED b /)]);
    expect(second).toEqual(first);
    expect(third).toEqual(first);
  });
});

/** Events of a watch up to and including the creation of one object. */
async function firstEventsUntil(api: TestApi, target: string, last: string): Promise<readonly SeenEvent[]> {
  const ending = new AbortController();
  const response = await api.raw("GET", target, undefined, { signal: ending.signal });
  const seen: SeenEvent[] = [];
  for await (const event of watchEvents(response)) {
    seen.push(event);
    if (text(event.object["metadata"]?.["name"]) === last) break;
  }
  ending.abort();
  return seen;
}
