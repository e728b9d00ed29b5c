/** Watches beside many stored pods: how soon one begins, and how much CPU the server needs for a delivery. */
import { performance } from "node:perf_hooks";
import { fill, NAMESPACE, sizeOf, WATCHED } from "./growth-cluster.ts";
import type { GrowthCluster } from "./growth-cluster.ts";
import { dial, requestBytes } from "./http-load.ts";
import { percentile } from "./row.ts";
import type { Figure, SurveyContext } from "./survey.ts";
import type { WatchLoadArgument, WatchLoadFigures } from "./watch-load.ts";

/** Watchers, and changes a second. A rate that the server keeps up with on any machine. */
const WATCHES = [
  { watchers: 20, changesPerSecond: 100 },
  { watchers: 200, changesPerSecond: 100 },
  { watchers: 500, changesPerSecond: 50 },
] as const;
const OBJECTS = 100;
const OBJECT_BYTES = 1024;
const STARTS = 50;

export async function watchFigures(
  context: SurveyContext,
  cluster: GrowthCluster,
): Promise<readonly Figure[]> {
  const path = `/api/v1/namespaces/${WATCHED}/configmaps`;
  const data = { text: "x".repeat(OBJECT_BYTES) };
  await fill(cluster, OBJECTS, (n) => {
    const metadata = { name: `pod-${String(n)}` };
    return { path, body: JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata, data }) };
  });
  const starts = [
    await startFigure(cluster, "watch start, from now", `/api/v1/namespaces/${NAMESPACE}/pods?watch=true`),
    await startFigure(
      cluster,
      "watch start, 1 in 1,000 pods as initial events",
      "/api/v1/pods?watch=true&labelSelector=slice%3D7&resourceVersion=0",
    ),
  ];
  const rates = [...new Set(WATCHES.map(({ changesPerSecond }) => changesPerSecond))];
  const writes = new Map<number, Figure>();
  for (const rate of rates)
    writes.set(rate, await writeFigure(context, cluster, { path, watchers: 0, changesPerSecond: rate }));
  const deliveries: Figure[] = [];
  for (const watch of WATCHES) {
    const writeUs = writes.get(watch.changesPerSecond)?.cpuUs ?? 0;
    deliveries.push(...(await deliveryFigures({ context, cluster, writeUs }, { path, ...watch })));
  }
  return [...starts, ...writes.values(), ...deliveries];
}

interface Deliveries {
  readonly path: string;
  readonly watchers: number;
  readonly changesPerSecond: number;
}

async function load(
  context: SurveyContext,
  cluster: GrowthCluster,
  { path, watchers, changesPerSecond }: Deliveries,
): Promise<WatchLoadFigures> {
  context.progress(
    `growth: ${String(changesPerSecond)} writes/s to ${String(watchers)} watchers beside ${sizeOf(cluster)} pods`,
  );
  const seconds = context.options.isQuick ? 2 : 4;
  const { port, credentials, pid: serverPid } = cluster;
  const rest = { port, path, watchers, changesPerSecond, seconds, objects: OBJECTS, serverPid };
  const argument: WatchLoadArgument = { ...credentials, ...rest };
  return (await context.child("watch-load", argument)) as WatchLoadFigures;
}

async function writeFigure(
  context: SurveyContext,
  cluster: GrowthCluster,
  deliveries: Deliveries,
): Promise<Figure> {
  const { serverCpuMs, changes } = await load(context, cluster, deliveries);
  const what = `write without a watcher, ${String(deliveries.changesPerSecond)} writes/s`;
  return { what, at: sizeOf(cluster), cpuUs: (serverCpuMs / changes) * 1000 };
}

interface Setting {
  readonly context: SurveyContext;
  readonly cluster: GrowthCluster;
  /** CPU of the server for the same write without a watcher. */
  readonly writeUs: number;
}

/** A delivery costs as much as the server needs beyond the writes. */
async function deliveryFigures(
  { context, cluster, writeUs }: Setting,
  deliveries: Deliveries,
): Promise<readonly Figure[]> {
  const { watchers, changesPerSecond } = deliveries;
  const what = `watch delivery, ${String(watchers)} watchers, ${String(changesPerSecond)} writes/s`;
  const found = await load(context, cluster, deliveries);
  if (found.lost > 0) throw new Error(`${what}: ${String(found.lost)} events were lost`);
  const { p50Ms, p99Ms, deliveriesPerSecond: perSecond, serverCpuMs, measured, changes } = found;
  const at = sizeOf(cluster);
  const withWriteUs = (serverCpuMs / measured) * 1000;
  return [
    { what, at, cpuUs: withWriteUs - (writeUs * changes) / measured, perSecond, p50Ms, p99Ms },
    { what: `${what}, with its share of the write`, at, cpuUs: withWriteUs },
  ];
}

/** From the request until the first bytes of the answer, one watch after another, each on a connection that is open. */
async function startFigure(cluster: GrowthCluster, what: string, path: string): Promise<Figure> {
  const { port, credentials } = cluster;
  const target = path.includes("resourceVersion")
    ? path
    : `${path}&sendInitialEvents=false&resourceVersionMatch=NotOlderThan`;
  const request = { ...credentials, port, method: "GET", path: target, connections: 1, seconds: 0 };
  const sockets = await Promise.all(Array.from({ length: STARTS }, () => dial(port, credentials)));
  const times: number[] = [];
  const cpu = cluster.cpuMs();
  for (const socket of sockets) {
    const startedAt = performance.now();
    const answered = new Promise<void>((resolve) => socket.once("data", () => resolve()));
    socket.write(requestBytes(request, 0));
    await answered;
    times.push(performance.now() - startedAt);
  }
  const cpuUs = ((cluster.cpuMs() - cpu) / STARTS) * 1000;
  for (const socket of sockets) socket.destroy();
  return {
    what,
    at: sizeOf(cluster),
    cpuUs,
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
    maxMs: percentile(times, 1),
  };
}
