/** Backups of other engines that become the state of an etcd. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { createRealLoop } from "../../../src/base/real-loop.ts";
import { openEtcd } from "../../../src/cluster/open-store.ts";
import type { EtcdOptions } from "../../../src/cluster/options.ts";
import { writeBackup } from "../../../src/store/file/backup.ts";
import type { Entry } from "../../../src/store/store.ts";
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

async function backupOf(entries: readonly Entry[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-restore-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "backup");
  await writeBackup({ file, loop, clusterId: loop.random("id").uuid(), revision: 2, entries });
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
});
