/**
 * `npm run bench -- nodes`: many simulated nodes with 30 pods each, from the start until all are ready, then a hard kill,
 * a restart, and the deletion of all running pods at once with their namespace.
 */
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "setpoint/client";
import type { Client } from "setpoint/client";
import { Deployment, Namespace, Node } from "setpoint/resources";
import { startClusterProcess } from "./cluster-process.ts";
import type { ClusterProcess } from "./cluster-process.ts";
import { Answers, dial, requestBytes } from "./http-load.ts";
import { percentile, whole } from "./row.ts";
import { longStepsIn } from "./server-process.ts";
import type { Figure, Survey, SurveyContext } from "./survey.ts";

const NODES = 5000;
const QUICK_NODES = 100;
const PODS_PER_NODE = 30;
const PODS_PER_DEPLOYMENT = 1000;
/** Upper bound of each wait. */
const NODES_READY_MS = 180_000;
const PODS_READY_MS = 900_000;
const LOOK_EVERY_MS = 500;
const GET_EVERY_MS = 20;
const SHOWN_ACTORS = 8;
/** Upper bound of the wait for calm loops after a restart. They are calm while they use less than this share of a core. */
const CALM_MS = 180_000;
const CALM_SHARE = 0.3;
const CALM_WINDOW_MS = 3000;
const IDLE_WINDOW_MS = 30_000;
const NAMESPACE = "bench";

type Latencies = Required<Pick<Figure, "p50Ms" | "p99Ms" | "maxMs">>;

interface Run {
  /** The size, as the table shows it. */
  readonly at: string;
  readonly cluster: ClusterProcess;
  readonly client: Client;
  readonly nodes: number;
  readonly context: SurveyContext;
}

export const nodes: Survey = {
  name: "nodes",
  async run(context) {
    const count = context.options.nodes ?? (context.options.isQuick ? QUICK_NODES : NODES);
    const at = `${whole(count)} nodes, ${whole(count * PODS_PER_NODE)} pods`;
    const dataDir = context.folder();
    const cluster = await startClusterProcess(dataDir, { store: "file", nodes: count });
    const connection = await connect({ file: join(dataDir, "kubeconfig") });
    const run = { at, cluster, client: connection.client, nodes: count, context };
    try {
      context.add(await fillFigures(run));
      await connection.close();
      context.progress("nodes: kill -9 and restart");
      await cluster.kill();
      context.add(await restartFigures({ at, dataDir, nodes: count, context }));
    } finally {
      await cluster.stop();
    }
  },
};

async function fillFigures(run: Run): Promise<readonly Figure[]> {
  const { at, cluster, nodes: count } = run;
  const readyNodes = await timeUntil(
    run,
    { name: "nodes ready", goal: count, withinMs: NODES_READY_MS },
    nodesReady,
  );
  const goal = count * PODS_PER_NODE;
  const {
    result: readyPods,
    cpuMs,
    beside,
  } = await withReader(run, async () => {
    await createDeployments(run);
    return timeUntil(run, { name: "pods available", goal, withinMs: PODS_READY_MS }, podsAvailable);
  });
  return [
    { at, what: "all nodes Ready", value: readyNodes.text },
    { at, what: "all pods available", value: readyPods.text },
    {
      at,
      what: "one pod from its Deployment to available",
      cpuUs: (cpuMs / readyPods.count) * 1000,
      perSecond: (readyPods.count / readyPods.ms) * 1000,
    },
    { at, what: "memory of the process", value: `${whole(cluster.memoryMb())} MB` },
    { at, what: "GET of a Node meanwhile, one each 20 ms", ...beside },
    ...longestSteps(at, cluster.log()),
  ];
}

/** Runs a piece of work beside a reader of one Node. */
async function withReader<T>(
  { cluster }: Pick<Run, "cluster">,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly cpuMs: number; readonly beside: Latencies }> {
  const ending = new AbortController();
  const reading = readAgainAndAgain(cluster, ending.signal);
  const cpu = cluster.cpuMs();
  const result = await work();
  const cpuMs = cluster.cpuMs() - cpu;
  ending.abort();
  const times = await reading;
  const [p50Ms, p99Ms, maxMs] = [percentile(times, 0.5), percentile(times, 0.99), percentile(times, 1)];
  return { result, cpuMs, beside: { p50Ms, p99Ms, maxMs } };
}

function longestSteps(at: string, log: string): readonly Figure[] {
  return longStepsIn(log)
    .slice(0, SHOWN_ACTORS)
    .map(({ actor, count, longestMs }) => ({
      at,
      what: `longest step of ${actor}`,
      value: `${String(longestMs)} ms, ${String(count)} above 50 ms`,
    }));
}

interface Restart {
  readonly at: string;
  readonly dataDir: string;
  readonly nodes: number;
  readonly context: SurveyContext;
}

async function restartFigures({ at, dataDir, nodes: count, context }: Restart): Promise<readonly Figure[]> {
  const again = await startClusterProcess(dataDir, { store: "file", nodes: count });
  try {
    // The process reports that it is ready once /readyz says so; asked here as a client does.
    const startedAt = performance.now();
    while (!(await isReadyNow(again))) {
      if (performance.now() - startedAt > NODES_READY_MS) throw new Error("/readyz does not answer 200");
      await sleep(10);
    }
    const readyMs = again.readyMs + performance.now() - startedAt;
    return [
      { at, what: "kill -9, then /readyz", value: seconds(readyMs) },
      { at, what: "memory at /readyz after the restart", value: `${whole(again.memoryMb())} MB` },
      ...(await calmFigures(at, again)),
      ...(await deletionFigures({ at, dataDir, cluster: again, nodes: count, context })),
    ];
  } finally {
    await again.stop();
  }
}

/** The loops after a restart, from the first list until they have nothing left to do, and the idle cluster. */
async function calmFigures(at: string, cluster: ClusterProcess): Promise<readonly Figure[]> {
  const startedAt = performance.now();
  let most = 0;
  do most = Math.max(most, cluster.memoryMb());
  while ((await cpuShare(cluster, CALM_WINDOW_MS)) > CALM_SHARE && performance.now() - startedAt < CALM_MS);
  const calmMs = performance.now() - startedAt;
  const idle = await cpuShare(cluster, IDLE_WINDOW_MS);
  return [
    { at, what: "from /readyz until the loops are calm", value: seconds(calmMs) },
    { at, what: "most memory meanwhile", value: `${whole(most)} MB` },
    { at, what: "CPU of the idle cluster", value: `${(idle * 100).toFixed(1)} % of a core` },
    ...longestSteps(`${at}, restart`, cluster.log()),
  ];
}

/** All running pods are deleted at once, with their namespace. */
async function deletionFigures({
  dataDir,
  ...restart
}: Omit<Run, "client"> & Pick<Restart, "dataDir">): Promise<readonly Figure[]> {
  const { at, cluster, nodes: count } = restart;
  const connection = await connect({ file: join(dataDir, "kubeconfig") });
  const run = { ...restart, client: connection.client };
  const logged = cluster.log().length;
  let most = 0;
  const { result, cpuMs, beside } = await withReader(run, async () => {
    await run.client(Namespace).delete({ name: NAMESPACE });
    return timeUntil(run, { name: "namespace gone", goal: 1, withinMs: PODS_READY_MS }, async (client) => {
      most = Math.max(most, cluster.memoryMb());
      return (await client(Namespace).find({ name: NAMESPACE })) === undefined ? 1 : 0;
    });
  });
  await connection.close();
  return [
    { at, what: "namespace with all pods deleted: until it is gone", value: result.text },
    { at, what: "one pod of it", cpuUs: (cpuMs / (count * PODS_PER_NODE)) * 1000 },
    { at, what: "most memory while it is deleted", value: `${whole(most)} MB` },
    { at, what: "GET of a Node while it is deleted", ...beside },
    ...longestSteps(`${at}, deletion`, cluster.log().slice(logged)),
  ];
}

/** Part of a core that the process uses in the next `ms`. */
async function cpuShare(cluster: ClusterProcess, ms: number): Promise<number> {
  const [cpu, startedAt] = [cluster.cpuMs(), performance.now()];
  await sleep(ms);
  return (cluster.cpuMs() - cpu) / (performance.now() - startedAt);
}

/** A server that has just started may close a connection; the next look asks again. */
async function isReadyNow(cluster: ClusterProcess): Promise<boolean> {
  try {
    const socket = await dial(cluster.port, cluster.credentials);
    const code = await new Answers(socket).send(requestBytes(getOf(cluster, "/readyz"), 0));
    socket.destroy();
    return code === 200;
  } catch {
    return false;
  }
}

function getOf({ port, credentials }: ClusterProcess, path: string): Parameters<typeof requestBytes>[0] {
  return { ...credentials, port, method: "GET", path, connections: 1, seconds: 0 };
}

async function readAgainAndAgain(cluster: ClusterProcess, signal: AbortSignal): Promise<readonly number[]> {
  const socket = await dial(cluster.port, cluster.credentials);
  const answers = new Answers(socket);
  const bytes = requestBytes(getOf(cluster, "/api/v1/nodes/node-1"), 0);
  const times: number[] = [];
  while (!signal.aborted) {
    const startedAt = performance.now();
    const code = await answers.send(bytes);
    if (code !== 200) throw new Error(`GET of a Node answered ${String(code)}`);
    times.push(performance.now() - startedAt);
    await sleep(GET_EVERY_MS);
  }
  socket.destroy();
  return times;
}

async function createDeployments({ client, nodes: count }: Run): Promise<void> {
  await client(Namespace).create({ metadata: { name: NAMESPACE } });
  const resources = { requests: { cpu: "1m", memory: "1Mi" } };
  for (let left = count * PODS_PER_NODE, n = 0; left > 0; left -= PODS_PER_DEPLOYMENT, n++) {
    const name = `bench-${String(n)}`;
    const labels = { app: name };
    await client(Deployment).create({
      metadata: { namespace: NAMESPACE, name },
      spec: {
        replicas: Math.min(left, PODS_PER_DEPLOYMENT),
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: "web", image: "nginx:1.25", resources }] },
        },
      },
    });
  }
}

interface Goal {
  readonly name: string;
  readonly goal: number;
  readonly withinMs: number;
}

interface Reached {
  readonly ms: number;
  readonly count: number;
  /** Time, and how far it came if not to the goal. */
  readonly text: string;
}

/** Waits until `count` reaches the goal, or for the goal's time. */
async function timeUntil(
  run: Run,
  { name, goal, withinMs }: Goal,
  count: (client: Client) => Promise<number>,
): Promise<Reached> {
  const startedAt = performance.now();
  let shownAt = startedAt;
  for (;;) {
    const reached = await count(run.client);
    const now = performance.now();
    const ms = now - startedAt;
    if (reached >= goal) return { ms, count: reached, text: seconds(ms) };
    if (ms > withinMs)
      return { ms, count: reached, text: `only ${whole(reached)} of ${whole(goal)} after ${seconds(ms)}` };
    if (now - shownAt > 10_000) {
      shownAt = now;
      run.context.progress(
        `nodes: ${whole(reached)} of ${whole(goal)} ${name}, ${whole(run.cluster.memoryMb())} MB`,
      );
    }
    await sleep(LOOK_EVERY_MS);
  }
}

async function nodesReady(client: Client): Promise<number> {
  const { items } = await client(Node).list();
  return items.filter(({ status }) =>
    (status.conditions ?? []).some(({ type, status: is }) => type === "Ready" && is === "True"),
  ).length;
}

async function podsAvailable(client: Client): Promise<number> {
  const { items } = await client(Deployment).list({ namespace: NAMESPACE });
  return items.reduce((sum, { status }) => sum + (status.availableReplicas ?? 0), 0);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
