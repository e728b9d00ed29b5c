/**
 * Pod changes to many watchers over HTTPS, each on its own connection. The memory engine is measured too: one stall of half a second on a
 * shared disk would delay a tenth of the changes. The yardstick is a bare server that passes the same bytes on.
 */
import { performance } from "node:perf_hooks";
import { besideBare, PATH, prepare, send } from "./api-cluster.ts";
import { startClusterProcess } from "./cluster-process.ts";
import { verdict, whole } from "./row.ts";
import type { Bench, BenchContext, Row } from "./row.ts";
import type { WatchLoadArgument, WatchLoadFigures } from "./watch-load.ts";

const COUNTS = [200, 500] as const;
const DELIVERIES_AIM = 100_000;
/** Slightly above the target, so that a server that keeps up shows it. */
const OFFERED = 1.05 * DELIVERIES_AIM;
const P99_AIM_MS = 20;
const SECONDS = 5;
const OBJECTS = 1000;
/** Batching delay of the server for this many watchers. */
const MOMENT_MS: Readonly<Record<Watchers, number>> = { 200: 8, 500: 10 };

type Engine = "file" | "memory";
type Watchers = (typeof COUNTS)[number];

interface FanOut extends WatchLoadFigures {
  readonly serverShare: number;
  readonly bare: WatchLoadFigures;
}

async function fanOut(context: BenchContext, watchers: Watchers, store: Engine): Promise<FanOut> {
  const dataDir = context.folder();
  const cluster = await startClusterProcess(dataDir, { store });
  const loadAt = async (port: number, deliveries: number): Promise<WatchLoadFigures> => {
    const argument: WatchLoadArgument = {
      ...cluster.credentials,
      port,
      path: PATH,
      watchers,
      changesPerSecond: deliveries / watchers,
      seconds: SECONDS,
      objects: OBJECTS,
    };
    return (await context.child("watch-load", argument)) as WatchLoadFigures;
  };
  try {
    await prepare(cluster, OBJECTS);
    const body = await send(cluster, { method: "GET", path: `${PATH}/pod-1` });
    const [cpu, startedAt] = [cluster.cpuMs(), performance.now()];
    const figures = await loadAt(cluster.port, OFFERED);
    const serverShare = (cluster.cpuMs() - cpu) / (performance.now() - startedAt);
    const setting = { dataDir, body, momentMs: MOMENT_MS[watchers] };
    const bare = await besideBare(setting, (port) => loadAt(port, OFFERED));
    return { ...figures, serverShare, bare };
  } finally {
    await cluster.stop();
  }
}

function rowOf(watchers: Watchers, store: Engine, found: FanOut): Row {
  const { deliveriesPerSecond: rate, p99Ms, lost, clientShare, serverShare, bare } = found;
  const isMet = rate >= DELIVERIES_AIM && p99Ms <= P99_AIM_MS && lost === 0;
  const what = `changes of pods to ${String(watchers)} watchers`;
  return {
    what: store === "file" ? what : `${what}, memory engine`,
    value: `${whole(rate)} deliveries/s, ${delayOf(found)}, ${whole(lost)} lost`,
    yardstick: `bare node:https ${delayOf(bare)}; server at ${whole(serverShare * 100)} % of a core, client at ${whole(clientShare * 100)} %`,
    figure: whole(rate),
    aim: `≥ ${whole(DELIVERIES_AIM)}/s, p99 ≤ ${String(P99_AIM_MS)} ms, none lost`,
    verdict: clientShare > serverShare && !isMet ? "client-bound" : verdict(isMet),
  };
}

function delayOf({ p50Ms, p99Ms }: WatchLoadFigures): string {
  return `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`;
}

export const apiWatch: Bench = {
  name: "api-watch",
  async run(context) {
    const rows: Row[] = [];
    for (const store of ["file", "memory"] as const) {
      for (const watchers of COUNTS) {
        context.progress(`api-watch with ${String(watchers)} watchers, ${store} engine`);
        rows.push(rowOf(watchers, store, await fanOut(context, watchers, store)));
      }
    }
    return rows;
  },
};
