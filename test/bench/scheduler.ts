/** Pods per second that the scheduler places on 1,000 nodes when bindings are answered at once. */
import { performance } from "node:perf_hooks";
import type { ApiObject } from "../../src/api/api-object.ts";
import { ReplicaSet } from "../../src/api/generated/types/apps-v1.ts";
import { Node, Pod } from "../../src/api/generated/types/core-v1.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { schedulerRoutine } from "../../src/scheduler/scheduler.ts";
import { percentile, perSecond, verdict, whole } from "./row.ts";
import type { Bench, Row } from "./row.ts";
import { PlainCluster } from "./scheduler-parts.ts";

const NODES = 1000;
const ZONES = 10;
const APPS = 10;
const PODS = 5000;
const ROUNDS = 3;
const PLAIN_AIM = 1000;
const CONSTRAINED_AIM = 300;

type Spec = (labels: Readonly<Record<string, string>>) => object;

/** Pods as a Deployment creates them: spread over hosts and zones by preference. */
const plain: Spec = () => ({});

/** At most one pod of an app on a host; zones differ by at most one. */
const constrained: Spec = (labels) => {
  const labelSelector = { matchLabels: labels };
  return {
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "topology.kubernetes.io/zone",
        whenUnsatisfiable: "DoNotSchedule",
        labelSelector,
      },
    ],
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: "kubernetes.io/hostname", labelSelector },
        ],
      },
    },
  };
};

export const scheduler: Bench = {
  name: "scheduler",
  async run(context) {
    const measure = async (name: string, spec: Spec): Promise<number> => {
      const rates: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        context.progress(`scheduler ${name} round ${String(round + 1)} of ${String(ROUNDS)}`);
        rates.push(await schedulingRate(spec));
      }
      return percentile(rates, 0.5);
    };
    return [
      row("plain pods", await measure("plain", plain), PLAIN_AIM),
      row("pods with spread and anti-affinity", await measure("constrained", constrained), CONSTRAINED_AIM),
    ];
  },
};

function row(what: string, rate: number, aim: number): Row {
  return {
    what: `scheduling decisions, ${whole(NODES)} nodes, ${whole(PODS)} ${what}`,
    value: `${whole(rate)}/s`,
    yardstick: "–",
    figure: `${whole(rate)}/s`,
    aim: `≥ ${whole(aim)}/s`,
    verdict: verdict(rate >= aim),
  };
}

async function schedulingRate(spec: Spec): Promise<number> {
  const loop = createRealLoop({ name: "bench", seed: 1 });
  const cluster = new PlainCluster(loop.child("scheduler"));
  for (let n = 0; n < NODES; n++) cluster.put(Node, benchNode(n));
  for (let app = 0; app < APPS; app++) cluster.put(ReplicaSet, benchReplicaSet(app));
  const ending = new AbortController();
  const running = schedulerRoutine().run(cluster.parts, ending.signal);
  let left = PODS;
  const done = new Promise<void>((resolve) => {
    cluster.onBound = () => {
      left--;
      if (left === 0) resolve();
    };
  });
  const start = performance.now();
  for (let n = 0; n < PODS; n++) cluster.put(Pod, benchPod(n, spec));
  await done;
  const ms = performance.now() - start;
  ending.abort();
  await running;
  return perSecond(PODS, ms);
}

function meta(name: string, labels: Readonly<Record<string, string>>): object {
  return {
    name,
    namespace: "default",
    uid: name,
    resourceVersion: "1",
    generation: 1,
    labels,
    creationTimestamp: "2026-01-01T00:00:00Z",
  };
}

function labelsOf(app: number): Readonly<Record<string, string>> {
  return { app: `app-${String(app)}` };
}

function benchNode(n: number): ApiObject {
  const name = `node-${String(n)}`;
  const labels = {
    "kubernetes.io/hostname": name,
    "kubernetes.io/os": "linux",
    "topology.kubernetes.io/zone": `zone-${String(n % ZONES)}`,
  };
  const allocatable = { cpu: "32", memory: "128Gi", pods: "110", "ephemeral-storage": "100Gi" };
  const { namespace: _, ...metadata } = meta(name, labels) as {
    readonly namespace: string;
    readonly name: string;
  };
  return { apiVersion: "v1", kind: "Node", metadata, spec: {}, status: { allocatable } } as ApiObject;
}

function benchReplicaSet(app: number): ApiObject {
  const metadata = meta(`rs-${String(app)}`, {});
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata,
    spec: { selector: { matchLabels: labelsOf(app) } },
  } as ApiObject;
}

const TOLERATIONS = ["not-ready", "unreachable"].map((key) => ({
  key: `node.kubernetes.io/${key}`,
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds: 300,
}));

function benchPod(n: number, spec: Spec): ApiObject {
  const app = n % APPS;
  const labels = labelsOf(app);
  const owner = {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    name: `rs-${String(app)}`,
    uid: `rs-${String(app)}`,
    controller: true,
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...meta(`pod-${String(n)}`, labels), ownerReferences: [owner] },
    spec: {
      schedulerName: "default-scheduler",
      containers: [
        { name: "main", image: "app:1", resources: { requests: { cpu: "100m", memory: "64Mi" } } },
      ],
      tolerations: TOLERATIONS,
      ...spec(labels),
    },
    status: { phase: "Pending" },
  } as ApiObject;
}
