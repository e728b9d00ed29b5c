import { describe, expect, onTestFinished, test } from "vitest";
import { ConfigMap, Secret } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import { silentLog } from "../../base/log/log.ts";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import { createMetrics } from "../../base/metrics/prom-metrics.ts";
import type { Transport, TransportEvent, TransportRequest, TransportStream } from "../../client/transport.ts";
import { CacheSet } from "./cache-set.ts";

const NEVER = new AbortController().signal;

function configMap(name: string, resourceVersion: string): Record<string, unknown> {
  const metadata = {
    namespace: "default",
    name,
    uid: name,
    resourceVersion,
    managedFields: [{ manager: "x" }],
  };
  return { metadata, data: { kept: "1", other: "2" } };
}

/**
 * Behaves like an older Kubernetes: refuses streaming lists, sends no bookmarks, and omits the kind of list items.
 */
class OlderServer implements Transport {
  readonly sharesValues: boolean;
  readonly requests: TransportRequest[] = [];
  items: readonly unknown[] = [configMap("a", "3")];
  isAway = false;
  readonly #loop: VirtualLoop;
  readonly #watches = new Set<(events: readonly TransportEvent[]) => void>();

  constructor(loop: VirtualLoop, sharesValues = false) {
    this.#loop = loop;
    this.sharesValues = sharesValues;
  }

  async send(request: TransportRequest) {
    this.requests.push(request);
    await this.#step();
    if (this.isAway) throw new Error("away");
    return { code: 200, value: { metadata: { resourceVersion: "5" }, items: this.items }, warnings: [] };
  }

  async watch(request: TransportRequest): Promise<TransportStream<readonly TransportEvent[]>> {
    this.requests.push(request);
    await this.#step();
    if (this.isAway) throw new Error("away");
    const isInitial = request.query?.["sendInitialEvents"] === "true";
    return { code: isInitial ? 422 : 200, refusal: undefined, items: this.#events(request.signal) };
  }

  read(): Promise<never> {
    return Promise.reject(new Error("this server has no logs"));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  tell(...events: readonly TransportEvent[]): void {
    for (const tell of this.#watches) tell(events);
  }

  #step(): Promise<void> {
    return new Promise((resolve) => this.#loop.post("loop", resolve));
  }

  async *#events(signal: AbortSignal | undefined): AsyncGenerator<readonly TransportEvent[]> {
    while (signal?.aborted !== true) {
      const events = await new Promise<readonly TransportEvent[]>((resolve) => {
        this.#watches.add(resolve);
        signal?.addEventListener("abort", () => resolve([]), { once: true });
      });
      if (events.length > 0) yield events;
    }
  }
}

function start({ sharesValues = false } = {}) {
  const loop = new VirtualLoop({ seed: 3 });
  const server = new OlderServer(loop, sharesValues);
  const metrics = createMetrics();
  const caches = new CacheSet({ transport: server, loop: loop.child("caches"), log: silentLog, metrics });
  const ending = new AbortController();
  const stop = async (running: Promise<void>): Promise<void> => {
    ending.abort();
    await loop.settle();
    await running;
  };
  const run = (): Promise<void> => {
    const running = caches.run(ending.signal);
    onTestFinished(() => stop(running));
    return running;
  };
  return { loop, server, metrics, caches, ending, run };
}

describe("a set of caches", () => {
  test("has one cache and one watcher for each kind, form and selector", async () => {
    const { loop, server, caches, run } = start();
    const project = (map: ConfigMap): ConfigMap => map;

    const whole = caches.use(ConfigMap);
    const others = [
      caches.use(ConfigMap, { form: "metadata" }),
      caches.use(ConfigMap, { namespace: "x" }),
      caches.use(ConfigMap, { labelSelector: "a=b" }),
      caches.use(ConfigMap, { project }),
      caches.use(Secret),
    ];
    void run();
    await loop.settle();

    expect(caches.use(ConfigMap)).toBe(whole);
    expect(caches.use(ConfigMap, { project })).toBe(others[3]);
    expect(new Set<unknown>([whole, ...others]).size).toBe(6);
    expect(server.requests.filter(({ query }) => query?.["limit"] !== undefined)).toHaveLength(6);
  });

  test("fills caches that are requested while it runs", async () => {
    const { loop, caches, run } = start();
    void run();

    const cache = caches.use(ConfigMap);
    const synced = caches.synced([ConfigMap], NEVER);
    await loop.settle();

    await synced;
    expect(cache.size).toBe(1);
  });

  test("notifies listeners in the step that delivers a change", async () => {
    const { loop, server, caches, run } = start();
    const cache = caches.use(ConfigMap);
    void run();
    await loop.settle();
    const { steps } = loop.trace;

    server.tell({ type: "ADDED", object: configMap("b", "6") });
    await Promise.resolve();
    await loop.settle();

    expect(cache.resourceVersion).toBe("6");
    expect(loop.trace.steps).toBe(steps);
  });

  test("adds the kind to objects from a network and drops managedFields", async () => {
    const { loop, caches, run } = start();
    const cache = caches.use(ConfigMap);
    void run();
    await loop.settle();

    expect(cache.list()).toMatchObject([{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } }]);
    expect(cache.list()[0]?.metadata).not.toHaveProperty("managedFields");
  });

  test("keeps objects of a server in the same process unchanged", async () => {
    const { loop, server, caches, run } = start({ sharesValues: true });
    const own = { ...configMap("a", "3"), apiVersion: "v1", kind: "ConfigMap" };
    server.items = [own];
    const cache = caches.use(ConfigMap);
    void run();
    await loop.settle();

    expect(cache.list()[0]).toBe(own);
  });

  test("keeps the projected part and the identity of an object", async () => {
    const { loop, caches, run } = start();
    const cache = caches.use(ConfigMap, {
      project: ({ data }) => incomplete<ConfigMap>({ data: { kept: data?.["kept"] ?? "" } }),
    });
    const failing = caches.use(ConfigMap, {
      project: () => {
        throw new Error("projection");
      },
    });
    void run();
    await loop.settle();

    expect(cache.list()).toEqual([
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { namespace: "default", name: "a", uid: "a", resourceVersion: "3" },
        data: { kept: "1" },
      },
    ]);
    expect(failing.list()).toMatchObject([{ data: { kept: "1", other: "2" } }]);
  });

  test("is unhealthy when a watcher has received nothing for three minutes", async () => {
    const { loop, server, caches, run } = start();
    caches.use(ConfigMap);
    void run();
    await loop.settle();

    server.isAway = true;
    await loop.advance(170_000);
    const early = caches.health();
    await loop.advance(100_000);
    const late = caches.health();
    server.isAway = false;
    await loop.advance(60_000);

    expect(early).toBeUndefined();
    expect(late).toMatch(/^the server sent nothing for v1 ConfigMap \(\d+ s\)$/);
    expect(caches.health()).toBeUndefined();
  });

  test("stays healthy while nothing changes and the server sends nothing", async () => {
    const { loop, caches, run } = start();
    caches.use(ConfigMap);
    void run();

    const reasons: (string | undefined)[] = [];
    for (let minute = 0; minute < 20; minute++) {
      await loop.advance(60_000);
      reasons.push(caches.health());
    }

    expect(reasons.every((reason) => reason === undefined)).toBe(true);
  });

  test("publishes objects and silence by kind", async () => {
    const { loop, metrics, caches, run } = start();
    caches.use(ConfigMap);
    caches.use(ConfigMap, { form: "metadata" });
    void run();
    await loop.advance(30_000);

    const exposed = await metrics.expose();

    expect(exposed).toContain('setpoint_cache_objects{kind="ConfigMap"} 2');
    expect(exposed).toContain('setpoint_watcher_silence_seconds{kind="ConfigMap"} 30');
    expect(exposed).toContain('setpoint_watcher_states_total{kind="ConfigMap",state="watching"} 2');
  });

  test("holds an existing cache, else one of metadata until its release", async () => {
    const { loop, server, metrics, caches, run } = start();
    const whole = caches.use(ConfigMap);
    void run();
    const shared = caches.hold(ConfigMap);
    const [first, second] = [caches.hold(Secret), caches.hold(Secret)];
    await loop.settle();

    expect(shared.cache).toBe(whole);
    expect(first.cache).toBe(second.cache);
    expect(server.requests.some(({ form, path }) => form === "metadata" && path.endsWith("/secrets"))).toBe(
      true,
    );

    shared.release();
    first.release();
    server.tell({ type: "ADDED", object: configMap("b", "6") });
    await loop.settle();
    expect([whole.size, second.cache.size]).toEqual([2, 2]);

    second.release();
    server.tell({ type: "ADDED", object: configMap("c", "7") });
    await loop.settle();
    expect([whole.size, second.cache.size]).toEqual([3, 2]);
    expect(await metrics.expose()).not.toContain('setpoint_cache_objects{kind="Secret"}');
    expect(caches.hold(Secret).cache).not.toBe(second.cache);
  });

  test("stops all watchers when it ends, and can run again", async () => {
    const { loop, caches, ending } = start();
    const cache = caches.use(ConfigMap);
    const running = caches.run(ending.signal);
    await loop.settle();

    ending.abort();
    await loop.settle();
    await running;
    const quiet = loop.trace.steps;
    await loop.advance(3_600_000);
    expect(loop.trace.steps).toBe(quiet);

    const again = new AbortController();
    const second = caches.run(again.signal);
    await loop.settle();
    again.abort();
    await loop.settle();
    await second;
    expect(cache.size).toBe(1);
  });
});
