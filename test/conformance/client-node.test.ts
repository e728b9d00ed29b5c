/** The client that most TypeScript programs use, over HTTPS, with the kubeconfig of `setpoint up`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as k8s from "@kubernetes/client-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../src/base/log/log.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import type { ClusterEvent } from "../../src/cluster/cluster-event.ts";
import { runCluster } from "../../src/cluster/cluster.ts";

const TIMEOUT_MS = 60_000;
const namespace = "default";

interface RunningCluster {
  readonly server: string;
  readonly kubeconfig: string;
  end(): Promise<void>;
}

/** A server with a file store in `dataDir`; port 0 means any. Stops at the end of the test at the latest. */
async function started(dataDir: string, port: number): Promise<RunningCluster> {
  const ending = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const ready = new Promise<Extract<ClusterEvent, { event: "ready" }>>((resolve, reject) => {
    const report = (event: ClusterEvent): void => {
      if (event.event === "ready") resolve(event);
    };
    const loop = createRealLoop({ name: "test" });
    running = runCluster(
      {
        dataDir,
        store: { type: "file" },
        listen: { host: "127.0.0.1", port },
        restoreFile: undefined,
        kubeconfigFile: undefined,
        pkiDir: join(dataDir, "pki"),
        runtimeConfig: {},
        serviceCidrs: ["10.96.0.0/12"],
        nodePorts: { first: 30_000, last: 32_767 },
        loops: "none",
        nodes: 0,
        podCidrs: [],
      },
      { loop, log: silentLog, signal: ending.signal, report },
    );
    running.catch(reject);
  });
  const end = async (): Promise<void> => {
    ending.abort();
    await running;
  };
  onTestFinished(end);
  const { server, kubeconfig } = await ready;
  return { server, kubeconfig, end };
}

function dataDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "setpoint-client-node-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

function configOf({ kubeconfig }: RunningCluster): k8s.KubeConfig {
  const config = new k8s.KubeConfig();
  config.loadFromFile(kubeconfig);
  return config;
}

/** A periodic task of the server creates the namespace some time after the server is ready. */
async function withNamespace(core: k8s.CoreV1Api): Promise<void> {
  await core.createNamespace({ body: { metadata: { name: namespace } } }).catch((error: unknown) => {
    if (!(error instanceof k8s.ApiException) || error.code !== 409) throw error;
  });
}

function configMap(name: string, data: Record<string, string>): k8s.V1ConfigMap {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data };
}

describe("@kubernetes/client-node", () => {
  test(
    "creates, lists, patches and applies",
    async () => {
      const cluster = await started(dataDir(), 0);
      const config = configOf(cluster);
      const core = config.makeApiClient(k8s.CoreV1Api);
      const objects = k8s.KubernetesObjectApi.makeApiClient(config);
      await withNamespace(core);

      await core.createNamespacedConfigMap({ namespace, body: configMap("a", { k: "1" }) });
      const patched = await core.patchNamespacedConfigMap(
        { name: "a", namespace, body: { data: { k: "2" } } },
        k8s.setHeaderOptions("Content-Type", k8s.PatchStrategy.StrategicMergePatch),
      );
      const applied = await objects.patch(
        configMap("b", { x: "1" }),
        undefined,
        undefined,
        "me",
        true,
        k8s.PatchStrategy.ServerSideApply,
      );
      const list = await core.listNamespacedConfigMap({ namespace });
      const read = await objects.read(configMap("b", {}) as k8s.V1ConfigMap & { metadata: { name: string } });

      expect(patched.data).toEqual({ k: "2" });
      expect(applied.metadata?.managedFields).toMatchObject([{ manager: "me", operation: "Apply" }]);
      expect(list.items.map((item) => [item.metadata?.name, item.data])).toEqual([
        ["a", { k: "2" }],
        ["b", { x: "1" }],
      ]);
      expect((read as k8s.V1ConfigMap).data).toEqual({ x: "1" });
    },
    TIMEOUT_MS,
  );

  test(
    "is told errors as it expects them",
    async () => {
      const cluster = await started(dataDir(), 0);
      const core = configOf(cluster).makeApiClient(k8s.CoreV1Api);

      const failure: unknown = await core.readNode({ name: "none" }).catch((error: unknown) => error);

      expect(failure).toBeInstanceOf(k8s.ApiException);
      expect(failure).toMatchObject({ code: 404 });
    },
    TIMEOUT_MS,
  );

  test(
    "keeps its informer's cache true across a restart of the server",
    async () => {
      const dir = dataDir();
      const first = await started(dir, 0);
      const config = configOf(first);
      const core = config.makeApiClient(k8s.CoreV1Api);
      await withNamespace(core);
      await core.createNamespacedConfigMap({ namespace, body: configMap("before", { n: "1" }) });
      await core.createNamespacedConfigMap({ namespace, body: configMap("meanwhile", { n: "1" }) });
      const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () =>
        core.listNamespacedConfigMap({ namespace }),
      );
      const watched = new WatchedCache(informer);
      await informer.start();
      await watched.until(() => watched.names().join() === "before,meanwhile");

      const lost = watched.failure();
      await first.end();
      await lost;
      const second = await started(dir, Number(new URL(first.server).port));
      await core.createNamespacedConfigMap({ namespace, body: configMap("after", { n: "1" }) });
      await core.deleteNamespacedConfigMap({ name: "meanwhile", namespace });
      await informer.start();
      await watched.until(() => watched.names().join() === "after,before");
      await core.patchNamespacedConfigMap(
        { name: "before", namespace, body: { data: { n: "2" } } },
        k8s.setHeaderOptions("Content-Type", k8s.PatchStrategy.MergePatch),
      );
      await watched.until(() => informer.get("before", namespace)?.data?.["n"] === "2");

      expect(second.server).toBe(first.server);
      expect(watched.names()).toEqual(["after", "before"]);
      await informer.stop();
    },
    TIMEOUT_MS,
  );
});

/** An informer whose changes can be awaited; the test's own timeout is the bound. */
class WatchedCache {
  readonly #informer: k8s.Informer<k8s.V1ConfigMap> & k8s.ObjectCache<k8s.V1ConfigMap>;
  readonly #waiting = new Set<() => void>();

  constructor(informer: k8s.Informer<k8s.V1ConfigMap> & k8s.ObjectCache<k8s.V1ConfigMap>) {
    this.#informer = informer;
    for (const event of ["add", "update", "delete"] as const) informer.on(event, () => this.#look());
  }

  names(): readonly string[] {
    return this.#informer
      .list(namespace)
      .map(({ metadata }) => metadata?.name ?? "")
      .filter((name) => name !== "kube-root-ca.crt")
      .toSorted();
  }

  until(isReached: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!isReached()) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** The informer gives up when the server does not answer; its user restarts it. */
  failure(): Promise<void> {
    return new Promise((resolve) => {
      this.#informer.on("error", () => resolve());
    });
  }

  #look(): void {
    for (const look of [...this.#waiting]) look();
  }
}
