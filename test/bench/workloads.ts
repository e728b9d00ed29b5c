/** Workloads on simulated nodes: time until a large Deployment runs, time until a lost pod is replaced, cost when idle. */
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "setpoint/client";
import type { Client } from "setpoint/client";
import { Deployment, Node, Pod } from "setpoint/resources";
import { startClusterProcess } from "./cluster-process.ts";
import type { ClusterProcess } from "./cluster-process.ts";
import { verdict, whole } from "./row.ts";
import type { Bench, BenchContext, Row } from "./row.ts";

/** As many pods as fit on twenty nodes with room to spare. */
const SMALL = { nodes: 20, pods: 1000, withinMs: 2000 };
const LARGE = { nodes: 1000, pods: 10_000, withinMs: 30_000, memoryMb: 600 };
const REPLACED_MS = 100;
/**
 * Start-up work is over by then: controllers write Events for a while, V8 collects garbage several times, and the store compacts after five
 * and a half minutes.
 */
const STEADY_AFTER_MS = 360_000;
const STEADY_MS = 60_000;
const STEADY_PERCENT = 2;

export const workloads: Bench = {
  name: "workloads",
  async run(context) {
    return [...(await smallRows(context)), ...(await largeRows(context))];
  },
};

async function smallRows(context: BenchContext): Promise<readonly Row[]> {
  context.progress(`workloads: a Deployment of ${whole(SMALL.pods)} pods`);
  return await within(context, SMALL.nodes, async ({ client }) => {
    const ms = await runDeployment(client, SMALL.pods);
    const what = `Deployment 0 to ${whole(SMALL.pods)} pods available, file engine`;
    return [row(what, `${whole(ms)} ms`, [`≤ ${whole(SMALL.withinMs)} ms`, ms <= SMALL.withinMs])];
  });
}

async function largeRows(context: BenchContext): Promise<readonly Row[]> {
  const { nodes, pods, withinMs, memoryMb } = LARGE;
  context.progress(`workloads: ${whole(nodes)} nodes, ${whole(pods)} pods`);
  return await within(context, nodes, async ({ client, cluster }) => {
    const ms = await runDeployment(client, pods);
    const memory = cluster.memoryMb();
    context.progress("workloads: doing nothing, for seven minutes");
    const steady = await steadyPercent(cluster);
    const replaced = await replacePod(client);
    const size = `${whole(nodes)} nodes, ${whole(pods)} pods`;
    return [
      row(`${size}: all available`, `${whole(ms)} ms`, [`≤ ${whole(withinMs)} ms`, ms <= withinMs]),
      row(`${size}: memory`, `${whole(memory)} MB`, [`≤ ${whole(memoryMb)} MB`, memory <= memoryMb]),
      row(`${size}: a deleted pod is replaced by a running one`, `${whole(replaced)} ms`, [
        `≤ ${whole(REPLACED_MS)} ms`,
        replaced <= REPLACED_MS,
      ]),
      row(`${size}: CPU with nothing to do`, `${steady.toFixed(1)} %`, [
        `≤ ${String(STEADY_PERCENT)} %`,
        steady <= STEADY_PERCENT,
      ]),
    ];
  });
}

interface Running {
  readonly client: Client;
  readonly cluster: ClusterProcess;
}

async function within(
  context: BenchContext,
  nodes: number,
  use: (running: Running) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const dataDir = context.folder();
  const cluster = await startClusterProcess(dataDir, { store: "file", nodes });
  const connection = await connect({ file: join(dataDir, "kubeconfig") });
  try {
    await until(connection.client, Node, (seen) => [...seen.values()].filter(isReady).length === nodes);
    return await use({ client: connection.client, cluster });
  } finally {
    await connection.close();
    await cluster.stop();
  }
}

function isReady({ status }: Node): boolean {
  return (status.conditions ?? []).some(
    (condition) => condition.type === "Ready" && condition.status === "True",
  );
}

/** Time from the request until the Deployment reports all pods available. */
async function runDeployment(client: Client, replicas: number): Promise<number> {
  const labels = { app: "bench" };
  const resources = { requests: { cpu: "1m", memory: "1Mi" } };
  const startedAt = performance.now();
  await client(Deployment).create({
    metadata: { name: "bench" },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "web", image: "nginx:1.25", resources }] },
      },
    },
  });
  await until(client, Deployment, (seen) => seen.get("bench")?.status.availableReplicas === replicas);
  return performance.now() - startedAt;
}

async function replacePod(client: Client): Promise<number> {
  const { items } = await client(Pod).list({ namespace: "default", limit: 1 });
  const [victim] = items;
  if (victim === undefined) throw new Error("there is no pod to delete");
  const { resourceVersion } = (await client(Pod).list({ namespace: "default", limit: 1 })).metadata;
  const watching = await client(Pod).watch({ namespace: "default", resourceVersion });
  const startedAt = performance.now();
  await client(Pod).delete(victim, { gracePeriodSeconds: 0 });
  const born = new Set<string>();
  for await (const events of watching) {
    for (const event of events) {
      if (event.type === "ADDED") born.add(event.object.metadata.uid);
      if (
        event.type === "MODIFIED" &&
        born.has(event.object.metadata.uid) &&
        event.object.status.phase === "Running"
      )
        return performance.now() - startedAt;
    }
  }
  throw new Error("the watch ended before a new pod ran");
}

async function steadyPercent(cluster: ClusterProcess): Promise<number> {
  await sleep(STEADY_AFTER_MS);
  const before = cluster.cpuMs();
  await sleep(STEADY_MS);
  return ((cluster.cpuMs() - before) / STEADY_MS) * 100;
}

/** Watches a kind until its objects, by name, meet the condition. */
async function until<T extends Node | Deployment>(
  client: Client,
  type: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly plural: string;
    readonly namespaced: boolean;
    readonly object?: T;
  },
  isDone: (seen: ReadonlyMap<string, T>) => boolean,
): Promise<void> {
  const seen = new Map<string, T>();
  for await (const events of await client(type).watch()) {
    for (const event of events) {
      if (event.type === "BOOKMARK") continue;
      if (event.type === "DELETED") seen.delete(event.object.metadata.name);
      else seen.set(event.object.metadata.name, event.object);
    }
    if (isDone(seen)) return;
  }
  throw new Error("the watch ended");
}

function row(what: string, value: string, [aim, isMet]: readonly [string, boolean]): Row {
  return { what, value, yardstick: "–", figure: value, aim, verdict: verdict(isMet) };
}
