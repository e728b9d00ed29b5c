/** Caches on the real server, on a virtual clock. */
import { describe, expect, onTestFinished, test } from "vitest";
import type { ApiObject, ResourceType } from "../../src/api/api-object.ts";
import {
  ConfigMap,
  Namespace,
  Pod,
  Secret,
  Service,
  ServiceAccount,
} from "../../src/api/generated/types/core-v1.ts";
import { silentLog } from "../../src/base/log/log.ts";
import { createMetrics } from "../../src/base/metrics/prom-metrics.ts";
import type {
  Transport,
  TransportEvent,
  TransportRequest,
  TransportStream,
} from "../../src/client/transport.ts";
import { CacheSet } from "../../src/runtime/cache/cache-set.ts";
import { MAPS, WatcherFixture } from "./watcher-fixture.ts";

const NEVER = new AbortController().signal;

/** Forwards and records everything. While it is dead, open streams stay open and deliver nothing. */
class NotedTransport implements Transport {
  readonly sharesValues = true;
  readonly queries: Readonly<Record<string, unknown>>[] = [];
  isDead = false;
  /** Whether it acts like a server without streaming lists. */
  refusesStreams = false;
  /** Called after each page of a list. */
  onPage: () => Promise<void> = () => Promise.resolve();
  readonly #server: Transport;

  constructor(server: Transport) {
    this.#server = server;
  }

  async send(request: TransportRequest) {
    this.queries.push({ ...request.query });
    const response = await this.#server.send(request);
    await this.onPage();
    return response;
  }

  async watch(request: TransportRequest): Promise<TransportStream<readonly TransportEvent[]>> {
    this.queries.push({ ...request.query });
    const isRefused = this.refusesStreams && request.query?.["sendInitialEvents"] === "true";
    if (isRefused) return { code: 422, refusal: undefined, items: this.#passed(nothing()) };
    const stream = await this.#server.watch(request);
    return { ...stream, items: this.#passed(stream.items) };
  }

  read(request: TransportRequest) {
    return this.#server.read(request);
  }

  close() {
    return this.#server.close();
  }

  async *#passed<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
    let isDead = false;
    for await (const item of items) {
      isDead ||= this.isDead;
      if (!isDead) yield item;
    }
  }
}

async function* nothing(): AsyncGenerator<never> {}

async function start() {
  const world = await WatcherFixture.start();
  const { loop } = world;
  const transport = new NotedTransport(world.transport);
  const metrics = createMetrics();
  const caches = new CacheSet({ transport, loop: loop.child("caches"), log: silentLog, metrics });
  const ending = new AbortController();
  const running = caches.run(ending.signal);
  onTestFinished(async () => {
    ending.abort();
    await loop.settle();
    await running;
  });
  const lists = (): number =>
    transport.queries.filter((query) => query["sendInitialEvents"] === "true").length;
  return { world, loop, transport, caches, lists };
}

function names(objects: readonly ApiObject[]): readonly (string | undefined)[] {
  return objects.map(({ metadata }) => metadata.name);
}

async function update(world: WatcherFixture, name: string, app: string): Promise<ConfigMap> {
  const { value } = await world.send("PUT", `${MAPS}/${name}`, {
    metadata: { name, labels: { app } },
    data: {},
  });
  return value as ConfigMap;
}

describe("a cache on the server", () => {
  test("shows a write as soon as it was answered", async () => {
    const { world, loop, caches } = await start();
    const cache = caches.use(ConfigMap);
    await loop.settle();
    await world.makeMap("a");

    const { metadata } = await update(world, "a", "b");
    await world.run(cache.waitFor(metadata.resourceVersion ?? "", NEVER));

    expect(cache.find({ namespace: "default", name: "a" })).toMatchObject({ metadata });
  });

  test("holds metadata only, where it is asked to", async () => {
    const { world, loop, caches } = await start();
    await world.makeMap("a", { large: "x" });
    const cache = caches.use(ConfigMap, { form: "metadata" });
    await loop.settle();
    await world.makeMap("b", { large: "x" });
    await loop.settle();

    expect(names(cache.list())).toEqual(["a", "b"]);
    for (const object of cache.list())
      expect(Object.keys(object).toSorted()).toEqual(["apiVersion", "kind", "metadata"]);
    expect(cache.list()).toMatchObject([
      { kind: "PartialObjectMetadata" },
      { kind: "PartialObjectMetadata" },
    ]);
  });

  test("follows objects into and out of its selectors", async () => {
    const { world, loop, caches } = await start();
    await world.makeMap("a");
    await world.makeMap("b");
    const cache = caches.use(ConfigMap, { labelSelector: "app=b", namespace: "default" });
    const one = caches.use(ConfigMap, { fieldSelector: "metadata.name=a" });
    await loop.settle();

    expect([names(cache.list()), names(one.list())]).toEqual([["b"], ["a"]]);
    await update(world, "a", "b");
    await update(world, "b", "c");
    await loop.settle();

    expect([names(cache.list()), names(one.list())]).toEqual([["a"], ["a"]]);
  });

  test("follows changes for hours without reading the state again", async () => {
    const { world, loop, caches, lists } = await start();
    const cache = caches.use(ConfigMap);
    for (let hour = 0; hour < 3; hour++) {
      await world.makeMap(`map-${hour}`);
      await loop.advance(3_600_000);
    }

    expect(names(cache.list())).toEqual(["map-0", "map-1", "map-2"]);
    expect(lists()).toBe(1);
    expect(caches.health()).toBeUndefined();
  });

  test("finds out within 90 seconds that nothing comes any more, and what it missed", async () => {
    const { world, loop, transport, caches, lists } = await start();
    const cache = caches.use(ConfigMap);
    await loop.settle();
    transport.isDead = true;
    await world.makeMap("a");
    await loop.settle();
    transport.isDead = false;

    expect(cache.size).toBe(0);
    await loop.advance(91_000);

    expect(names(cache.list())).toEqual(["a"]);
    expect(lists()).toBe(1);
  });

  test("reads the state again when the server no longer knows its place, and tells what went", async () => {
    const { world, loop, transport, caches, lists } = await start();
    await world.makeMap("a");
    await world.makeMap("b");
    const cache = caches.use(ConfigMap);
    await loop.settle();
    const told: (string | undefined)[] = [];
    cache.subscribe(({ before, after }) => told.push(after === undefined ? before?.metadata.name : "+"));
    transport.isDead = true;
    await world.send("DELETE", `${MAPS}/a`);
    await world.makeMap("c");
    await world.run(world.store.compact(world.store.view.revision));
    transport.isDead = false;
    await loop.advance(91_000);

    expect(names(cache.list())).toEqual(["b", "c"]);
    expect(told).toEqual(["a", "+"]);
    expect(lists()).toBe(2);
  });

  test("reads the state in pages where it must, and as a whole when history was given up between them", async () => {
    const { world, loop, transport, caches } = await start();
    transport.refusesStreams = true;
    for (let n = 0; n < 1200; n++) await world.makeMap(`map-${n}`);
    const cache = caches.use(ConfigMap);
    await loop.settle();
    const pages = transport.queries.filter((query) => query["limit"] === "500").length;

    let isFirst = true;
    transport.onPage = async () => {
      if (!isFirst) return;
      isFirst = false;
      await world.transport.send({ method: "POST", path: MAPS, body: { metadata: { name: "later" } } });
      await world.store.compact(world.store.view.revision);
    };
    const second = caches.use(ConfigMap, { namespace: "default" });
    await world.loop.settle();
    const [whole] = transport.queries.slice(-2);

    expect([cache.size, pages]).toEqual([1201, 3]);
    expect(second.list()).toEqual(cache.list());
    expect(whole).toEqual({});
  });

  test("waits for a kind that is not served, and lets the world be quiet meanwhile", async () => {
    const { loop, caches } = await start();
    const unknown: ResourceType = {
      apiVersion: "example.com/v1",
      kind: "Thing",
      plural: "things",
      namespaced: true,
    };
    const cache = caches.use(unknown);

    await loop.settle({ limitMs: 600_000 });

    expect(cache.hasSynced).toBe(false);
    await loop.advance(300_000);
    expect(caches.health()).toContain("example.com/v1 Thing.example.com");
  });

  test("fills with others of many kinds", async () => {
    const { loop, caches } = await start();
    const types: readonly ResourceType[] = [ConfigMap, Namespace, Pod, Secret, Service, ServiceAccount];

    const synced = caches.synced(types, NEVER);
    await loop.settle();

    await synced;
    expect(names(caches.use(Namespace).list())).toContain("default");
  });
});
