/** `npm run bench -- growth`: the same requests beside more and more stored pods. Shows which costs grow with the cluster. */
import { freemem } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import {
  CREATED,
  fill,
  measure,
  NAMESPACE,
  podBody,
  sizeOf,
  SLICES,
  startGrowthCluster,
} from "./growth-cluster.ts";
import type { GrowthCluster, Load } from "./growth-cluster.ts";
import { watchFigures } from "./growth-watch.ts";
import { longStepsIn } from "./server-process.ts";
import type { Figure, Survey, SurveyContext } from "./survey.ts";
import { hasWrk, WRK_HINT } from "./wrk.ts";

const SIZES = [0, 10_000, 50_000, 150_000] as const;
const QUICK_SIZES = [0, 10_000] as const;
/** Memory of the server for one stored pod, generously, and of everything else. */
const POD_BYTES = 12_000;
const BASE_BYTES = 1 << 30;
const CLIENTS = 64;
const LISTERS = 4;
const SETTLE_MS = 3000;
/** More than one process deletes. */
const DELETES_PER_SECOND = 10_000;

const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;
const NEW_PODS = `/api/v1/namespaces/${CREATED}/pods`;
const SELECTOR = "labelSelector=slice%3D7";

export const growth: Survey = {
  name: "growth",
  async run(context) {
    if (!hasWrk())
      context.progress(`growth: the load comes from Node.js; for one that disturbs less, ${WRK_HINT}`);
    for (const pods of sizesOf(context)) await measureAt(context, pods);
  },
};

function sizesOf(context: SurveyContext): readonly number[] {
  const { options } = context;
  if (options.sizes !== undefined) return options.sizes;
  const sizes = options.isQuick ? QUICK_SIZES : SIZES;
  return sizes.filter((pods) => {
    const fits = BASE_BYTES + pods * POD_BYTES < freemem();
    if (!fits)
      context.progress(`growth: ${String(pods)} pods are left out, because free memory is too small`);
    return fits;
  });
}

async function measureAt(context: SurveyContext, pods: number): Promise<void> {
  const cluster = await startGrowthCluster(context, pods);
  try {
    await sleep(SETTLE_MS);
    context.add(memoryFigures(cluster));
    await measureReads(context, cluster);
    context.add(await watchFigures(context, cluster));
    await measureWrites(context, cluster);
    context.add(longStepFigures(cluster));
  } finally {
    await cluster.stop();
  }
}

function memoryFigures(cluster: GrowthCluster): readonly Figure[] {
  const [at, megabytes] = [sizeOf(cluster), cluster.memoryMb()];
  const memory = { what: "memory of the server", at, value: `${megabytes.toFixed(0)} MB` };
  if (cluster.pods === 0) return [memory];
  const value = `${(((megabytes - cluster.emptyMb) / cluster.pods) * 1000).toFixed(1)} KB`;
  return [memory, { what: "memory for one pod", at, value }];
}

async function measureReads(context: SurveyContext, cluster: GrowthCluster): Promise<void> {
  const get = { path: `${PODS}/pod-%n`, objects: cluster.targets, connections: CLIENTS };
  const list = `LIST by label (1 in ${SLICES.toLocaleString("en-US")})`;
  const listAll = {
    what: `${list}, all namespaces, ${String(LISTERS)} clients`,
    path: `/api/v1/pods?${SELECTOR}`,
    connections: LISTERS,
  };
  const inNamespace = `${list}, one namespace, ${String(LISTERS)} clients`;
  await inTurn(context, cluster, [
    { ...get, what: `GET, ${String(CLIENTS)} clients` },
    { ...listAll, what: inNamespace, path: `${PODS}?${SELECTOR}` },
    listAll,
  ]);
  const [beside] = await Promise.all([
    measure(context, cluster, {
      ...get,
      what: "GET beside such lists, 1 client",
      connections: 1,
      isWarm: true,
    }),
    measure(context, cluster, { ...listAll, isWarm: true }),
  ]);
  // The server's CPU is for both loads.
  const { cpuUs: _, ...figure } = beside;
  context.add([figure]);
}

async function measureWrites(context: SurveyContext, cluster: GrowthCluster): Promise<void> {
  const patch = {
    method: "PATCH",
    type: "application/merge-patch+json",
    path: `${PODS}/pod-%n`,
    objects: cluster.targets,
    body: '{"metadata":{"labels":{"round":"%n"}}}',
  };
  const create = { method: "POST", path: NEW_PODS };
  const many = { connections: CLIENTS };
  await inTurn(context, cluster, [
    { ...patch, what: "merge patch, 1 client" },
    { ...patch, ...many, what: `merge patch, ${String(CLIENTS)} clients` },
    {
      ...patch,
      ...many,
      what: `server-side apply, ${String(CLIENTS)} clients`,
      type: "application/apply-patch+yaml",
      path: `${patch.path}?fieldManager=bench&force=true`,
      body: '{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"applied":"%n"}}}',
    },
    { ...create, what: "create, 1 client", body: podBody("one-%n", "new") },
    { ...create, ...many, what: `create, ${String(CLIENTS)} clients`, body: podBody("new-%n", "new") },
  ]);
  await measureDeletes(context, cluster);
}

/** Each name is deleted once. There are more than a server deletes meanwhile. */
async function measureDeletes(context: SurveyContext, cluster: GrowthCluster): Promise<void> {
  const seconds = context.options.isQuick ? 1 : 2;
  await fill(cluster, seconds * DELETES_PER_SECOND, (n) => ({
    path: NEW_PODS,
    body: podBody(`old-${String(n)}`, "old"),
  }));
  await sleep(SETTLE_MS);
  const path = `${NEW_PODS}/old-%n`;
  const what = `delete, ${String(CLIENTS)} clients`;
  await inTurn(context, cluster, [
    { what, method: "DELETE", path, connections: CLIENTS, seconds, isWarm: true },
  ]);
}

async function inTurn(context: SurveyContext, cluster: GrowthCluster, loads: readonly Load[]): Promise<void> {
  for (const load of loads) context.add([await measure(context, cluster, load)]);
}

function longStepFigures(cluster: GrowthCluster): readonly Figure[] {
  const steps = longStepsIn(cluster.log()).slice(0, 3);
  const value = steps.map(
    ({ actor, count, longestMs }) => `${actor} ${String(longestMs)} ms (${String(count)} steps)`,
  );
  return [
    {
      what: "steps that blocked the loop above 50 ms, by actor",
      at: sizeOf(cluster),
      value: value.join(", ") || "none",
    },
  ];
}
