import { describe, expect, test } from "vitest";
import { Deployment } from "../api/generated/types/apps-v1.ts";
import { ConfigMap, Node, Pod } from "../api/generated/types/core-v1.ts";
import { VirtualLoop } from "../base/loop/virtual/virtual-loop.ts";
import { createClient } from "./api-client.ts";
import type { Client, WriteResult } from "./client.ts";
import { scripted, settled } from "./fixture.ts";
import type { ScriptedAnswer, ScriptedTransport } from "./fixture.ts";

const META = { name: "a", namespace: "here", uid: "u", resourceVersion: "5", creationTimestamp: "" };
const OBJECT: ConfigMap = { apiVersion: "v1", kind: "ConfigMap", metadata: META };

interface World {
  readonly loop: VirtualLoop;
  readonly transport: ScriptedTransport;
  readonly client: Client;
}

function world(responses: readonly ScriptedAnswer[] = [{ value: OBJECT }]): World {
  const loop = new VirtualLoop({ seed: 1 });
  const transport = scripted(responses);
  return { loop, transport, client: createClient(transport, { loop, userAgent: "test/1" }) };
}

/** The request that `make` sends. */
async function requestOf(make: (client: Client) => Promise<unknown>): Promise<unknown> {
  const { loop, transport, client } = world();
  await settled(loop, make(client));
  const { method, path, query, body, contentType, form } = transport.requests[0] ?? {};
  return JSON.parse(JSON.stringify({ method, path, query, body, contentType, form }));
}

const OBJECT_PATH = "/api/v1/namespaces/here/configmaps/a";

describe("a client's requests", () => {
  test.each<[string, (client: Client) => Promise<unknown>, object]>([
    ["get", (c) => c(ConfigMap).get(OBJECT), { method: "GET", path: OBJECT_PATH, query: {} }],
    [
      "get in the default namespace",
      (c) => c(ConfigMap).get({ name: "b" }),
      { path: "/api/v1/namespaces/default/configmaps/b" },
    ],
    ["get without namespace", (c) => c(Node).get({ name: "n" }), { path: "/api/v1/nodes/n" }],
    [
      "get of metadata",
      (c) => c(Node).get({ name: "n" }, { form: "metadata" }),
      { path: "/api/v1/nodes/n", form: "metadata" },
    ],
    [
      "list everywhere",
      (c) => c(ConfigMap).list({ labelSelector: "a=b", limit: 7, resourceVersion: "0" }),
      { path: "/api/v1/configmaps", query: { labelSelector: "a=b", limit: "7", resourceVersion: "0" } },
    ],
    [
      "list here",
      (c) => c(ConfigMap).list({ namespace: "here" }),
      { path: "/api/v1/namespaces/here/configmaps" },
    ],
    [
      "watch from the start",
      (c) => c(ConfigMap).watch({ allowBookmarks: true, sendInitialEvents: true }),
      {
        path: "/api/v1/configmaps",
        query: {
          watch: "true",
          allowWatchBookmarks: "true",
          sendInitialEvents: "true",
          resourceVersionMatch: "NotOlderThan",
        },
      },
    ],
    [
      "create",
      (c) =>
        c(ConfigMap).create(
          { metadata: { generateName: "x-" } },
          { dryRun: "All", fieldValidation: "Strict" },
        ),
      {
        method: "POST",
        path: "/api/v1/namespaces/default/configmaps",
        query: { dryRun: "All", fieldValidation: "Strict" },
        body: { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "x-" } },
      },
    ],
    ["update", (c) => c(ConfigMap).update(OBJECT), { method: "PUT", path: OBJECT_PATH, body: OBJECT }],
    [
      "update of the status",
      (c) => c(ConfigMap).updateStatus(OBJECT, { ready: true }),
      { method: "PUT", path: `${OBJECT_PATH}/status`, body: { ...OBJECT, status: { ready: true } } },
    ],
    [
      "JSON patch",
      (c) => c(ConfigMap).patch(OBJECT, { type: "json", operations: [{ op: "remove", path: "/data" }] }),
      {
        method: "PATCH",
        path: OBJECT_PATH,
        body: [{ op: "remove", path: "/data" }],
        contentType: "application/json-patch+json",
      },
    ],
    [
      "merge patch of a subresource",
      (c) => c(Pod).patch(META, { type: "merge", changes: { status: null } }, { subresource: "status" }),
      {
        method: "PATCH",
        path: "/api/v1/namespaces/here/pods/a/status",
        body: { status: null },
        contentType: "application/merge-patch+json",
      },
    ],
    [
      "strategic patch",
      (c) => c(Pod).patch(META, { type: "strategic", changes: { spec: {} } }),
      { contentType: "application/strategic-merge-patch+json" },
    ],
    [
      "apply",
      (c) => c(ConfigMap).apply({ metadata: { name: "a", namespace: "here" } }, { force: true }),
      {
        method: "PATCH",
        path: OBJECT_PATH,
        query: { force: "true", fieldManager: "test" },
        body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "here" } },
        contentType: "application/apply-patch+yaml",
      },
    ],
    [
      "delete by name",
      (c) => c(ConfigMap).delete({ name: "a", namespace: "here" }),
      { method: "DELETE", path: OBJECT_PATH },
    ],
    [
      "delete of an object",
      (c) =>
        c(ConfigMap).delete(OBJECT, { propagationPolicy: "Orphan", preconditions: { resourceVersion: "5" } }),
      {
        method: "DELETE",
        body: {
          apiVersion: "v1",
          kind: "DeleteOptions",
          propagationPolicy: "Orphan",
          preconditions: { uid: "u", resourceVersion: "5" },
        },
      },
    ],
    [
      "deletion of many",
      (c) =>
        c(ConfigMap).deleteCollection({ namespace: "here", labelSelector: "a=b", gracePeriodSeconds: 0 }),
      {
        method: "DELETE",
        path: "/api/v1/namespaces/here/configmaps",
        query: { labelSelector: "a=b", limit: "500" },
        body: { kind: "DeleteOptions", gracePeriodSeconds: 0 },
      },
    ],
    [
      "scale",
      (c) => c(Deployment).scale(META, 3),
      {
        method: "PATCH",
        path: "/apis/apps/v1/namespaces/here/deployments/a/scale",
        body: { spec: { replicas: 3 } },
      },
    ],
    [
      "subresource",
      (c) => c(Pod).subresource("eviction").create(META, { kind: "Eviction" }),
      { method: "POST", path: "/api/v1/namespaces/here/pods/a/eviction", body: { kind: "Eviction" } },
    ],
    [
      "logs",
      (c) => c(Pod).logs(META, { container: "main", tailLines: 3, follow: true }),
      {
        method: "GET",
        path: "/api/v1/namespaces/here/pods/a/log",
        query: { container: "main", tailLines: "3", follow: "true" },
      },
    ],
    [
      "anything",
      (c) => c.request({ path: "/version", query: { a: "b" } }),
      { method: "GET", path: "/version", query: { a: "b" } },
    ],
    [
      "apply of a built-in kind without its type",
      (c) => c.apply({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a" } }),
      { method: "PATCH", path: "/apis/apps/v1/namespaces/default/deployments/a" },
    ],
  ])("%s", async (_, make, expected) => {
    expect(await requestOf(make)).toMatchObject(expected);
  });

  test("names in paths are encoded", async () => {
    expect(await requestOf((c) => c(Node).get({ name: "a/b?c" }))).toMatchObject({
      path: "/api/v1/nodes/a%2Fb%3Fc",
    });
  });

  test.each(["", ".", ".."])("an object named %j is rejected before a request is sent", async (name) => {
    const { transport, client } = world();

    await expect(client(ConfigMap).delete({ name })).rejects.toMatchObject({ reason: "BadRequest" });
    await expect(client(ConfigMap).subresource("x").get({ name })).rejects.toMatchObject({
      reason: "BadRequest",
    });
    if (name !== "") {
      const inIt = client(ConfigMap).get({ name: "a", namespace: name });
      await expect(inIt).rejects.toMatchObject({ reason: "BadRequest" });
    }

    expect(transport.requests).toEqual([]);
  });

  test("items of lists get the kind that servers leave out", async () => {
    const value = { metadata: { resourceVersion: "7" }, items: [{ metadata: META, data: { k: "v" } }] };
    const { loop, client } = world([{ value }, { value: { ...value, items: null } }]);

    const [list, empty] = [
      await settled(loop, client(ConfigMap).list()),
      await settled(loop, client(ConfigMap).list()),
    ];

    expect(list.items).toEqual([{ ...OBJECT, data: { k: "v" } }]);
    expect(empty.items).toEqual([]);
  });

  test("find returns undefined only if the object is not found", async () => {
    const absent = { kind: "Status", reason: "NotFound", details: { name: "a", kind: "configmaps" } };
    const { loop, client } = world([{ code: 404, value: absent }, { code: 404 }, { code: 403 }]);

    expect(await settled(loop, client(ConfigMap).find(META))).toBeUndefined();
    await expect(settled(loop, client(ConfigMap).find(META))).rejects.toMatchObject({ reason: "NotFound" });
    await expect(settled(loop, client(ConfigMap).find(META))).rejects.toMatchObject({ reason: "Forbidden" });
  });

  test("onWarning receives the server's warnings", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const heard: string[] = [];
    const transport = scripted([{ value: OBJECT, warnings: ["old", "older"] }]);

    await settled(
      loop,
      createClient(transport, { loop, onWarning: (text) => heard.push(text) })(ConfigMap).get(META),
    );

    expect(heard).toEqual(["old", "older"]);
  });
});

interface Writing {
  readonly what: string;
  readonly write: (client: Client) => Promise<unknown>;
  readonly value: unknown;
  readonly outcome: WriteResult["outcome"];
}

const HELD = marked({ finalizers: ["x"] });
const GRACED = marked({ deletionGracePeriodSeconds: 30 });
const update = (client: Client): Promise<unknown> => client(ConfigMap).update(OBJECT);
const remove = (client: Client): Promise<unknown> => client(ConfigMap).delete(META);
const updateStatus = (client: Client): Promise<unknown> =>
  client(ConfigMap).subresource("status").update(OBJECT, OBJECT);

describe("client.with", () => {
  test("sets the given identity and keeps the rest of the previous one", async () => {
    const { loop, transport, client } = world();
    const mine = client.with({ fieldManager: "me", cause: "first" }).with({ cause: "second" });

    await settled(loop, mine(ConfigMap).update(OBJECT));
    await settled(loop, mine(ConfigMap).update(OBJECT, { fieldManager: "other" }));
    await settled(loop, mine.apply(OBJECT));
    await settled(loop, mine(ConfigMap).get(OBJECT));

    expect(transport.requests.map(({ query }) => query?.["fieldManager"])).toEqual([
      "me",
      "other",
      "me",
      undefined,
    ]);
    // Reads need no cause.
    expect(transport.requests.map(({ cause }) => cause)).toEqual(["second", "second", "second", undefined]);
    expect(transport.requests.map(({ userAgent }) => userAgent)).toEqual(
      Array.from({ length: 4 }, () => "test/1"),
    );
  });

  test("asks for the cause when a write is sent", async () => {
    const { loop, transport, client } = world();
    let pass = 1;
    const mine = client.with({ cause: () => `pass-${String(pass++)}` });

    await settled(loop, mine(ConfigMap).update(OBJECT));
    await settled(loop, mine(ConfigMap).get(OBJECT));
    await settled(loop, mine(ConfigMap).update(OBJECT));

    expect(transport.requests.map(({ cause }) => cause)).toEqual(["pass-1", undefined, "pass-2"]);
  });

  test("aborts calls with any of its signals, including those of its parent clients", async () => {
    const { loop, transport, client } = world();
    const [lead, pass] = [new AbortController(), new AbortController()];
    const inner = client.with({ signal: lead.signal }).with({ signal: pass.signal });

    lead.abort(new Error("the lead is lost"));

    await expect(settled(loop, inner(ConfigMap).get(META))).rejects.toThrow("the lead is lost");
    expect(transport.requests).toEqual([]);
    await settled(loop, client(ConfigMap).get(META));
  });

  test.each<Writing>([
    { what: "a write", write: update, value: OBJECT, outcome: "stored" },
    { what: "a write to a subresource", write: updateStatus, value: OBJECT, outcome: "stored" },
    { what: "an apply of any kind", write: (c) => c.apply(OBJECT), value: OBJECT, outcome: "stored" },
    { what: "the removal of the last finalizer", write: update, value: marked({}), outcome: "deleted" },
    { what: "a write to a marked object", write: update, value: HELD, outcome: "stored" },
    { what: "a deletion that finalizers delay", write: remove, value: HELD, outcome: "marked" },
    { what: "a deletion with a grace period", write: remove, value: GRACED, outcome: "marked" },
    { what: "a deletion whose response is the object", write: remove, value: OBJECT, outcome: "deleted" },
  ])("reports the outcome of $what", async ({ write, value, outcome }) => {
    const { loop, client } = world([{ value }]);
    const written: WriteResult[] = [];

    await settled(loop, write(client.with({ onWrite: (one) => written.push(one) })));

    expect(written).toMatchObject([{ object: value, outcome, type: { kind: "ConfigMap" } }]);
  });

  test("reports the last known state of a deleted object", async () => {
    const value = { kind: "Status", status: "Success", details: { name: "a", uid: "u2" } };
    const { loop, client } = world([{ value }]);
    const written: WriteResult[] = [];
    const mine = client.with({ onWrite: (one) => written.push(one) });

    await settled(loop, mine(ConfigMap).delete(OBJECT));
    await settled(loop, mine(ConfigMap).delete({ name: "a" }));

    expect(written.map(({ object, outcome }) => [object, outcome])).toEqual([
      [OBJECT, "deleted"],
      [
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "default", uid: "u2" } },
        "deleted",
      ],
    ]);
  });

  test("reports each object of a deleted collection", async () => {
    const items = [OBJECT, { ...OBJECT, metadata: { ...META, finalizers: ["x"] } }];
    const { loop, client } = world([{ value: { kind: "ConfigMapList", items } }]);
    const written: WriteResult[] = [];

    await settled(
      loop,
      client
        .with({ onWrite: (one) => written.push(one) })(ConfigMap)
        .deleteCollection(),
    );

    expect(written.map(({ outcome }) => outcome)).toEqual(["deleted", "marked"]);
  });

  test("deletes a collection in pages, and one page for a caller with a limit", async () => {
    const page = { value: { kind: "ConfigMapList", metadata: { continue: "next" }, items: [OBJECT] } };
    const last = { value: { kind: "ConfigMapList", metadata: { continue: "" }, items: [OBJECT] } };
    const all = world([page, page, last]);
    const one = world([page, last]);
    const written: WriteResult[] = [];
    const options = { namespace: "here", labelSelector: "a=b" };

    await settled(
      all.loop,
      all.client
        .with({ onWrite: (result) => written.push(result) })(ConfigMap)
        .deleteCollection(options),
    );
    await settled(one.loop, one.client(ConfigMap).deleteCollection({ ...options, limit: 2 }));

    expect(all.transport.requests.map(({ query }) => query)).toMatchObject([
      { labelSelector: "a=b", limit: "500" },
      { labelSelector: "a=b", limit: "500", continue: "next" },
      { labelSelector: "a=b", limit: "500", continue: "next" },
    ]);
    expect(written).toHaveLength(3);
    expect(one.transport.requests.map(({ query }) => query)).toMatchObject([{ limit: "2" }]);
  });

  test("deletes the rest of a collection when its pages expire", async () => {
    const page = { value: { kind: "ConfigMapList", metadata: { continue: "old" }, items: [OBJECT] } };
    const status = { kind: "Status", code: 410, reason: "Expired", metadata: { continue: "new" } };
    const last = { value: { kind: "ConfigMapList", metadata: {}, items: [OBJECT] } };
    const { loop, client, transport } = world([page, { code: 410, value: status }, last]);

    await settled(
      loop,
      client(ConfigMap).deleteCollection({ namespace: "here", gracePeriodSeconds: 0, resourceVersion: "7" }),
    );

    expect(transport.requests.map(({ query = {} }) => [query["continue"], query["resourceVersion"]])).toEqual(
      [
        [undefined, "7"],
        ["old", undefined],
        ["new", undefined],
      ],
    );
    expect(transport.requests.at(-1)?.body).toMatchObject({ gracePeriodSeconds: 0 });
  });

  test("reports objects that were read, and known objects that are gone", async () => {
    const found = world([{ value: OBJECT }]);
    const status = { kind: "Status", code: 404, reason: "NotFound", details: { name: "a" } };
    const missing = world([{ code: 404, value: status }]);
    const read: WriteResult[] = [];
    const onRead = (one: WriteResult): unknown => read.push(one);

    await settled(found.loop, found.client.with({ onRead })(ConfigMap).get({ name: "a" }));
    await settled(missing.loop, missing.client.with({ onRead })(ConfigMap).find(OBJECT));
    await settled(missing.loop, missing.client.with({ onRead })(ConfigMap).find({ name: "a" }));

    expect(read).toMatchObject([
      { object: OBJECT, outcome: "stored" },
      { object: OBJECT, outcome: "absent" },
    ]);
  });

  test("does not report dry runs", async () => {
    const { loop, client } = world();
    const written: WriteResult[] = [];
    const mine = client.with({ onWrite: (one) => written.push(one) });

    await settled(loop, mine(ConfigMap).update(OBJECT, { dryRun: "All" }));
    await settled(loop, mine(ConfigMap).delete(OBJECT, { dryRun: "All" }));

    expect(written).toEqual([]);
  });
});

describe("client.findType", () => {
  const document = {
    kind: "APIResourceList",
    resources: [
      { name: "backups", kind: "Backup", namespaced: true },
      { name: "backups/status", kind: "Backup", namespaced: true },
      { name: "stores", kind: "Store", namespaced: false },
    ],
  };

  test("requests a group version once, and again for a kind that it lacked", async () => {
    const { loop, transport, client } = world([{ value: { resources: [] } }, { value: document }]);
    const find = (kind: string): Promise<unknown> => settled(loop, client.findType("example.com/v1", kind));

    const found = [await find("Backup"), await find("Backup"), await find("Store"), await find("Backup")];

    expect(found).toEqual([
      undefined,
      { apiVersion: "example.com/v1", kind: "Backup", plural: "backups", namespaced: true },
      { apiVersion: "example.com/v1", kind: "Store", plural: "stores", namespaced: false },
      { apiVersion: "example.com/v1", kind: "Backup", plural: "backups", namespaced: true },
    ]);
    expect(transport.requests.map(({ path }) => path)).toEqual([
      "/apis/example.com/v1",
      "/apis/example.com/v1",
    ]);
  });

  test("returns undefined for an unknown group version, without a request for an invalid one", async () => {
    const { loop, transport, client } = world([{ code: 404 }]);

    expect(await settled(loop, client.findType("none.example.com/v1", "Backup"))).toBeUndefined();
    expect(await settled(loop, client.findType("../../version", "Backup"))).toBeUndefined();

    expect(transport.requests).toHaveLength(1);
  });

  test("serves apply; an unknown kind is NotFound", async () => {
    const { loop, transport, client } = world([{ value: document }, { value: OBJECT }, { code: 404 }]);
    const manifest = { apiVersion: "example.com/v1", kind: "Backup", metadata: { name: "a" } };

    await settled(loop, client.apply(manifest));
    const applying = settled(loop, client.apply({ ...manifest, apiVersion: "other.example.com/v1" }));

    await expect(applying).rejects.toMatchObject({ reason: "NotFound" });
    expect(transport.requests[1]?.path).toBe("/apis/example.com/v1/namespaces/default/backups/a");
  });

  test("requests the group version again after a kind was gone", async () => {
    const { loop, transport, client } = world([{ value: document }, { code: 404 }, { code: 404 }]);
    const manifest = { apiVersion: "example.com/v1", kind: "Backup", metadata: { name: "a" } };

    await expect(settled(loop, client.apply(manifest))).rejects.toMatchObject({ reason: "NotFound" });
    await expect(settled(loop, client.apply(manifest))).rejects.toMatchObject({ reason: "NotFound" });

    expect(transport.requests.map(({ path }) => path)).toEqual([
      "/apis/example.com/v1",
      "/apis/example.com/v1/namespaces/default/backups/a",
      "/apis/example.com/v1",
    ]);
  });
});

function marked(metadata: object): object {
  return { ...OBJECT, metadata: { ...META, deletionTimestamp: "2026-01-01T00:00:00Z", ...metadata } };
}
