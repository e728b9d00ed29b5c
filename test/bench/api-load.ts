/**
 * The API server under load over HTTPS: GET, LIST, durable create, merge patch, apply, start and idle. A separate process makes the load; a
 * run says so when the client's core is busier than the server's.
 */
import {
  besideBare,
  bound,
  CLIENTS,
  JSON_BODY,
  load,
  PATH,
  PODS,
  podText,
  prepare,
  send,
} from "./api-cluster.ts";
import type { Load, Measured } from "./api-cluster.ts";
import { startClusterProcess } from "./cluster-process.ts";
import type { ClusterProcess } from "./cluster-process.ts";
import type { Protocol } from "./http-load.ts";
import { verdict, whole } from "./row.ts";
import type { Bench, BenchContext, Row } from "./row.ts";

/** A running cluster and its data dir. */
interface Served {
  readonly context: BenchContext;
  readonly cluster: ClusterProcess;
  readonly dataDir: string;
}

async function getRow({ context, cluster, dataDir }: Served): Promise<Row> {
  const path = `${PATH}/pod-1`;
  const body = await send(cluster, { method: "GET", path });
  const own = await load(context, cluster, { method: "GET", path });
  const bare = await besideBare({ dataDir, body }, (port) =>
    load(context, { ...cluster, port }, { method: "GET", path }),
  );
  const ratio = own.rate / bare.rate;
  const what = `GET one pod of ${whole(body.length)} bytes, ${String(CLIENTS)} clients`;
  const value = `${whole(own.rate)}/s, p99 ${own.p99Ms.toFixed(1)} ms`;
  return {
    what,
    value,
    yardstick: `bare node:https ${whole(bare.rate)}/s`,
    figure: ratio.toFixed(2),
    aim: "≥ 0.7",
    verdict: bound(own, ratio >= 0.7),
  };
}

async function listRow({ context, cluster, dataDir }: Served): Promise<Row> {
  const request = { method: "GET", path: PATH, connections: 1 };
  const body = await send(cluster, request);
  const own = await load(context, cluster, request);
  const bare = await besideBare({ dataDir, body }, (port) => load(context, { ...cluster, port }, request));
  const ratio = own.p50Ms / bare.p50Ms;
  const megabytes = body.length / 1e6;
  const value = `${own.p50Ms.toFixed(0)} ms`;
  return {
    what: `LIST ${whole(PODS)} pods, ${megabytes.toFixed(1)} MB`,
    value,
    yardstick: `the same bytes from bare node:https ${bare.p50Ms.toFixed(0)} ms`,
    figure: `${ratio.toFixed(2)} ×`,
    aim: "≤ 2 ×",
    verdict: verdict(ratio <= 2),
  };
}

/** Reads of single objects beside one client that lists everything again and again. */
async function besideListRow({ context, cluster }: Served): Promise<Row> {
  const [gets] = await Promise.all([
    load(context, cluster, { method: "GET", path: `${PATH}/pod-1`, connections: 4 }),
    load(context, cluster, { method: "GET", path: PATH, connections: 1 }),
  ]);
  const value = `p50 ${gets.p50Ms.toFixed(1)} ms, p99 ${gets.p99Ms.toFixed(1)} ms`;
  return {
    what: `GET beside a LIST of ${whole(PODS)} pods that never ends, 4 clients`,
    value,
    yardstick: "–",
    figure: `${gets.p99Ms.toFixed(1)} ms`,
    aim: "p99 ≤ 10 ms",
    verdict: verdict(gets.p99Ms <= 10),
  };
}

/** The same over HTTP/2, with HTTP/1.1 as the yardstick: the choice of protocol should not matter much. */
async function http2Rows({ context, cluster }: Served): Promise<Row[]> {
  const each = async (what: string, requests: (protocol: Protocol) => Load): Promise<Row> => {
    const first = await load(context, cluster, requests("http/1.1"));
    const own = await load(context, cluster, requests("h2"));
    const ratio = own.rate / first.rate;
    return {
      what: `${what} on HTTP/2`,
      value: `${whole(own.rate)}/s, p99 ${own.p99Ms.toFixed(1)} ms`,
      yardstick: `HTTP/1.1 ${whole(first.rate)}/s`,
      figure: ratio.toFixed(2),
      aim: "≥ 0.7",
      verdict: bound(own, ratio >= 0.7),
    };
  };
  return [
    await each(`GET one pod, ${String(CLIENTS)} clients`, (protocol) => ({
      method: "GET",
      path: `${PATH}/pod-1`,
      protocol,
    })),
    await each(`LIST ${whole(PODS)} pods, one client`, (protocol) => ({
      method: "GET",
      path: PATH,
      connections: 1,
      protocol,
    })),
    await each(`durable create, ${String(CLIENTS)} clients`, (protocol) => ({
      ...createLoad(protocol === "h2" ? "second" : "first"),
      protocol,
    })),
  ];
}

function createLoad(prefix: string): Load {
  return { method: "POST", path: PATH, headers: JSON_BODY, body: podText(`${prefix}-%n`) };
}

async function writeRows({ context, cluster }: Served, memoryRate: number): Promise<Row[]> {
  const create = await load(context, cluster, createLoad("new"));
  const patch = await load(context, cluster, {
    method: "PATCH",
    path: `${PATH}/new-%n`,
    objects: create.answered,
    headers: { "content-type": "application/merge-patch+json" },
    body: '{"metadata":{"labels":{"round":"%n"}}}',
  });
  const apply = await load(context, cluster, {
    method: "PATCH",
    path: `${PATH}/new-%n?fieldManager=bench&force=true`,
    objects: create.answered,
    headers: { "content-type": "application/apply-patch+yaml" },
    body: '{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"applied":"%n"}}}',
  });
  const row = (what: string, own: Measured, [yardstick, ratio]: readonly [string, number]): Row => ({
    what: `${what}, ${String(CLIENTS)} clients`,
    value: `${whole(own.rate)}/s, p99 ${own.p99Ms.toFixed(0)} ms`,
    yardstick,
    figure: ratio.toFixed(2),
    aim: "≥ 0.7",
    verdict: bound(own, ratio >= 0.7),
  });
  const created = `durable create ${whole(create.rate)}/s`;
  return [
    row("durable create", create, [`memory engine ${whole(memoryRate)}/s`, create.rate / memoryRate]),
    row("merge patch, durable", patch, [created, patch.rate / create.rate]),
    row("server-side apply, durable", apply, [created, apply.rate / create.rate]),
  ];
}

async function memoryCreateRate(context: BenchContext): Promise<number> {
  const cluster = await startClusterProcess(context.folder(), { store: "memory" });
  try {
    await prepare(cluster, 0);
    return (await load(context, cluster, createLoad("new"))).rate;
  } finally {
    await cluster.stop();
  }
}

/** Start-up work is over by then, including V8's garbage collection up to 16 seconds later. */
const SETTLE_MS = 20_000;
const IDLE_MS = 10_000;
/** Default of `setpoint up`. */
const NODES = 3;

async function startRows(context: BenchContext): Promise<Row[]> {
  const dataDir = context.folder();
  const options = { store: "file", nodes: NODES } as const;
  const first = await startClusterProcess(dataDir, options);
  await first.stop();
  const again = await startClusterProcess(dataDir, options);
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const cpu = again.cpuMs();
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const share = (again.cpuMs() - cpu) / IDLE_MS;
  const memory = again.memoryMb();
  await again.stop();
  const row = (what: string, value: string, [aim, isMet]: readonly [string, boolean]): Row => ({
    what,
    value,
    yardstick: "–",
    figure: value,
    aim,
    verdict: verdict(isMet),
  });
  return [
    row("first start to ready", `${whole(first.readyMs)} ms`, ["≤ 700 ms", first.readyMs <= 700]),
    row("start with a data dir to ready", `${whole(again.readyMs)} ms`, ["≤ 400 ms", again.readyMs <= 400]),
    row("idle: memory", `${whole(memory)} MB`, ["≤ 110 MB", memory <= 110]),
    row("idle: CPU", `${(share * 100).toFixed(2)} %`, ["≤ 0.5 %", share <= 0.005]),
  ];
}

export const apiLoad: Bench = {
  name: "api",
  async run(context) {
    context.progress("api: starting and idling");
    const starts = await startRows(context);
    context.progress("api: create with the memory engine");
    const memoryRate = await memoryCreateRate(context);
    const dataDir = context.folder();
    const cluster = await startClusterProcess(dataDir, { store: "file" });
    try {
      context.progress(`api: writing ${whole(PODS)} pods`);
      await prepare(cluster, PODS);
      const served = { context, cluster, dataDir };
      context.progress("api: GET and LIST");
      const reads = [await getRow(served), await listRow(served), await besideListRow(served)];
      context.progress("api: create, patch, apply");
      const writes = await writeRows(served, memoryRate);
      context.progress("api: HTTP/2");
      return [...reads, ...writes, ...(await http2Rows(served)), ...starts];
    } finally {
      await cluster.stop();
    }
  },
};
