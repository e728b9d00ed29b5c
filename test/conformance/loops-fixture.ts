/** A control plane with all loops on a virtual clock, over a store with many pods. Counts the objects that the loops visit. */
import type { ApiObject, Manifest } from "../../src/api/api-object.ts";
import { ReplicaSet } from "../../src/api/generated/types/apps-v1.ts";
import { Namespace, Pod, Service, ServiceAccount } from "../../src/api/generated/types/core-v1.ts";
import { PodDisruptionBudget } from "../../src/api/generated/types/policy-v1.ts";
import { silentLog } from "../../src/base/log/log.ts";
import { VirtualLoop } from "../../src/base/loop/virtual/virtual-loop.ts";
import type { Counter, Metrics } from "../../src/base/metrics/metrics.ts";
import { createMetrics } from "../../src/base/metrics/prom-metrics.ts";
import { createClient } from "../../src/client/api-client.ts";
import type { Client } from "../../src/client/client.ts";
import { ControlPlane } from "../../src/cluster/control-plane/control-plane.ts";
import { builtInGroups, nodeLoops, unleased } from "../../src/cluster/loops/loops.ts";
import { makeTokenKeys } from "../../src/server/pki/token-keys.ts";
import { openMemoryStore } from "../../src/store/memory-store.ts";
import type { Store } from "../../src/store/store.ts";

const VISITS = "setpoint_cache_visited_objects_total";
const ADMIN = { user: "kubernetes-admin", groups: ["system:masters"] };
const ADDRESS = { host: "127.0.0.1", port: 6443, machineAddresses: [] };
export const BULK = "bulk";
const PODS_PER_SET = 100;
const PODS_PER_NODE = 100;
/** Changes of one transaction. */
const PIECE = 128;

/** The loops of one run, from a start to a stop. */
export interface RunningPlane {
  readonly client: Client;
  /** Objects that all loops have visited so far. */
  readonly visited: () => number;
  /** The most objects that one step has visited so far. */
  readonly mostInStep: () => number;
  /** Changes of the store so far. */
  readonly revision: () => number;
  /** Runs until nothing is left to do. */
  readonly settle: () => Promise<void>;
  /** Runs until the promise has settled. */
  readonly finish: <T>(promise: Promise<T>) => Promise<T>;
  readonly stop: () => Promise<void>;
}

/** Stored objects and a clock; loops start and stop on them. */
export interface LoopsFixture {
  readonly store: Store;
  readonly start: () => Promise<RunningPlane>;
}

/**
 * A cluster with the ReplicaSet, Service and budget `web` of ten pods, and `pods` running pods of other sets in the
 * namespace `BULK`.
 */
export async function clusterWithPods(pods: number): Promise<LoopsFixture> {
  const loop = new VirtualLoop({ seed: 1 });
  const store = openMemoryStore({ loop: loop.child("store") });
  const start = (): Promise<RunningPlane> => startPlane(loop, store, Math.ceil(pods / PODS_PER_NODE));
  const first = await start();
  await first.settle();
  const { client } = first;
  await first.finish(client(Namespace).create({ metadata: { name: BULK } }));
  await first.finish(createWeb(client));
  await first.settle();
  const [pod] = (await first.finish(client(Pod).list({ namespace: "default" }))).items;
  const set = await first.finish(client(ReplicaSet).get({ namespace: "default", name: "web" }));
  await first.stop();
  if (pod === undefined) throw new Error("the ReplicaSet has no pod");
  await loop.finish(writeAll(store, copiesOf(set, pod, pods)));
  return { store, start };
}

async function createWeb(client: Client): Promise<void> {
  const labels = { app: "web" };
  const metadata = { name: "web", namespace: "default" };
  await client(ServiceAccount).apply({ metadata: { name: "default", namespace: "default" } });
  await client(Service).create({ metadata, spec: { selector: labels, ports: [{ port: 80 }] } });
  await client(PodDisruptionBudget).create({
    metadata,
    spec: { selector: { matchLabels: labels }, minAvailable: 1 },
  });
  const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "nginx:1.25" }] } };
  await client(ReplicaSet).create({
    metadata,
    spec: { replicas: 10, selector: { matchLabels: labels }, template },
  });
}

/** Copies of the pod in sets of their own, as if they had run for a while. */
function* copiesOf(
  set: ReplicaSet,
  pod: Pod,
  count: number,
): Generator<readonly [string, Manifest<ApiObject>]> {
  const nodes = Math.ceil(count / PODS_PER_NODE);
  for (let at = 0; at < count; at++) {
    const app = `bulk-${String(Math.floor(at / PODS_PER_SET))}`;
    const labels = { app };
    if (at % PODS_PER_SET === 0) yield [`/registry/replicasets/${BULK}/${app}`, copyOfSet(set, app)];
    const name = `${app}-${String(at)}`;
    const [owner] = pod.metadata.ownerReferences ?? [];
    const metadata = {
      ...metadataOf(pod, name),
      labels,
      ownerReferences: [{ ...owner, name: app, uid: app }],
    };
    const podIP = `10.${String(200 + (at >> 16))}.${String((at >> 8) & 255)}.${String(at & 255)}`;
    const node = (at % nodes) + 1;
    const hostIP = `172.18.${String((node + 1) >> 8)}.${String((node + 1) & 255)}`;
    const spec = { ...pod.spec, nodeName: `node-${String(node)}` };
    const addresses = { podIP, podIPs: [{ ip: podIP }], hostIP, hostIPs: [{ ip: hostIP }] };
    const status = { ...pod.status, ...addresses };
    yield [`/registry/pods/${BULK}/${name}`, { ...pod, metadata, spec, status } as Manifest<ApiObject>];
  }
}

function copyOfSet(set: ReplicaSet, name: string): Manifest<ApiObject> {
  const labels = { app: name };
  const { template } = set.spec;
  const counts = { replicas: PODS_PER_SET, fullyLabeledReplicas: PODS_PER_SET, terminatingReplicas: 0 };
  return {
    ...set,
    metadata: metadataOf(set, name),
    spec: {
      ...set.spec,
      replicas: PODS_PER_SET,
      selector: { matchLabels: labels },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
    status: { ...set.status, ...counts, readyReplicas: PODS_PER_SET, availableReplicas: PODS_PER_SET },
  } as Manifest<ApiObject>;
}

function metadataOf({ metadata }: ApiObject, name: string): ApiObject["metadata"] {
  const { resourceVersion: _version, managedFields: _fields, ...kept } = metadata;
  return { ...kept, namespace: BULK, name, uid: name };
}

async function writeAll(
  store: Store,
  objects: Iterable<readonly [string, Manifest<ApiObject>]>,
): Promise<void> {
  let changes: { type: "put"; key: string; value: Uint8Array }[] = [];
  for (const [key, object] of objects) {
    changes.push({ type: "put", key, value: Buffer.from(JSON.stringify(object)) });
    if (changes.length < PIECE) continue;
    await store.write({ changes });
    changes = [];
  }
  if (changes.length > 0) await store.write({ changes });
}

async function startPlane(loop: VirtualLoop, store: Store, nodes: number): Promise<RunningPlane> {
  const sources: (() => number)[] = [];
  const metrics = observedMetrics(createMetrics(), sources);
  const ending = new AbortController();
  const plane = new ControlPlane({
    surroundings: { loop, log: silentLog, metrics, store },
    server: { tokenKeys: makeTokenKeys },
    freezes: false,
  });
  await loop.finish(plane.settle(ADDRESS));
  const { controllers, scheduler } = builtInGroups("all");
  const groups = {
    controllers: unleased(controllers),
    scheduler: unleased(scheduler),
    nodes: nodeLoops(nodes, { hasRootCa: false }),
  };
  const running = Promise.all([plane.run(ending.signal), plane.runBuiltIn(groups, ending.signal)]);
  running.catch(() => undefined);
  const own = loop.child("client");
  const client = createClient(plane.transport(ADMIN, own), { loop: own });
  const visited = (): number => sources.reduce((sum, source) => sum + source(), 0);
  let [before, most] = [0, 0];
  const noteStep = (): void => {
    const now = visited();
    most = Math.max(most, now - before);
    before = now;
  };
  const until = (isReached: () => boolean): Promise<void> =>
    loop.until(
      () => {
        noteStep();
        return isReached();
      },
      { limitMs: 600_000, maxSteps: 10_000_000 },
    );
  return {
    client,
    visited,
    mostInStep: () => most,
    revision: () => store.view.revision,
    settle: () => until(() => loop.isQuiet),
    finish: async (promise) => {
      let isSettled = false;
      const settle = (): void => void (isSettled = true);
      promise.then(settle, settle);
      await until(() => isSettled);
      return promise;
    },
    stop: async () => {
      ending.abort(new Error("the test has ended"));
      await loop.finish(running);
    },
  };
}

/** Metrics that also collect the sources of the count of visits. */
function observedMetrics(metrics: Metrics, sources: (() => number)[]): Metrics {
  const observed = (counter: Counter): Counter => ({
    add: (amount, labels) => counter.add(amount, labels),
    bind: (labels) => counter.bind(labels),
    read: (source, labels) => {
      sources.push(source);
      return counter.read(source, labels);
    },
  });
  return {
    counter: (options) =>
      options.name === VISITS ? observed(metrics.counter(options)) : metrics.counter(options),
    gauge: (options) => metrics.gauge(options),
    histogram: (options) => metrics.histogram(options),
    expose: () => metrics.expose(),
  };
}
