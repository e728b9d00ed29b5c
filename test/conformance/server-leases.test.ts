/** Several servers over one etcd discover each other. src/server/upkeep/leases/server-lease.test.ts has the tests on one store in virtual time. */
import { expect, test } from "vitest";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { listAt, ServerFixture } from "../../src/server/upkeep/fixture.ts";
import { openEtcdStore } from "../../src/store/etcd/etcd-store.ts";
import type { Store } from "../../src/store/store.ts";
import { EtcdServer } from "../etcd-server.ts";
import { describePeer } from "../peers.ts";

const WAIT_MS = 15_000;
const SLICE = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";

interface Running {
  readonly server: ServerFixture;
  end(): Promise<void>;
}

async function startServer(endpoint: string, address: string): Promise<Running> {
  const loop = createRealLoop({ name: "test" });
  const store: Store = await openEtcdStore({
    loop: loop.child("store"),
    endpoints: [endpoint],
    compactionIntervalMs: 0,
  });
  const server = await ServerFixture.start({ store, loop, address, isStoreShared: true });
  const ending = new AbortController();
  const running = server.upkeep.run(ending.signal);
  const end = async (): Promise<void> => {
    ending.abort();
    await running;
    await store.close();
  };
  return { server, end };
}

async function told({ server }: Running): Promise<readonly string[]> {
  const { body } = await server.send("GET", SLICE);
  return listAt<{ addresses: string[] }>(body, "endpoints").flatMap(({ addresses }) => addresses);
}

describePeer("etcd", "servers over one real etcd", () => {
  test("are told to clients from their start to their end", { timeout: 2 * WAIT_MS }, async () => {
    await using etcd = await EtcdServer.start();
    const first = await startServer(etcd.endpoint, "10.1.2.3");
    const second = await startServer(etcd.endpoint, "10.1.2.9");

    await expect.poll(() => told(first), { timeout: WAIT_MS }).toEqual(["10.1.2.3", "10.1.2.9"]);
    await expect.poll(() => told(second), { timeout: WAIT_MS }).toEqual(["10.1.2.3", "10.1.2.9"]);
    await second.end();
    await expect.poll(() => told(first), { timeout: WAIT_MS }).toEqual(["10.1.2.3"]);

    await first.end();
  });
});
