import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once as nextEvent } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { silentLog } from "../base/log/log.ts";
import { createRealLoop } from "../base/loop/real/real-loop.ts";
import { createMetrics } from "../base/metrics/prom-metrics.ts";
import { openFileStore } from "../store/file-store.ts";
import type { Store } from "../store/store.ts";
import type { ClusterEvent } from "./cluster-event.ts";
import { runCluster } from "./cluster.ts";
import { backUp } from "./data-dir/cluster-backup.ts";
import { openStore, storeFolder } from "./data-dir/open-store.ts";
import { claimDataDir } from "./data-dir/run-file.ts";
import type { ClusterOptions } from "./options.ts";

const loop = createRealLoop({ name: "test" });
const surroundings = { loop, log: silentLog };

describe("runCluster", () => {
  test("reports ready, runs until the signal aborts, and reports stopped", async () => {
    const ending = new AbortController();
    const events: ClusterEvent[] = [];
    const dataDir = folder();
    const report = (event: ClusterEvent): void => {
      events.push(event);
      if (event.event === "ready") ending.abort();
    };

    await runCluster(options({ dataDir, store: { type: "file" } }), {
      ...surroundings,
      signal: ending.signal,
      report,
    });

    expect(events).toMatchObject([
      { event: "phase", phase: "store", objects: 0 },
      { event: "phase", phase: "api" },
      { event: "ready", store: "file", dataDir, kubeconfig: join(dataDir, "kubeconfig") },
      { event: "stopped" },
    ]);
  });

  test("closes its store when its keys are unusable", async () => {
    const [dataDir, pkiDir] = [folder(), folder()];
    writeFileSync(join(pkiDir, "ca.crt"), "no certificate");

    const running = once(options({ dataDir, pkiDir, store: { type: "file" } }));

    await expect(running).rejects.toThrow("ca.crt is not a certificate in PEM");
    await (await openFileStore({ dir: storeFolder(dataDir), loop })).close();
  });
});

test("a cluster uses the given metrics, which the loop also uses", async () => {
  const metrics = createMetrics();
  const ending = new AbortController();
  const report = (): void => ending.abort();
  const given = { loop: createRealLoop({ name: "test", metrics }), log: silentLog, metrics };

  await runCluster(options({ dataDir: folder(), store: { type: "memory" } }), {
    ...given,
    signal: ending.signal,
    report,
  });

  const text = await metrics.expose();
  expect(text).toContain("setpoint_loop_long_steps_total");
  expect(text).toContain("apiserver_request_total");
  expect(text).toMatch(/^process_cpu_seconds_total [0-9.]+$/m);
});

describe("a data dir", () => {
  test("is accepted when it contains only the kubeconfig", async () => {
    const dataDir = join(folder(), "new");

    await once(options({ dataDir, store: { type: "memory" }, pkiDir: folder() }));

    expect(readdirSync(dataDir)).toEqual([
      ...["controller-manager.conf", "instance", "kubeconfig", "scheduler.conf"],
    ]);
  });

  const memory = { type: "memory" } as const;

  test.skipIf(process.platform === "win32")(
    "that other users can change is refused, with the remedy",
    async () => {
      const [dataDir, pkiDir] = [folder(), folder()];
      await once(options({ dataDir, store: memory }));

      chmodSync(pkiDir, 0o770);
      await expect(once(options({ dataDir, pkiDir, store: memory }))).rejects.toThrow(
        `run chmod 700 ${pkiDir}`,
      );
      chmodSync(join(dataDir, "pki", "ca.key"), 0o644);
      await expect(once(options({ dataDir, store: memory }))).rejects.toThrow(
        "ca.key holds secrets and is open",
      );
      chmodSync(dataDir, 0o777);
      await expect(once(options({ dataDir, store: memory }))).rejects.toThrow(`run chmod 700 ${dataDir}`);
    },
  );

  test.each(["pki", "store"])("is refused when a link stands in the place of %s", async (name) => {
    const [dataDir, elsewhere] = [folder(), folder()];
    symlinkSync(elsewhere, join(dataDir, name));

    await expect(once(options({ dataDir, store: memory }))).rejects.toThrow(
      `is a link to ${elsewhere}: name`,
    );
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  test("has kubeconfigs for external components, readable by their owner only", async () => {
    const dataDir = folder();
    await once(options({ dataDir, store: { type: "memory" } }));

    for (const name of ["controller-manager", "scheduler"]) {
      const path = join(dataDir, `${name}.conf`);
      const text = readFileSync(path, "utf8");
      const cert = Buffer.from(/client-certificate-data: (\S+)/.exec(text)?.[1] ?? "", "base64");
      expect(new X509Certificate(cert).subject).toBe(`CN=system:kube-${name}`);
      expect(statSync(path).mode & 0o777).toBe(0o600);
    }
  });
});

describe("a backup", () => {
  test("is never read from a pipe, which would block for ever", async () => {
    const file = join(folder(), "pipe");
    execFileSync("mkfifo", [file]);

    const opening = openStore(
      options({ dataDir: folder(), store: { type: "file" }, restoreFile: file }),
      surroundings,
    );

    await expect(opening).rejects.toThrow(`${file} is not a regular file: choose another backup`);
  });

  test("of a running file store starts a new cluster in a file and in memory, at the same revision", async () => {
    const dataDir = folder();
    const store = await openFileStore({ dir: storeFolder(dataDir), loop });
    await put(store, "a", "first");
    await put(store, "a", "second");
    await put(store, "b", "other");
    const file = join(folder(), "snapshot.db");

    const backup = await backUp({ store: { type: "file" }, dataDir, file }, surroundings);
    await put(store, "a", "third");
    const restored = await Promise.all(
      (["file", "memory"] as const).map((type) =>
        openStore(options({ dataDir: folder(), store: { type }, restoreFile: file }), surroundings),
      ),
    );

    expect(backup).toEqual({ file, revision: 4 });
    for (const copy of restored) {
      expect([copy.view.revision, read(copy, "a"), read(copy, "b")]).toEqual([4, "second", "other"]);
      expect((await put(copy, "c", "new")).revision).toBe(5);
      await copy.close();
    }
    await store.close();
  });

  test.each([
    ["memory", "has its state in memory: it cannot be backed up"],
    ["etcd", "has its state in etcd: back it up with --store etcd"],
  ] as const)("of a data dir whose cluster has its state in %s is refused", async (type, why) => {
    const dataDir = folder();
    await (await openFileStore({ dir: storeFolder(dataDir), loop })).close();
    const file = join(folder(), "snapshot.db");
    await claimDataDir(dataDir, { store: type }, loop);

    const backup = backUp({ store: { type: "file" }, dataDir, file }, surroundings);

    await expect(backup).rejects.toThrow(`in ${dataDir} ${why}`);
    expect(existsSync(file)).toBe(false);
  });

  test("is restored only once the port is free, so that a retry works", async () => {
    const source = folder();
    const store = await openFileStore({ dir: storeFolder(source), loop });
    await put(store, "a", "mine");
    await store.close();
    const file = join(folder(), "snapshot.db");
    await backUp({ store: { type: "file" }, dataDir: source, file }, surroundings);
    const taken = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void taken.close());
    await nextEvent(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const given = options({ dataDir: folder(), store: { type: "file" }, restoreFile: file });

    await expect(once({ ...given, listen: { host: "127.0.0.1", port } })).rejects.toThrow("EADDRINUSE");
    await once(given);
  });

  test("is not restored over a store that exists", async () => {
    const dataDir = folder();
    const store = await openFileStore({ dir: storeFolder(dataDir), loop });
    await put(store, "a", "mine");
    await store.close();
    const file = join(folder(), "snapshot.db");
    await backUp({ store: { type: "file" }, dataDir, file }, surroundings);

    const restoring = openStore(
      options({ dataDir, store: { type: "file" }, restoreFile: file }),
      surroundings,
    );

    await expect(restoring).rejects.toThrow(/store/);
  });
});

/** Runs a cluster and stops it as soon as it is ready. */
async function once(given: ClusterOptions): Promise<void> {
  const ending = new AbortController();
  const report = ({ event }: ClusterEvent): void => {
    if (event === "ready") ending.abort();
  };
  await runCluster(given, { ...surroundings, signal: ending.signal, report });
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "setpoint-cluster-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

function options(given: Pick<ClusterOptions, "dataDir" | "store"> & Partial<ClusterOptions>): ClusterOptions {
  return {
    listen: { host: "127.0.0.1", port: 0 },
    restoreFile: undefined,
    kubeconfigFile: undefined,
    pkiDir: join(given.dataDir, "pki"),
    runtimeConfig: {},
    serviceCidrs: ["10.96.0.0/12"],
    nodePorts: { first: 30_000, last: 32_767 },
    loops: "none",
    nodes: 0,
    podCidrs: ["10.128.0.0/9"],
    ...given,
  };
}

function put(store: Store, name: string, value: string): ReturnType<Store["write"]> {
  return store.write({
    changes: [{ type: "put", key: `/registry/configmaps/${name}`, value: Buffer.from(value) }],
  });
}

function read(store: Store, name: string): string | undefined {
  const value = store.view.get(`/registry/configmaps/${name}`)?.value;
  return value === undefined ? undefined : Buffer.from(value).toString();
}
