import { expect, test } from "vitest";
import { COMPACT_REV_KEY } from "../../../src/store/etcd/keyspace.ts";
import { codeOf, put, write } from "../../conformance/store/arrange.ts";
import { base64, EtcdServer } from "../../etcd-server.ts";
import { describePeer } from "../../peers.ts";
import { openStore } from "./open-store.ts";

const INTERVAL_MS = 300;

/** Number of writes of the key, and the revision in it. */
async function compactRev(server: EtcdServer): Promise<{ version: number; revision: number }> {
  const { kvs = [] } = (await server.call("/v3/kv/range", { key: base64(COMPACT_REV_KEY) })) as {
    kvs?: { version: string; value: string }[];
  };
  const found = kvs[0];
  if (found === undefined) return { version: 0, revision: 0 };
  return { version: Number(found.version), revision: Number(Buffer.from(found.value, "base64").toString()) };
}

async function isCompacted(server: EtcdServer, revision: number): Promise<boolean> {
  try {
    await server.call("/v3/kv/range", { key: base64("x"), revision: String(revision) });
    return false;
  } catch (error) {
    if (String(error).includes("compacted")) return true;
    throw error;
  }
}

describePeer("etcd", "compaction", () => {
  test("is done by one of the servers in each interval, and both know", async () => {
    await using server = await EtcdServer.start();
    await using one = await openStore(server.endpoint, { compactionIntervalMs: INTERVAL_MS });
    await using two = await openStore(server.endpoint, { compactionIntervalMs: INTERVAL_MS });
    const first = await write(one.store, put("/registry/things/a", "1"));
    const start = one.loop.elapsed();

    await expect.poll(() => isCompacted(server, first)).toBe(true);
    await expect.poll(async () => (await compactRev(server)).version).toBeGreaterThan(3);
    const intervals = (one.loop.elapsed() - start) / INTERVAL_MS;
    const { version } = await compactRev(server);

    expect(version).toBeLessThanOrEqual(Math.ceil(intervals) + 1);
    await using late = await openStore(server.endpoint);
    expect(await codeOf(() => late.store.watch({ prefix: "/registry/things/", after: first - 1 }))).toBe(
      "Compacted",
    );
    await two.store.fresh();
    expect(one.store.view.get(COMPACT_REV_KEY)).toBeUndefined();
    expect(two.store.health().state).toBe("ready");
  });

  test("never gives up what is younger than an interval", async () => {
    await using server = await EtcdServer.start();
    await using opened = await openStore(server.endpoint, { compactionIntervalMs: INTERVAL_MS });
    await expect.poll(async () => (await compactRev(server)).version).toBeGreaterThan(1);

    const { version } = await compactRev(server);
    const revision = await write(opened.store, put("/registry/things/a", "1"));
    await expect.poll(async () => (await compactRev(server)).version).toBe(version + 1);

    expect((await compactRev(server)).revision).toBeLessThan(revision);
  });

  test("goes on under a user who may touch the prefix only", async () => {
    await using server = await EtcdServer.start();
    await server.enableAuth([{ name: "setpoint", password: "swordfish", prefix: "/registry/" }]);
    await using opened = await openStore(server.endpoint, {
      compactionIntervalMs: INTERVAL_MS,
      credentials: { user: "setpoint", password: "swordfish" },
    });
    const { store } = opened;
    const first = await write(store, put("/registry/things/a", "1"));
    await write(store, put("/registry/things/a", "2"));

    await expect
      .poll(
        async () => {
          await using late = await openStore(server.endpoint, {
            credentials: { user: "setpoint", password: "swordfish" },
          });
          return await codeOf(() => late.store.at(first, "/registry/"));
        },
        { timeout: 45_000, interval: INTERVAL_MS },
      )
      .toBe("Compacted");
    expect(store.view.count("/registry/", "/registry0")).toBe(1);
  });
});
