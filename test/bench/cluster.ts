/** A cluster in a program: time to start, time until a fork answers, delay of a controller, cost when idle. */
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { startCluster } from "setpoint";
import type { Cluster, StartOptions } from "setpoint";
import { ConfigMap } from "setpoint/resources";
import { defineController } from "setpoint/runtime";
import { percentile, verdict } from "./row.ts";
import type { Bench, Row } from "./row.ts";

const STARTS = 10;
const FIRST_MS = 100;
const TENTH_MS = 20;
const OBJECTS = 1000;
const FORKS = 20;
const FORK_MS = 5;
const UPDATES = 2000;
const SEEN_MS = 2;
const IDLE_MS = 10_000;
/** Below the resolution of the clock. */
const IDLE_PERCENT = 0.5;

export interface ClusterFigures {
  /** Durations of the starts, in order. */
  readonly startMs: readonly number[];
  readonly forkMs: readonly number[];
  readonly seenMs: readonly number[];
  readonly idlePercent: number;
}

export async function clusterChild(): Promise<ClusterFigures> {
  return {
    startMs: await starts(),
    forkMs: await within({ clock: "virtual" }, forks),
    seenMs: await updates(),
    idlePercent: await within({}, idle),
  };
}

async function starts(): Promise<readonly number[]> {
  const startMs: number[] = [];
  for (let n = 0; n < STARTS; n++) {
    const begin = performance.now();
    const cluster = await startCluster();
    startMs.push(performance.now() - begin);
    await cluster.stop();
  }
  return startMs;
}

async function within<T>(options: StartOptions, use: (cluster: Cluster) => Promise<T>): Promise<T> {
  const cluster = await startCluster(options);
  try {
    return await use(cluster);
  } finally {
    await cluster.stop();
  }
}

/** Time until the first read of a fork is answered, while all its controllers start. */
async function forks(cluster: Cluster): Promise<readonly number[]> {
  for (let n = 0; n < OBJECTS; n++) await create(cluster, `x-${String(n)}`);
  await cluster.settle();
  const forkMs: number[] = [];
  for (let n = 0; n < FORKS; n++) {
    const begin = performance.now();
    const fork = await cluster.fork();
    await fork.client(ConfigMap).get({ name: "x-7" });
    forkMs.push(performance.now() - begin);
    await fork.stop();
  }
  return forkMs;
}

async function create(cluster: Cluster, name: string): Promise<void> {
  await cluster.client(ConfigMap).create({ metadata: { name }, data: { text: "x".repeat(200) } });
}

/** Time from the response to a write until `reconcile` gets the written object. */
async function updates(): Promise<readonly number[]> {
  let seen: (n: string) => void = () => undefined;
  const eye = defineController<ConfigMap>({
    name: "eye",
    for: ConfigMap,
    reconcile: ({ data }) => Promise.resolve(seen(data?.["n"] ?? "")),
  });
  return await within({ controllers: [eye] }, async (cluster) => {
    await create(cluster, "x");
    const seenMs: number[] = [];
    for (let n = 0; n < UPDATES; n++) {
      const text = String(n);
      const reconciled = new Promise<number>((resolve) => {
        seen = (found) => {
          if (found === text) resolve(performance.now());
        };
      });
      await cluster.client(ConfigMap).patch({ name: "x" }, { type: "merge", changes: { data: { n: text } } });
      const answeredAt = performance.now();
      seenMs.push(Math.max(0, (await reconciled) - answeredAt));
    }
    return seenMs;
  });
}

async function idle(cluster: Cluster): Promise<number> {
  await create(cluster, "x");
  // Start-up work is over by then.
  await sleep(2000);
  const before = process.cpuUsage();
  await sleep(IDLE_MS);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) / 1000 / IDLE_MS) * 100;
}

export const clusterBench: Bench = {
  name: "cluster",
  async run(context) {
    context.progress("cluster: start, fork, reconcile, idle");
    const { startMs, forkMs, seenMs, idlePercent } = (await context.child("cluster", {})) as ClusterFigures;
    const [first = Number.NaN] = startMs;
    const tenth = startMs.at(-1) ?? Number.NaN;
    const fork = percentile(forkMs, 0.5);
    const seen = percentile(seenMs, 0.99);
    const worst = `slowest of ${String(FORKS)}: ${percentile(forkMs, 1).toFixed(1)} ms`;
    return [
      milliseconds("startCluster(), the first in a process", first, FIRST_MS),
      milliseconds(
        "startCluster(), the tenth in a process",
        tenth,
        TENTH_MS,
        `median of ten ${percentile(startMs, 0.5).toFixed(1)} ms`,
      ),
      milliseconds("fork with 1,000 objects to the first answered read, median", fork, FORK_MS, worst),
      milliseconds(
        "write answered to reconcile called, in process, p99",
        seen,
        SEEN_MS,
        `median ${percentile(seenMs, 0.5).toFixed(2)} ms`,
      ),
      {
        what: "idle cluster with all loops: CPU",
        value: `${idlePercent.toFixed(2)} %`,
        yardstick: "–",
        figure: `${idlePercent.toFixed(2)} %`,
        aim: `≤ ${String(IDLE_PERCENT)} %`,
        verdict: verdict(idlePercent <= IDLE_PERCENT),
      },
    ];
  },
};

function milliseconds(what: string, ms: number, aim: number, yardstick = "–"): Row {
  const value = `${ms.toFixed(1)} ms`;
  return { what, value, yardstick, figure: value, aim: `≤ ${String(aim)} ms`, verdict: verdict(ms <= aim) };
}
