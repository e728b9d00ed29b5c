/** A cluster with many stored pods, and requests to it. The pods have a scheduler that does not exist: nothing runs them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startClusterProcess } from "./cluster-process.ts";
import type { ClusterProcess } from "./cluster-process.ts";
import { Answers, dial, requestBytes } from "./http-load.ts";
import type { LoadArgument, LoadFigures } from "./http-load.ts";
import { cpuMsOf } from "./server-process.ts";
import type { Figure, SurveyContext } from "./survey.ts";
import { hasWrk, runWrk } from "./wrk.ts";

/** Namespaces over which the pods are spread, and one for each purpose. */
const SPREAD = 10;
/** There are always so many pods in the namespace where pods are read and patched. */
const TARGETS = 1000;
/** One pod in so many has a given value of the label `slice`. */
export const SLICES = 1000;
const FILLERS = 64;
const TOKEN = "growth-bench";
/** Until the server has compiled the code of a request; not counted. */
const WARM_UP_SECONDS = 1;

export const NAMESPACE = "bench-0";
export const CREATED = "bench-new";
export const WATCHED = "bench-watch";

export interface GrowthCluster extends ClusterProcess {
  readonly folder: string;
  readonly pods: number;
  /** Pods in `NAMESPACE`. */
  readonly targets: number;
  /** Memory before the pods, in MB. */
  readonly emptyMb: number;
}

export async function startGrowthCluster(context: SurveyContext, pods: number): Promise<GrowthCluster> {
  const folder = context.folder();
  const tokens = join(folder, "tokens.csv");
  writeFileSync(tokens, `${TOKEN},bench,bench,"system:masters"\n`, { mode: 0o600 });
  const flags = ["--token-auth-file", tokens];
  const cluster = await startClusterProcess(join(folder, "data"), { store: "file", nodes: 0, flags });
  const targets = Math.max(TARGETS, Math.ceil(pods / SPREAD));
  try {
    await makeNamespaces(cluster);
    const emptyMb = cluster.memoryMb();
    for (let n = 0; n < SPREAD; n++) {
      const count = n === 0 ? targets : Math.ceil(pods / SPREAD);
      const namespace = `bench-${String(n)}`;
      context.progress(`growth: ${String(count)} pods in ${namespace}`);
      const path = `/api/v1/namespaces/${namespace}/pods`;
      await fill(cluster, count, (i) => ({ path, body: podBody(`pod-${String(i)}`, i) }));
    }
    return { ...cluster, folder, pods, targets, emptyMb };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

async function makeNamespaces(cluster: ClusterProcess): Promise<void> {
  const names = [...Array.from({ length: SPREAD }, (_, n) => `bench-${String(n)}`), CREATED, WATCHED];
  const named = (kind: string, name: string): string =>
    JSON.stringify({ apiVersion: "v1", kind, metadata: { name } });
  const accept = [201, 409];
  const nameOf = (n: number): string => names[n] ?? "";
  await fill(cluster, names.length, (n) => ({
    path: "/api/v1/namespaces",
    body: named("Namespace", nameOf(n)),
    accept,
  }));
  // A pod needs the account of its namespace. Its controller may be earlier.
  await fill(cluster, names.length, (n) => ({
    path: `/api/v1/namespaces/${nameOf(n)}/serviceaccounts`,
    body: named("ServiceAccount", "default"),
    accept,
  }));
}

interface Item {
  readonly path: string;
  readonly body: string;
  /** Expected status codes. */
  readonly accept?: readonly number[];
}

/** Creates objects through the API, many at once. */
export async function fill(
  cluster: ClusterProcess,
  count: number,
  itemOf: (n: number) => Item,
): Promise<void> {
  let next = 0;
  const run = async (): Promise<void> => {
    const socket = await dial(cluster.port, cluster.credentials);
    const answers = new Answers(socket);
    while (next < count) {
      const n = next++;
      const { accept = [201], ...item } = itemOf(n);
      const code = await answers.send(requestBytes(requestOf(cluster, { ...item, method: "POST" }), n));
      if (!accept.includes(code)) throw new Error(`creating ${item.path} answered ${String(code)}`);
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: Math.min(FILLERS, count) }, run));
}

export type Load = Pick<LoadArgument, "path" | "body" | "objects" | "first"> & {
  readonly what: string;
  readonly method?: string;
  readonly type?: string;
  readonly connections?: number;
  readonly seconds?: number;
  /** Whether the load begins with requests that are not counted. */
  readonly isWarm?: boolean;
};

function requestOf(
  { port, credentials }: ClusterProcess,
  { method = "GET", type = "application/json", connections = 1, seconds = 0, ...load }: Omit<Load, "what">,
): LoadArgument {
  const headers = load.body === undefined ? {} : { "content-type": type };
  return { ...credentials, port, method, headers, connections, seconds, ...load };
}

/** A pod of about 2 KB once the server has defaulted it and recorded who owns its fields. */
export function podBody(name: string, slice: number | string): string {
  const env = Array.from({ length: 5 }, (_, n) => ({
    name: `VARIABLE_${String(n)}`,
    value: "a value of ordinary length",
  }));
  const resources = { requests: { cpu: "10m", memory: "16Mi" } };
  const ports = [{ containerPort: 8080 }];
  const container = { name: "main", image: "registry.example/app:1.2.3", env, ports, resources };
  const label = typeof slice === "number" ? String(slice % SLICES) : slice;
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels: { app: "bench", tier: "web", slice: label } },
    spec: { schedulerName: "none", containers: [container] },
  });
}

/** Measures one kind of request. CPU is that of the server process over the requests that were counted. */
export async function measure(
  context: SurveyContext,
  cluster: GrowthCluster,
  { what, isWarm = false, ...load }: Load,
): Promise<Figure> {
  context.progress(`growth: ${what} beside ${sizeOf(cluster)} pods`);
  const request = requestOf(cluster, { seconds: context.options.isQuick ? 2 : 4, ...load });
  const figures = hasWrk()
    ? await wrkFigures(cluster, request, isWarm)
    : ((await context.child("api-load", { ...request, serverPid: cluster.pid })) as LoadFigures);
  const { answered, rate, p50Ms, p99Ms, maxMs, serverCpuMs } = figures;
  const cpuUs = (serverCpuMs / answered) * 1000;
  return { what, at: sizeOf(cluster), cpuUs, perSecond: rate, p50Ms, p99Ms, maxMs };
}

export function sizeOf({ pods }: GrowthCluster): string {
  return pods.toLocaleString("en-US");
}

async function wrkFigures(
  cluster: GrowthCluster,
  request: LoadArgument,
  isWarm: boolean,
): Promise<Omit<LoadFigures, "clientShare">> {
  const { first = 0, connections, seconds } = request;
  let sent = 0;
  const run = async (forSeconds: number): ReturnType<typeof runWrk> => {
    const numbered = { ...request, token: TOKEN, first: first + sent, seconds: forSeconds };
    const figures = await runWrk(cluster.folder, numbered);
    // Requests in flight at the end were sent without being counted.
    sent += figures.answered + connections;
    return figures;
  };
  if (!isWarm) await run(WARM_UP_SECONDS);
  const cpu = cpuMsOf(cluster.pid);
  const { ms, ...figures } = await run(seconds);
  const serverCpuMs = cpuMsOf(cluster.pid) - cpu;
  return { ...figures, rate: (figures.answered / ms) * 1000, serverCpuMs };
}
