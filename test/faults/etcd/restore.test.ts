/** Backups of other engines restored into etcd. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../../src/base/log/log.ts";
import { createRealLoop } from "../../../src/base/loop/real/real-loop.ts";
import { backUp } from "../../../src/cluster/data-dir/cluster-backup.ts";
import { openEtcd, openStore } from "../../../src/cluster/data-dir/open-store.ts";
import type { EtcdOptions } from "../../../src/cluster/options.ts";
import { writeBackup } from "../../../src/store/file/backup.ts";
import type { Entry } from "../../../src/store/store.ts";
import { codeOf } from "../../conformance/store/arrange.ts";
import { base64, EtcdServer } from "../../etcd-server.ts";
import { describePeer } from "../../peers.ts";

const ROOT = "/registry/things/";
const loop = createRealLoop({ name: "restore" });

function entry(name: string, { chars = 1, endsInMs }: { chars?: number; endsInMs?: number } = {}): Entry {
  return {
    key: `${ROOT}${name}`,
    value: Buffer.from(name.slice(0, 1).repeat(chars)),
    createRevision: 2,
    modRevision: 2,
    version: 1,
    ordinal: 0,
    expiresAt: endsInMs === undefined ? undefined : loop.now() + endsInMs,
    slot: undefined,
  };
}

async function backupOf(entries: readonly Entry[], revision = 2): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-restore-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "backup");
  await writeBackup({ file, loop, clusterId: loop.random("id").uuid(), revision, entries });
  return file;
}

function optionsOf({ endpoint }: EtcdServer): EtcdOptions {
  return {
    endpoints: [endpoint],
    caFile: undefined,
    certFile: undefined,
    keyFile: undefined,
    user: undefined,
    passwordFile: undefined,
  };
}

describePeer("etcd", "a backup that is restored into etcd", () => {
  test("may hold more in a row than etcd takes in one request", async () => {
    const entries = Array.from({ length: 100 }, (_, index) => entry(`a${String(index)}`, { chars: 50_000 }));
    const file = await backupOf([...entries, entry("b", { chars: 1_400_000 })]);
    await using server = await EtcdServer.start();

    const store = await openEtcd(optionsOf(server), { loop, log: silentLog }, file);

    const { view } = store;
    await store.close();
    expect(view.count(ROOT, `${ROOT}~`)).toBe(101);
    expect(view.get(`${ROOT}b`)?.value.length).toBe(1_400_000);
  });

  test("brings along when a key ends, and nothing that has ended", async () => {
    const file = await backupOf([
      entry("ended", { endsInMs: 0 }),
      entry("ends", { endsInMs: 90_000 }),
      entry("stays"),
    ]);
    await using server = await EtcdServer.start();

    const store = await openEtcd(optionsOf(server), { loop, log: silentLog }, file);

    const { view } = store;
    await store.close();
    expect([...view.range(ROOT, `${ROOT}~`)].map(({ key }) => key)).toEqual([`${ROOT}ends`, `${ROOT}stays`]);
    const { leases = [] } = await server.call("/v3/lease/leases", {});
    expect(leases).toHaveLength(1);
    const [{ ID }] = leases as [{ ID: string }];
    const { grantedTTL, keys: attached } = await server.call("/v3/lease/timetolive", { ID, keys: true });
    expect(Number(grantedTTL)).toBeGreaterThanOrEqual(90);
    expect(attached).toEqual([base64(`${ROOT}ends`)]);
  });

  test("gets revisions above its own, and a client with an older one must list again", async () => {
    const file = await backupOf([entry("a"), entry("b")], 1256);
    await using server = await EtcdServer.start();
    const reached: unknown[] = [];
    const log = { ...silentLog, info: (_: string, fields?: object) => reached.push(fields) };

    const store = await openEtcd(optionsOf(server), { loop, log }, file);

    const revisions = [...store.view.range(ROOT, `${ROOT}~`)].map(({ modRevision }) => modRevision);
    const resumed = [200, 1256].map((after) => codeOf(() => store.watch({ prefix: ROOT, after }).next()));
    const codes = await Promise.all(resumed);
    const keys = await server.call("/v3/kv/range", {
      key: base64("/"),
      range_end: base64("0"),
      keys_only: true,
    });
    await store.close();
    expect(Math.min(...revisions)).toBeGreaterThan(1256);
    expect(codes).toEqual(["Compacted", "Compacted"]);
    expect(reached).toEqual([{ revision: expect.any(Number) as number, target: 1256 }]);
    expect(keys["count"]).toBe("2");
  });

  test("is refused with a remedy when its revision is too far above etcd's", async () => {
    const file = await backupOf([entry("a")], 6_000_000);
    await using server = await EtcdServer.start();

    const opening = openEtcd(optionsOf(server), { loop, log: silentLog }, file);

    await expect(opening).rejects.toThrow(/more than 5000000 revisions apart.*--bump-revision 6000000/);
  });

  test("is refused with a remedy by an etcd that holds something already", async () => {
    const file = await backupOf([entry("a")]);
    await using server = await EtcdServer.start();
    await server.call("/v3/kv/put", { key: base64(`${ROOT}mine`), value: base64("1") });

    const opening = openEtcd(optionsOf(server), { loop, log: silentLog }, file);

    await expect(opening).rejects.toThrow(/already holds keys under \/registry\/.*etcdctl del --prefix/);
  });

  test("is restored after an attempt that ended while revisions were raised", async () => {
    const file = await backupOf([entry("a")], 60_000);
    await using server = await EtcdServer.start();
    const ending = new AbortController();
    const log = { ...silentLog, info: () => ending.abort() };

    const first = await codeOf(() => openEtcd(optionsOf(server), { loop, log, signal: ending.signal }, file));
    const store = await openEtcd(optionsOf(server), { loop, log: silentLog }, file);

    const restored = store.view.get(`${ROOT}a`);
    await store.close();
    expect(first).toBe("Closed");
    expect(restored?.modRevision).toBeGreaterThan(60_000);
  });

  test("from an etcd too says when Events end, which etcd does not tell", async () => {
    await using server = await EtcdServer.start();
    for (const key of ["/registry/events/default/e", `${ROOT}a`])
      await server.call("/v3/kv/put", { key: base64(key), value: base64("1") });
    const folder = mkdtempSync(join(tmpdir(), "setpoint-restore-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "backup");
    const store = { type: "etcd", etcd: optionsOf(server) } as const;
    await backUp({ store, dataDir: folder, file }, { loop, log: silentLog });

    const restored = await openStore(
      { store: { type: "memory" }, dataDir: folder, restoreFile: file },
      { loop, log: silentLog },
    );

    const ends = [...restored.view.range("", "~")].map(({ key, expiresAt }) => [
      key,
      expiresAt !== undefined,
    ]);
    await restored.close();
    expect(ends).toEqual([
      ["/registry/events/default/e", true],
      [`${ROOT}a`, false],
    ]);
  });
});
