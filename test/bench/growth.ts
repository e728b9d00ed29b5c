/** `npm run bench -- growth`: the same requests beside more and more stored pods. Shows which costs grow with the cluster. */
import { freemem } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import {
  CREATED,
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
    context.add(await readFigures(context, cluster));
    context.add(await watchFigures(context, cluster));
    context.add(await writeFigures(context, cluster));
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

async function readFigures(context: SurveyContext, cluster: GrowthCluster): Promise<readonly Figure[]> {
  const get = { path: `${PODS}/pod-%n`, objects: cluster.targets, connections: CLIENTS };
  const list = `LIST by label (1 in ${SLICES.toLocaleString("en-US")})`;
  const listAll = {
    what: `${list}, all namespaces, ${String(LISTERS)} clients`,
    path: `/api/v1/pods?${SELECTOR}`,
    connections: LISTERS,
  };
  const inNamespace = `${list}, one namespace, ${String(LISTERS)} clients`;
  const alone = await inTurn(context, cluster, [
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
  const { cpuUs: _, ...figure } = beside.figure;
  return [...alone, figure];
}

async function writeFigures(context: SurveyContext, cluster: GrowthCluster): Promise<readonly Figure[]> {
  const patch = {
    method: "PATCH",
    type: "application/merge-patch+json",
    path: `${PODS}/pod-%n`,
    objects: cluster.targets,
    body: '{"metadata":{"labels":{"round":"%n"}}}',
  };
  const create = { method: "POST", path: NEW_PODS };
  const kept = await inTurn(context, cluster, [
    { ...patch, what: "merge patch, 1 client" },
    { ...patch, what: `merge patch, ${String(CLIENTS)} clients`, connections: CLIENTS },
    {
      ...patch,
      what: `server-side apply, ${String(CLIENTS)} clients`,
      connections: CLIENTS,
      type: "application/apply-patch+yaml",
      path: `${patch.path}?fieldManager=bench&force=true`,
      body: '{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"applied":"%n"}}}',
    },
    { ...create, what: "create, 1 client", body: podBody("one-%n", "new") },
  ]);
  const created = await measure(context, cluster, {
    ...create,
    what: `create, ${String(CLIENTS)} clients`,
    body: podBody("new-%n", "new"),
    connections: CLIENTS,
  });
  // Deletes must not outrun the creates: they get less than half of the time.
  const deleted = await measure(context, cluster, {
    what: `delete, ${String(CLIENTS)} clients`,
    method: "DELETE",
    path: `${NEW_PODS}/new-%n`,
    connections: CLIENTS,
    seconds: context.options.isQuick ? 1 : 2,
    isWarm: true,
  });
  return [...kept, created.figure, deleted.figure];
}

async function inTurn(
  context: SurveyContext,
  cluster: GrowthCluster,
  loads: readonly Load[],
): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const load of loads) figures.push((await measure(context, cluster, load)).figure);
  return figures;
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
