import { expect, test } from "vitest";
import { put, write } from "../../conformance/store/arrange.ts";
import { base64, EtcdServer } from "../../etcd-server.ts";
import { describePeer } from "../../peers.ts";
import { openStore } from "./open-store.ts";

const ROOT = "/registry/events/";

async function leases(server: EtcdServer): Promise<string[]> {
  const { leases: found = [] } = (await server.call("/v3/lease/leases", {})) as { leases?: { ID: string }[] };
  return found.map(({ ID }) => ID);
}

async function leaseOf(server: EtcdServer, key: string): Promise<string | undefined> {
  const { kvs } = (await server.call("/v3/kv/range", { key: base64(key) })) as { kvs: { lease?: string }[] };
  return kvs[0]?.lease;
}

describePeer("etcd", "leases", () => {
  test("keys of the same time to live share one, up to a thousand", async () => {
    await using server = await EtcdServer.start();
    await using opened = await openStore(server.endpoint);

    for (let first = 0; first < 1001; first += 91) {
      const keys = Array.from({ length: 91 }, (_, index) => `${ROOT}${String(first + index)}`);
      await Promise.all(keys.map((key) => write(opened.store, put(key, "x", { ttlMs: 3_600_000 }))));
    }

    expect(await leases(server)).toHaveLength(2);
  });

  test("another time to live takes another one, no time to live takes none", async () => {
    await using server = await EtcdServer.start();
    await using opened = await openStore(server.endpoint);

    await write(
      opened.store,
      put(`${ROOT}a`, "x", { ttlMs: 60_000 }),
      put(`${ROOT}b`, "x", { ttlMs: 120_000 }),
      put(`${ROOT}c`, "x"),
    );

    const found = await Promise.all(["a", "b", "c"].map((name) => leaseOf(server, `${ROOT}${name}`)));
    expect(new Set(found).size).toBe(3);
    expect(found[2]).toBeUndefined();
  });

  test("one that is gone is replaced, and the write does not fail", async () => {
    await using server = await EtcdServer.start();
    await using opened = await openStore(server.endpoint);
    await write(opened.store, put(`${ROOT}a`, "x", { ttlMs: 60_000 }));
    const [first] = await leases(server);

    await server.call("/v3/kv/lease/revoke", { ID: first });
    await write(opened.store, put(`${ROOT}b`, "x", { ttlMs: 60_000 }));

    expect(opened.store.view.get(`${ROOT}a`)).toBeUndefined();
    expect(opened.store.view.get(`${ROOT}b`)).toBeDefined();
    expect(await leases(server)).not.toContain(first);
  });

  test("a key is there for all of its time, also when its lease was used before", async () => {
    await using server = await EtcdServer.start();
    await using opened = await openStore(server.endpoint);
    const { store, loop } = opened;
    const ends: [string, number][] = [];
    const writeOne = async (name: string): Promise<void> => {
      await write(store, put(`${ROOT}${name}`, "x", { ttlMs: 1_000 }));
      ends.push([name, loop.elapsed() + 1_000]);
    };

    for (const name of ["a", "b", "c"]) await writeOne(name);
    const early: string[] = [];
    await expect
      .poll(
        () => {
          for (const [name, end] of ends) {
            if (loop.elapsed() < end && store.view.get(`${ROOT}${name}`) === undefined) early.push(name);
          }
          return store.view.count(ROOT, `${ROOT}~`);
        },
        { timeout: 45_000, interval: 20 },
      )
      .toBe(0);

    expect(early).toEqual([]);
  });
});
