import { afterAll, beforeAll } from "vitest";
import { openEtcdStore } from "../../src/store/etcd/etcd-store.ts";
import { EtcdServer } from "../etcd-server.ts";
import { describePeer } from "../peers.ts";
import { openStoreFixture, realTime } from "./open-store-fixture.ts";
import type { StoreEngine, StoreFixture } from "./store-fixture.ts";
import { storeModelRun } from "./store-model-run.ts";
import { storeSuite } from "./store-suite.ts";

describePeer("etcd", "with a real etcd server", () => {
  let server: EtcdServer | undefined;
  let stores = 0;

  beforeAll(async () => {
    server = await EtcdServer.start();
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
  });

  /** One etcd server for all tests; each store has its own prefix. */
  const etcd: StoreEngine = {
    name: "etcd",
    ttlUnitMs: 1000,
    waitMs: 20_000,
    slowAfterEvents: 5000,
    loadTransactions: 1000,
    quotaRuns: 3,
    durability: "durable",
    window: "whole",
    sharing: "shared",
    open: () => openEtcdWorld(),
    openWithin: (quotaBytes) => openEtcdWorld(quotaBytes),
  };

  function openEtcdWorld(quotaBytes?: number): Promise<StoreFixture> {
    stores += 1;
    const root = `/registry-${stores}/`;
    const endpoints = [server?.endpoint ?? ""];
    return openStoreFixture({
      time: realTime(),
      waitMs: 20_000,
      root,
      open: (loop) => openEtcdStore({ loop, endpoints, prefix: root, compactionIntervalMs: 0, quotaBytes }),
      clean: async () => undefined,
    });
  }

  storeSuite(etcd);
  storeModelRun(etcd, { runs: 200, limitMs: 5_000, time: "stands" });
});
