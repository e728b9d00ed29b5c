/** The cost of a request grows with its answer and not with the store. Costs are counted in objects, never in time. */
import { expect, test } from "vitest";
import type { ApiObject } from "../../src/api/api-object.ts";
import { ConfigMap } from "../../src/api/generated/types/core-v1.ts";
import { silentLog } from "../../src/base/log/log.ts";
import type { Lane, Loop } from "../../src/base/loop/loop.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { createMetrics } from "../../src/base/metrics/prom-metrics.ts";
import { createClient } from "../../src/client/api-client.ts";
import { inProcessTransport } from "../../src/cluster/control-plane/in-process-transport.ts";
import { CacheSet } from "../../src/runtime/cache/cache-set.ts";
import type { DirectEvent } from "../../src/server/request/http.ts";
import { openMemoryStore } from "../../src/store/memory-store.ts";
import type { Store } from "../../src/store/store.ts";
import { listOf, TestApi, watchEvents, wholeBody } from "../api-harness.ts";

/** Changes of one transaction. */
const PIECE = 128;

const CONFIG_MAPS = { resource: "configmaps", object: { kind: "ConfigMap", apiVersion: "v1" } };

/** A store with `count` objects. One in 100 has the label `rare`. */
async function filled(count: number, { resource, object } = CONFIG_MAPS): Promise<Store> {
  const store = openMemoryStore({ loop: createRealLoop({ name: "growth" }).child("store") });
  const changes = Array.from({ length: count }, (_, at) => {
    const name = `c${String(at).padStart(6, "0")}`;
    const labels = { app: `app-${String(at % 10)}`, ...(at % 100 === 0 && { rare: "yes" }) };
    const metadata = { name, namespace: "default", uid: name, labels };
    const value = Buffer.from(JSON.stringify({ ...object, metadata }));
    return { type: "put", key: `/registry/${resource}/default/${name}`, value } as const;
  });
  for (let at = 0; at < count; at += PIECE) await store.write({ changes: changes.slice(at, at + PIECE) });
  return store;
}

/** Objects visited by all lists so far. */
async function visits(api: TestApi): Promise<number> {
  const shown = (await api.send("GET", "/metrics")).bytes.toString();
  const lines =
    shown.match(/^apiserver_cache_list_fetched_objects_total\{.*resource="configmaps".*\} \d+$/gm) ?? [];
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
}

const ADMIN = { user: "kubernetes-admin", groups: ["system:masters"] };
const LIST = "/api/v1/namespaces/default/configmaps";

test.each([1000, 20_000])("with %i objects, a selective list visits its answer", async (count) => {
  await using api = await TestApi.start([], { store: await filled(count) });
  const list = async (query: string): Promise<{ readonly items: number; readonly visited: number }> => {
    const before = await visits(api);
    const { body } = await api.send("GET", `${LIST}?${query}`);
    return { items: listOf(body["items"]).length, visited: (await visits(api)) - before };
  };
  const rare = { items: count / 100, visited: count / 100 };
  expect(await list("labelSelector=rare%3Dyes"), "the first query scans").toMatchObject({ visited: count });
  expect(await list("labelSelector=rare%3Dyes")).toEqual(rare);
  expect(await list("labelSelector=rare%3Dyes,app%3Dapp-0"), "the rarer label is used").toEqual(rare);
  expect(await list("labelSelector=rare%20in%20(yes,no)")).toEqual(rare);
  expect(await list("labelSelector=rare%3Dyes&limit=5")).toEqual({ items: 5, visited: 6 });
  expect(await list("fieldSelector=metadata.name%3Dc000001")).toEqual({ items: 1, visited: 0 });
});

/** Steps of other work in the lane that the loop runs while this work is done. */
async function stepsBeside(
  loop: Loop,
  work: () => Promise<unknown>,
  lane: Lane = "request",
): Promise<number> {
  let steps = 0;
  let isDone = false;
  const step = (): void => {
    steps += 1;
    if (!isDone) loop.post(lane, step);
  };
  loop.post(lane, step);
  await work();
  isDone = true;
  return steps;
}

test.each([
  "labelSelector=last",
  "fieldSelector=metadata.name!%3Dx&labelSelector=last",
  "labelSelector=last!%3Dno,last",
])("other work runs while a list and a watch by %s scan 20,000 objects", async (query) => {
  const loop = createRealLoop({ name: "growth" });
  await using api = await TestApi.start(["default"], { loop, store: await filled(20_000) });
  const last = { metadata: { name: "z", labels: { last: "yes" } } };
  expect((await api.send("POST", LIST, last)).code).toBe(201);
  // The first list of a resource reads its stored values, in slices of its own.
  await api.send("GET", `${LIST}?limit=1`);

  const list = await stepsBeside(loop, () => api.send("GET", `${LIST}?${query}`));
  const response = await api.raw("GET", `${LIST}?watch=1&resourceVersion=0&${query}`);
  const watch = await stepsBeside(loop, () => watchEvents(response).next());

  expect(list).toBeGreaterThan(15);
  expect(watch).toBeGreaterThan(15);
});

/** A loop on which each look at the clock finds that 10 ms have passed: work that may pause does. */
function slowLoop(loop: Loop): Loop {
  let ms = 0;
  const slowed = (actor: Loop): Loop => ({
    get lane() {
      return actor.lane;
    },
    actor: actor.actor,
    now: () => actor.now(),
    elapsed: () => (ms += 10),
    timer: (...timer) => actor.timer(...timer),
    post: (lane, step) => actor.post(lane, step),
    outside: (label, work) => actor.outside(label, work),
    inFlight: (label) => actor.inFlight(label),
    random: (stream) => actor.random(stream),
    child: (name) => slowed(actor.child(name)),
  });
  return slowed(loop);
}

const AUTOSCALER = {
  kind: "HorizontalPodAutoscaler",
  apiVersion: "autoscaling/v2",
  spec: { scaleTargetRef: { kind: "Deployment", name: "web", apiVersion: "apps/v1" }, maxReplicas: 3 },
};
const AUTOSCALERS = { resource: "horizontalpodautoscalers", object: AUTOSCALER };
const SECOND_VERSION = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";
const TABLE = "as=Table;v=v1;g=meta.k8s.io";
const METADATA = "as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
const PROTOBUF = "application/vnd.kubernetes.protobuf";

test.each([
  ["JSON", LIST, "application/json"],
  ["indented JSON", `${LIST}?pretty=true`, "application/json"],
  ["YAML", LIST, "application/yaml"],
  ["protobuf", LIST, PROTOBUF],
  ["a table", LIST, `application/json;${TABLE}`],
  ["a table with whole objects", `${LIST}?includeObject=Object`, `application/json;${TABLE}`],
  ["metadata", LIST, `application/json;${METADATA}`],
  ["metadata in protobuf", LIST, `${PROTOBUF};${METADATA}`],
  ["a second version", SECOND_VERSION, "application/json"],
  ["a second version in protobuf", SECOND_VERSION, PROTOBUF],
])("other work runs while a list of 10,000 objects is sent as %s", async (_, path, accept) => {
  const loop = slowLoop(createRealLoop({ name: "growth" }));
  const store = await filled(10_000, path === SECOND_VERSION ? AUTOSCALERS : CONFIG_MAPS);
  await using api = await TestApi.start([], { loop, store });

  const response = await api.raw("GET", path, undefined, { accept });
  const steps = await stepsBeside(loop, () => wholeBody(response));

  // A piece has 64 KiB or 100 objects.
  expect(response.status).toBe(200);
  expect(steps).toBeGreaterThan(15);
});

test("other work runs while 20,000 objects are deleted at once, and each is visited once", async () => {
  const loop = slowLoop(createRealLoop({ name: "growth" }));
  await using api = await TestApi.start([], { loop, store: await filled(20_000) });
  const before = await visits(api);

  const steps = await stepsBeside(loop, () => api.send("DELETE", LIST));

  expect((await visits(api)) - before).toBe(20_000);
  expect((await api.send("GET", LIST)).body["items"]).toEqual([]);
  // 32 deletions are in flight.
  expect(steps).toBeGreaterThan(20_000 / 32);
});

test("a client that deletes 5,000 objects at once reads at most 500 of them in a step", async () => {
  const loop = createRealLoop({ name: "growth" });
  await using api = await TestApi.start(["default"], { loop, store: await filled(5000) });
  const transport = inProcessTransport({ handler: api.handler, loop, serverLoop: loop, user: ADMIN });
  let steps = 0;
  const readIn = new Map<number, number>();
  const client = createClient(transport, { loop }).with({
    onWrite: () => void readIn.set(steps, (readIn.get(steps) ?? 0) + 1),
  });
  let isDone = false;
  const count = (): void => {
    steps += 1;
    if (!isDone) loop.post("request", count);
  };
  count();

  await client(ConfigMap).deleteCollection({ namespace: "default" });
  isDone = true;

  expect([...readIn.values()].reduce((sum, read) => sum + read)).toBe(5000);
  expect(Math.max(...readIn.values())).toBe(500);
  expect((await api.send("GET", LIST)).body["items"]).toEqual([]);
});

test("500 watches with 50 selectors get their events", async () => {
  await using api = await TestApi.start();
  const opened = Array.from({ length: 500 }, async (_, at) => {
    const { direct } = await api.handler({
      method: "GET",
      target: `${LIST}?watch=1&resourceVersion=0&labelSelector=app%3D${String(at % 50)}`,
      headers: new Map(),
      peer: { user: "admin", groups: ["system:masters"] },
      signal: new AbortController().signal,
      direct: { body: undefined },
      readBody: () => Promise.resolve(Buffer.alloc(0)),
    });
    if (direct?.type !== "events") throw new Error("a watch answers with events");
    return direct.events[Symbol.asyncIterator]();
  });
  const watches = await Promise.all(opened);
  const next = watches.map((watch) => watch.next());

  for (let app = 0; app < 50; app++) {
    const metadata = { name: `c${String(app)}`, labels: { app: String(app) } };
    expect((await api.send("POST", LIST, { metadata })).code).toBe(201);
  }
  const events = (await Promise.all(next)).map(({ value }) => value as readonly DirectEvent[]);
  for (const watch of watches) await watch.return?.();

  expect(events.every((batch) => batch.length === 1)).toBe(true);
  expect(events.flat().map(({ object }) => (object as ApiObject).metadata.name)).toEqual(
    watches.map((_, at) => `c${String(at % 50)}`),
  );
});

test("other work runs while a watch of this process reads 20,000 objects", async () => {
  const loop = createRealLoop({ name: "growth" });
  await using api = await TestApi.start([], { loop, store: await filled(20_000) });
  const { direct } = await api.handler({
    method: "GET",
    target: `${LIST}?watch=1&resourceVersion=0`,
    headers: new Map(),
    peer: { user: "admin", groups: ["system:masters"] },
    signal: new AbortController().signal,
    direct: { body: undefined },
    readBody: () => Promise.resolve(Buffer.alloc(0)),
  });
  if (direct?.type !== "events") throw new Error("a watch answers with events");
  let read = 0;
  const steps = await stepsBeside(loop, async () => {
    for await (const events of direct.events) {
      read += events.length;
      if (read === 20_000) return;
    }
  });
  expect(steps).toBeGreaterThan(150);
});

test("other work runs while a cache takes over 20,000 objects", async () => {
  const loop = createRealLoop({ name: "growth" });
  await using api = await TestApi.start(["default"], { loop, store: await filled(20_000) });
  const transport = inProcessTransport({ handler: api.handler, loop, serverLoop: loop, user: ADMIN });
  const caches = new CacheSet({ transport, loop, log: silentLog, metrics: createMetrics() });
  const cache = caches.use(ConfigMap);
  const ending = new AbortController();
  const running = caches.run(ending.signal);

  const steps = await stepsBeside(loop, () => cache.synced(ending.signal), "loop");
  ending.abort(new Error("the test has ended"));
  await running;

  expect(cache.size).toBe(20_000);
  // A step reads at most 500 objects, or sorts or adds at most 256.
  expect(steps).toBeGreaterThanOrEqual(Math.floor(20_000 / 500) + 2 * Math.floor(20_000 / 256));
});
