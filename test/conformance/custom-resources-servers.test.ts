/** Custom resources on several servers over one store: each follows the store and talks to no other server. */
import { describe, expect, test } from "vitest";
import { silentLog } from "../../src/base/log/log.ts";
import type { Loop } from "../../src/base/loop/loop.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { createMetrics } from "../../src/base/metrics/prom-metrics.ts";
import { admissionForLoops } from "../../src/cluster/loops/needed-loops.ts";
import { makeTokenKeys } from "../../src/server/pki/token-keys.ts";
import { createApiServer } from "../../src/server/server.ts";
import type { ApiServer } from "../../src/server/server.ts";
import { openEtcdStore } from "../../src/store/etcd/etcd-store.ts";
import { openMemoryStore } from "../../src/store/memory-store.ts";
import type { Store } from "../../src/store/store.ts";
import { wholeBody } from "../api-harness.ts";
import { EtcdServer } from "../etcd-server.ts";
import { describePeer } from "../peers.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GADGETS = "/apis/example.com/v1/gadgets";
const GADGET = { apiVersion: "example.com/v1", kind: "Gadget", metadata: { name: "a" } };

const definition = {
  metadata: { name: "gadgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Cluster",
    names: { plural: "gadgets", kind: "Gadget" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: "object", properties: { size: { type: "integer", default: 1 } } },
        },
      },
    ],
  },
};

interface Answered {
  readonly code: number;
  readonly text: string;
}

async function send(server: ApiServer, method: string, target: string, body?: object): Promise<Answered> {
  const bytes = Buffer.from(body === undefined ? "" : JSON.stringify(body));
  const response = await server.handler({
    method,
    target,
    headers: new Map([["content-type", "application/json"]]),
    peer: { user: "admin", groups: ["system:masters"] },
    signal: new AbortController().signal,
    readBody: () => Promise.resolve(bytes),
  });
  return { code: response.status, text: (await wholeBody(response)).toString() };
}

/** Two servers, each with its own store on the same data; only the first keeps definitions. */
class Servers implements AsyncDisposable {
  readonly first: ApiServer;
  readonly second: ApiServer;
  readonly #stores: readonly [Store, Store];
  readonly #ending = new AbortController();
  readonly #running: Promise<void>;

  constructor(stores: readonly [Store, Store], loop: Loop) {
    this.#stores = stores;
    const make = (store: Store): ApiServer =>
      createApiServer(
        { loop: loop.child("server"), log: silentLog, metrics: createMetrics(), store },
        { admission: admissionForLoops("none"), tokenKeys: makeTokenKeys },
      );
    this.first = make(stores[0]);
    this.second = make(stores[1]);
    this.#running = this.first.run(this.#ending.signal);
  }

  static inMemory(): Servers {
    const loop = createRealLoop({ name: "servers" });
    const store = openMemoryStore({ loop: loop.child("store") });
    return new Servers([store, store], loop);
  }

  static async overEtcd(endpoint: string): Promise<Servers> {
    const loop = createRealLoop({ name: "servers" });
    const open = (): Promise<Store> =>
      openEtcdStore({ loop: loop.child("store"), endpoints: [endpoint], compactionIntervalMs: 0 });
    return new Servers([await open(), await open()], loop);
  }

  get store(): Store {
    return this.#stores[0];
  }

  /** Resolves when the first server shows what the test waits for. */
  async until(isDone: (text: string) => boolean): Promise<void> {
    const key = "/registry/apiextensions.k8s.io/customresourcedefinitions/gadgets.example.com";
    const watch = this.store.watch({ prefix: key, after: this.store.view.revision });
    const now = (): string => Buffer.from(this.store.view.get(key)?.value ?? []).toString();
    if (!isDone(now())) for await (const _ of watch) if (isDone(now())) break;
    watch.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#running;
    for (const store of new Set(this.#stores)) await store.close();
  }
}

async function useKind(servers: Servers): Promise<{ created: Answered; seen: Answered; gone: Answered }> {
  const { first, second } = servers;
  await send(first, "POST", DEFINITIONS, definition);
  await servers.until((text) => text.includes('"InitialNamesAccepted"'));
  const created = await send(second, "POST", GADGETS, GADGET);
  const seen = await send(first, "GET", `${GADGETS}/a`);
  await send(second, "DELETE", `${DEFINITIONS}/gadgets.example.com`);
  await servers.until((text) => text === "");
  return { created, seen, gone: await send(first, "GET", GADGETS) };
}

describe("several servers", () => {
  test("serve a kind from the same moment on, and until the same moment", async () => {
    await using servers = Servers.inMemory();

    const { created, seen, gone } = await useKind(servers);

    expect(created).toMatchObject({ code: 201 });
    expect(seen.text).toContain('"size":1');
    expect(gone).toMatchObject({ code: 404 });
  });

  test("all keep definitions without getting in each other's way", async () => {
    await using servers = Servers.inMemory();
    const ending = new AbortController();
    const running = servers.second.run(ending.signal);

    await send(servers.first, "POST", DEFINITIONS, definition);
    await servers.until((text) => text.includes('"InitialNamesAccepted"'));
    const created = await send(servers.second, "POST", GADGETS, GADGET);
    await send(servers.first, "DELETE", `${DEFINITIONS}/gadgets.example.com`);
    await servers.until((text) => text === "");
    ending.abort();
    await running;

    expect(created).toMatchObject({ code: 201 });
    expect(servers.store.view.get("/registry/example.com/gadgets/a")).toBeUndefined();
  });
});

describePeer("etcd", "several servers over one etcd", () => {
  test("serve a kind that another has just shown to be established", async () => {
    await using etcd = await EtcdServer.start();
    await using servers = await Servers.overEtcd(etcd.endpoint);

    const { created, seen, gone } = await useKind(servers);

    expect(created).toMatchObject({ code: 201 });
    expect(seen.text).toContain('"size":1');
    expect(gone).toMatchObject({ code: 404 });
  });
});
