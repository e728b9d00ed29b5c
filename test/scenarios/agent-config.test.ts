import { describe, expect, test } from "vitest";
import { ConfigCache } from "../../src/agent/config-cache.ts";
import type { Manifest, ResourceType } from "../../src/api/api-object.ts";
import { ConfigMap, Event, Pod, Secret } from "../../src/api/generated/types/core-v1.ts";
import { RuntimeClass } from "../../src/api/generated/types/node-v1.ts";
import type { Client } from "../../src/client/client.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { nodeLoops } from "../../src/cluster/loops/loops.ts";
import { container, find, openCluster } from "./agent-fixture.ts";

const SETUP = { clock: "virtual", loops: [], nodes: 1 } as const;
const FROM_CONFIG = { name: "MODE", valueFrom: { configMapKeyRef: { name: "settings", key: "mode" } } };

describe.each([1, 2])("a pod on a simulated node, seed %s", (seed) => {
  test("that gets a variable from a missing ConfigMap says so, and runs soon after there is one", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    await create(cluster, "web", { containers: [{ name: "web", image: "web:1", env: [FROM_CONFIG] }] });
    await cluster.clock.advance("25s");
    const { status } = find(cluster, "web");
    const waiting = container(cluster, "web").state;
    const events = warnings(cluster, "web");

    await cluster.client(ConfigMap).create({ metadata: { name: "settings" }, data: {} });
    await cluster.clock.advance("10s");
    const withoutKey = container(cluster, "web").state.waiting?.message;
    const changes = { data: { mode: "fast" } };
    await cluster.client(ConfigMap).patch({ name: "settings" }, { type: "merge", changes });
    await cluster.clock.advance("11s");

    expect(status).toMatchObject({ phase: "Pending", startTime: "2026-01-01T00:00:00Z" });
    expect(waiting).toEqual({
      waiting: { reason: "CreateContainerConfigError", message: 'configmap "settings" not found' },
    });
    expect(events).toEqual(Array(3).fill('Failed: Error: configmap "settings" not found'));
    expect(withoutKey).toBe("couldn't find key mode in ConfigMap default/settings");
    expect(find(cluster, "web").status.phase).toBe("Running");
    expect(container(cluster, "web").restartCount).toBe(0);
  });

  test("that mounts what is missing is held until it is there, with its init containers", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    await create(cluster, "web", {
      initContainers: [{ name: "first", image: "init:1" }],
      containers: [{ name: "web", image: "web:1", volumeMounts: [{ name: "v", mountPath: "/v" }] }],
      volumes: [{ name: "v", secret: { secretName: "keys", items: [{ key: "a", path: "a" }] } }],
    });
    await cluster.clock.advance("3600ms");
    const { status } = find(cluster, "web");
    const events = warnings(cluster, "web");

    await cluster.client(Secret).create({ metadata: { name: "keys" }, data: { a: "YQ==" } });
    await cluster.clock.advance("3s");
    const isHeld = find(cluster, "web").status.podIP === undefined;
    await cluster.clock.advance("3s");

    expect(status).toMatchObject({ phase: "Pending", startTime: "2026-01-01T00:00:00Z" });
    expect(status.podIP).toBeUndefined();
    expect(status.initContainerStatuses?.[0]?.state).toEqual({ waiting: { reason: "PodInitializing" } });
    expect(status.conditions?.find(({ type }) => type === "PodReadyToStartContainers")?.status).toBe("False");
    // At once, and after 0.5 s, 1.5 s and 3.5 s.
    const failure = 'FailedMount: MountVolume.SetUp failed for volume "v" : secret "keys" not found';
    expect(events).toEqual(Array(4).fill(failure));
    expect(isHeld).toBe(true);
    expect(find(cluster, "web").status.phase).toBe("Running");
  });

  test("waits for the certificate of the server where there is one", async () => {
    await using cluster = await openCluster({
      ...SETUP,
      ...{ seed, nodes: 0, loops: ["serviceaccount-controller"] },
    });
    cluster.run(nodeLoops(1));
    await cluster.settle();
    const held = await create(cluster, "web", { containers: [{ name: "web", image: "web:1" }] });
    await cluster.clock.advance("5s");
    const before = find(cluster, "web").status;
    const metadata = { name: "kube-root-ca.crt" };
    await cluster.client(ConfigMap).create({ metadata, data: { "ca.crt": "…" } });
    await cluster.clock.advance("5s");

    const volume = held.spec.volumes?.[0]?.name ?? "";
    expect(before.containerStatuses?.[0]?.state).toEqual({ waiting: { reason: "ContainerCreating" } });
    expect(warnings(cluster, "web")).toContain(
      `FailedMount: MountVolume.SetUp failed for volume "${volume}" : configmap "kube-root-ca.crt" not found`,
    );
    expect(find(cluster, "web").status.phase).toBe("Running");
  });

  test("does not wait for a certificate in a cluster that has none", async () => {
    await using cluster = await openCluster({
      ...SETUP,
      ...{ seed, loops: ["serviceaccount-controller"] },
    });
    await cluster.settle();
    const { spec } = await create(cluster, "web", { containers: [{ name: "web", image: "web:1" }] });
    await cluster.settle();

    expect(spec.volumes).toHaveLength(1);
    expect(find(cluster, "web").status.phase).toBe("Running");
  });

  test("is told of pull secrets that are missing, and runs without them", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    await cluster.client(Secret).create({ metadata: { name: "there" } });
    const imagePullSecrets = [{ name: "one" }, { name: "there" }, { name: "two" }];
    await create(cluster, "web", { imagePullSecrets, containers: [{ name: "web", image: "web:1" }] });
    await cluster.settle();

    expect(warnings(cluster, "web")).toEqual([
      "FailedToRetrieveImagePullSecret: Unable to retrieve some image pull secrets (one, two); attempting to pull the image may not succeed.",
    ]);
    expect(find(cluster, "web").status.phase).toBe("Running");
  });

  test("misses a ConfigMap that was deleted when it starts again", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    await cluster.client(ConfigMap).create({ metadata: { name: "settings" }, data: { mode: "fast" } });
    const task = { name: "web", image: "web:1", command: ["sleep", "5"], env: [FROM_CONFIG] };
    await create(cluster, "web", { containers: [task] });
    await cluster.settle();
    await cluster.client(ConfigMap).delete({ name: "settings" });
    await create(cluster, "next", { containers: [task] });
    await cluster.clock.advance("30s");

    const message = 'configmap "settings" not found';
    const waiting = { reason: "CreateContainerConfigError", message };
    expect(container(cluster, "web").state).toEqual({ waiting });
    expect(container(cluster, "web").lastState.terminated).toMatchObject({ reason: "Completed" });
    expect(container(cluster, "next").state).toEqual({ waiting });
  });

  test("goes on waiting after the agent was replaced by a new one", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    await create(cluster, "env", { containers: [{ name: "web", image: "web:1", env: [FROM_CONFIG] }] });
    await create(cluster, "file", {
      containers: [{ name: "web", image: "web:1", volumeMounts: [{ name: "v", mountPath: "/v" }] }],
      volumes: [{ name: "v", configMap: { name: "settings" } }],
    });
    await cluster.client(RuntimeClass).create({ metadata: { name: "boxed" }, handler: "gvisor" });
    await create(cluster, "box", {
      runtimeClassName: "boxed",
      containers: [{ name: "web", image: "web:1" }],
    });
    await cluster.clock.advance("10s");

    await using next = await cluster.fork();
    await next.clock.advance("10s");
    const reasons = ["env", "file", "box"].map((name) => container(next, name).state.waiting?.reason);
    await next.client(ConfigMap).create({ metadata: { name: "settings" }, data: { mode: "fast" } });
    await next.clock.advance("20s");

    expect(reasons).toEqual(["CreateContainerConfigError", "ContainerCreating", "ContainerCreating"]);
    expect(find(next, "env").status.phase).toBe("Running");
    expect(find(next, "file").status.phase).toBe("Running");
    expect(find(next, "box").status.phase).toBe("Pending");
  });

  test("can be deleted while it waits", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    await create(cluster, "env", { containers: [{ name: "web", image: "web:1", env: [FROM_CONFIG] }] });
    await create(cluster, "file", {
      containers: [{ name: "web", image: "web:1", volumeMounts: [{ name: "v", mountPath: "/v" }] }],
      volumes: [{ name: "v", configMap: { name: "settings" } }],
    });
    await cluster.clock.advance("5s");
    for (const name of ["env", "file"]) await cluster.client(Pod).delete({ name });
    await cluster.settle();

    expect(cluster.objects(Pod, "default")).toEqual([]);
  });
});

describe("what is known of ConfigMaps and Secrets", () => {
  const settings = { kind: "configmap", namespace: "default", name: "settings" } as const;
  const rootCa = { kind: "configmap", namespace: "default", name: "kube-root-ca.crt" } as const;

  test("is read once for all who ask at the same time, and again for who asks later", async () => {
    await using cluster = await openCluster({ ...SETUP, nodes: 0 });
    const { memory, reads, woken, answered } = memoryOf(cluster);
    const ask = (requester: string, since: number): unknown =>
      memory.findConfig(settings, { requester, since, node: "node-1" });
    const since = cluster.clock.now();

    expect(ask("a", since)).toBeUndefined();
    expect(ask("b", since)).toBeUndefined();
    await answered();
    expect(woken).toEqual(["a", "b"]);
    expect(ask("a", since)).toEqual({ type: "missing" });
    expect(ask("c", since + 20)).toEqual({ type: "missing" });
    expect(reads).toHaveLength(1);
    expect(ask("c", since + 21)).toBeUndefined();
    await answered();
    expect(reads).toHaveLength(2);
  });

  test("lasts a minute for the cluster's CA, once it exists", async () => {
    await using cluster = await openCluster({ ...SETUP, nodes: 0 });
    const data = { "ca.crt": "…" };
    await cluster.client(ConfigMap).create({ metadata: { name: rootCa.name }, data });
    const { memory, reads, answered } = memoryOf(cluster);
    const since = cluster.clock.now();
    const ask = (later: number): unknown =>
      memory.findConfig(rootCa, { requester: "a", since: since + later, node: "node-1" });

    ask(0);
    await answered();
    expect(ask(60_000)).toMatchObject({ type: "found", keys: new Set(["ca.crt"]) });
    expect(ask(60_001)).toBeUndefined();
    await answered();
    expect(reads).toHaveLength(2);
  });

  test("skips the cluster's CA if no controller publishes it", async () => {
    await using cluster = await openCluster({ ...SETUP, nodes: 0 });
    const { memory, reads } = memoryOf(cluster, { hasRootCa: false });

    expect(memory.findConfig(rootCa, { requester: "a", since: 0, node: "node-1" })).toMatchObject({
      type: "found",
    });
    expect(reads).toEqual([]);
  });
});

interface WatchedMemory {
  readonly memory: ConfigCache<string>;
  /** Kinds that were read. */
  readonly reads: readonly string[];
  readonly woken: readonly string[];
  /** Resolves once the cache wakes a pod. */
  readonly answered: () => Promise<void>;
}

function memoryOf(cluster: Cluster, { hasRootCa = true } = {}): WatchedMemory {
  const reads: string[] = [];
  const woken: string[] = [];
  let tell: () => void = () => undefined;
  const client = ((type: ResourceType) => {
    reads.push(type.kind);
    return cluster.client(type);
  }) as Client;
  const memory = new ConfigCache<string>({
    now: () => cluster.clock.now(),
    signal: new AbortController().signal,
    clientOf: () => client,
    wake: (requester) => {
      woken.push(requester);
      tell();
    },
    hasRootCa,
  });
  const answered = (): Promise<void> =>
    new Promise((resolve) => {
      tell = resolve;
    });
  return { memory, reads, woken, answered };
}

async function create(cluster: Cluster, name: string, spec: Manifest<Pod>["spec"]): Promise<Pod> {
  return cluster.client(Pod).create({ metadata: { name }, spec: { nodeName: "node-1", ...spec } });
}

function warnings(cluster: Cluster, name: string): readonly string[] {
  return cluster
    .objects(Event, "default")
    .filter(({ type, involvedObject }) => type === "Warning" && involvedObject.name === name)
    .flatMap(({ reason = "", message = "", count = 1 }) =>
      Array<string>(count).fill(`${reason}: ${message}`),
    );
}
