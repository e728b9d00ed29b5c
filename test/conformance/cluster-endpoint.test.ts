/** The HTTPS endpoint that a cluster in a program opens on demand, with other clients; and resources left after the cluster has stopped. */
import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as k8s from "@kubernetes/client-node";
import { startCluster } from "setpoint";
import { connect } from "setpoint/client";
import { ConfigMap } from "setpoint/resources";
import { createManager } from "setpoint/runtime";
import { describe, expect, test } from "vitest";
import { Thermostat, thermostats } from "../../examples/thermostat/thermostat.ts";
import { describePeer } from "../peers.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

describe.each(["real", "virtual"] as const)("an endpoint of a cluster on a %s clock", (clock) => {
  test("serves the client that most TypeScript programs use", async () => {
    await using cluster = await startCluster({ clock, loops: "none" });
    const config = new k8s.KubeConfig();
    config.loadFromFile(await cluster.kubeconfig());
    const api = config.makeApiClient(k8s.CoreV1Api);

    const body = { metadata: { name: "x" }, data: { k: "v" } };
    await api.createNamespacedConfigMap({ namespace: "default", body });

    expect(cluster.objects(ConfigMap, "default").map(({ data }) => data)).toEqual([{ k: "v" }]);
  });

  test("serves a controller that runs elsewhere, on the cluster's own time", async () => {
    await using cluster = await startCluster({ clock, loops: "none", kinds: [Thermostat] });
    await using connection = await connect({ file: await cluster.kubeconfig() });
    const { client, transport } = connection;
    const ending = new AbortController();
    const running = createManager({ client, transport, controllers: [thermostats] }).run(ending.signal);

    await client(ConfigMap).create({ metadata: { name: "hall" }, data: { degrees: "10" } });
    await client(Thermostat).create({ metadata: { name: "hall" }, spec: { sensor: "hall" } });
    await cluster.until(() => cluster.objects(Thermostat).some(({ status }) => status?.heating === true));

    ending.abort();
    await running;
  });

  describePeer("kubectl", "with kubectl", (kubectl) => {
    test("creates, waits for and deletes", async () => {
      await using cluster = await startCluster({ clock, loops: "none" });
      const kubeconfig = await cluster.kubeconfig();
      const run = async (...args: readonly string[]): Promise<string> => {
        const { stdout } = await promisify(execFile)(kubectl, ["--kubeconfig", kubeconfig, ...args]);
        return stdout;
      };

      await run("create", "configmap", "x", "--from-literal=k=v");
      expect(await run("get", "configmap", "x", "-o", "jsonpath={.data.k}")).toBe("v");
      const waiting = run("wait", "--for=delete", "configmap/x", "--timeout=20s");
      await cluster.client(ConfigMap).delete({ name: "x" });
      await waiting;

      expect(cluster.objects(ConfigMap, "default")).toEqual([]);
    });
  });

  test("is gone with the cluster, and its files too", async () => {
    const cluster = await startCluster({ clock, loops: "none" });
    const path = await cluster.kubeconfig();
    expect(await cluster.kubeconfig()).toBe(path);
    expect(existsSync(path)).toBe(true);

    await cluster.stop();

    expect(existsSync(path)).toBe(false);
  });
});

/** Ends by itself only if no timer and no socket is left. */
const LIFE = `
  import { startCluster } from "setpoint";
  import { ConfigMap } from "setpoint/resources";
  const clusters = [];
  for (const clock of ["real", "virtual"]) {
    const cluster = await startCluster({ clock });
    clusters.push(cluster, await cluster.fork());
    await Promise.all(Array.from({ length: 50 }, (_, at) =>
      cluster.client(ConfigMap).create({ metadata: { name: "x" + at } })));
    const watches = await Promise.all(Array.from({ length: 50 }, () =>
      cluster.client(ConfigMap).watch({ namespace: "default", resourceVersion: "0" })));
    const firsts = await Promise.all(watches.map((watch) => watch[Symbol.asyncIterator]().next()));
    if (firsts.some(({ done }) => done)) throw new Error("a watch saw nothing");
    await cluster.kubeconfig();
  }
  await startCluster({ clock: "virtual", loops: ["nonsense"] }).then((cluster) => cluster.stop(), () => {});
  for (const cluster of clusters) await cluster.stop();
  await new Promise((resolve) => setImmediate(resolve));
  // Standard output is a pipe here.
  const left = process.getActiveResourcesInfo().filter((type) => type !== "PipeWrap");
  console.log(left.length === 0 ? "nothing left" : left.join());
`;

describe("a stopped cluster", () => {
  test("leaves no timer, no socket and no warning: the process ends by itself", () => {
    const child = spawnSync(process.execPath, ["--input-type=module", "--eval", LIFE], {
      cwd: ROOT,
      encoding: "utf8",
      timeout: 30_000,
    });

    expect({ status: child.status, out: child.stdout, err: child.stderr }).toEqual({
      status: 0,
      out: "nothing left\n",
      err: "",
    });
  });
});
