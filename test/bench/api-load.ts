/**
 * The API server under load over HTTPS: GET, LIST, durable create, merge patch, apply, start and idle. Load comes from a
 * process of its own; a run in which the client's core is busier than the server's says so.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { startClusterProcess } from "./cluster-process.ts";
import type { ClusterProcess } from "./cluster-process.ts";
import { Answers, dial, requestBytes } from "./http-load.ts";
import type { LoadArgument, LoadFigures } from "./http-load.ts";
import { verdict, whole } from "./row.ts";
import type { Bench, BenchContext, Row } from "./row.ts";

const CLIENTS = 64;
const SECONDS = 3;
const PODS = 5000;
const PATH = "/api/v1/namespaces/default/pods";

/** A pod of about 4 KB once the server has defaulted it and recorded who owns its fields. */
function podText(name: string): string {
  const env = Array.from({ length: 12 }, (_, n) => ({
    name: `VARIABLE_${String(n)}`,
    value: "a value of ordinary length",
  }));
  const container = {
    name: "main",
    image: "registry.example/app:1.2.3",
    env,
    ports: [{ containerPort: 8080 }],
  };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels: { app: "bench", tier: "web" } },
    spec: { containers: [container], nodeName: "node-1" },
  });
}

interface Measured extends LoadFigures {
  readonly serverShare: number;
}

type Load = Pick<LoadArgument, "method" | "path" | "headers" | "body"> & { readonly connections?: number };

async function load(context: BenchContext, cluster: ClusterProcess, request: Load): Promise<Measured> {
  const cpu = cluster.cpuMs();
  const startedAt = performance.now();
  const argument = {
    connections: CLIENTS,
    seconds: SECONDS,
    port: cluster.port,
    ...cluster.credentials,
    ...request,
  };
  const figures = (await context.child("api-load", argument)) as LoadFigures;
  const serverShare = (cluster.cpuMs() - cpu) / (performance.now() - startedAt);
  return { ...figures, serverShare };
}

async function send(cluster: ClusterProcess, request: Load): Promise<Buffer> {
  const socket = await dial(cluster.port, cluster.credentials);
  const pieces: Buffer[] = [];
  socket.on("data", (piece: Buffer) => pieces.push(piece));
  const argument = { connections: 1, seconds: 0, port: cluster.port, ...cluster.credentials, ...request };
  await new Answers(socket).send(requestBytes(argument, 0));
  socket.destroy();
  const answer = Buffer.concat(pieces);
  return answer.subarray(answer.indexOf("\r\n\r\n") + 4);
}

const JSON_BODY = { "content-type": "application/json" };

async function prepare(cluster: ClusterProcess): Promise<void> {
  const socket = await dial(cluster.port, cluster.credentials);
  const answers = new Answers(socket);
  const base = { connections: 1, seconds: 0, port: cluster.port, ...cluster.credentials, headers: JSON_BODY };
  for (let n = 0; n < PODS; n++) {
    const request = { ...base, method: "POST", path: PATH, body: podText(`pod-${String(n)}`) };
    const code = await answers.send(requestBytes(request, n));
    if (code !== 201) throw new Error(`creating a pod answered ${String(code)}`);
  }
  socket.destroy();
}

/** A bare server that answers the same bytes, for the time that `use` takes. */
async function besideBare<T>(dataDir: string, body: Buffer, use: (port: number) => Promise<T>): Promise<T> {
  const argument = JSON.stringify({ dataDir, body: body.toString("base64") });
  const args = [fileURLToPath(import.meta.url), "--child", "bare-https", "--argument-stdin"];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(argument);
  try {
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    return await use(Number(line.toString()));
  } finally {
    child.kill();
  }
}

function bound({ clientShare, serverShare }: Measured, isMet: boolean): Row["verdict"] {
  return clientShare > serverShare ? "client-bound" : verdict(isMet);
}

async function getRow(context: BenchContext, cluster: ClusterProcess, dataDir: string): Promise<Row> {
  const path = `${PATH}/pod-1`;
  const body = await send(cluster, { method: "GET", path });
  const own = await load(context, cluster, { method: "GET", path });
  const bare = await besideBare(dataDir, body, (port) =>
    load(context, { ...cluster, port }, { method: "GET", path }),
  );
  const ratio = own.rate / bare.rate;
  return {
    what: `GET one pod of ${whole(body.length)} bytes, ${String(CLIENTS)} clients`,
    value: `${whole(own.rate)}/s, p99 ${own.p99Ms.toFixed(1)} ms`,
    yardstick: `bare node:https ${whole(bare.rate)}/s`,
    figure: ratio.toFixed(2),
    aim: "≥ 0.7",
    verdict: bound(own, ratio >= 0.7),
  };
}

async function listRow(context: BenchContext, cluster: ClusterProcess, dataDir: string): Promise<Row> {
  const request = { method: "GET", path: PATH, connections: 1 };
  const body = await send(cluster, request);
  const own = await load(context, cluster, request);
  const bare = await besideBare(dataDir, body, (port) => load(context, { ...cluster, port }, request));
  const ratio = own.p50Ms / bare.p50Ms;
  return {
    what: `LIST ${whole(PODS)} pods, ${(body.length / 1e6).toFixed(1)} MB`,
    value: `${own.p50Ms.toFixed(0)} ms`,
    yardstick: `the same bytes from bare node:https ${bare.p50Ms.toFixed(0)} ms`,
    figure: `${ratio.toFixed(2)} ×`,
    aim: "≤ 2 ×",
    verdict: verdict(ratio <= 2),
  };
}

function createLoad(prefix: string): Load {
  return { method: "POST", path: PATH, headers: JSON_BODY, body: podText(`${prefix}-%n`) };
}

async function writeRows(context: BenchContext, cluster: ClusterProcess, memoryRate: number): Promise<Row[]> {
  const create = await load(context, cluster, createLoad("new"));
  const patch = await load(context, cluster, {
    method: "PATCH",
    path: `${PATH}/new-%n`,
    headers: { "content-type": "application/merge-patch+json" },
    body: '{"metadata":{"labels":{"round":"%n"}}}',
  });
  const apply = await load(context, cluster, {
    method: "PATCH",
    path: `${PATH}/new-%n?fieldManager=bench&force=true`,
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
  const cluster = await startClusterProcess(context.folder(), "memory");
  try {
    return (await load(context, cluster, createLoad("new"))).rate;
  } finally {
    await cluster.stop();
  }
}

const IDLE_MS = 5000;

async function startRows(context: BenchContext): Promise<Row[]> {
  const dataDir = context.folder();
  const first = await startClusterProcess(dataDir, "file");
  await first.stop();
  const again = await startClusterProcess(dataDir, "file");
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
    const cluster = await startClusterProcess(dataDir, "file");
    try {
      context.progress(`api: writing ${whole(PODS)} pods`);
      await prepare(cluster);
      context.progress("api: GET and LIST");
      const reads = [await getRow(context, cluster, dataDir), await listRow(context, cluster, dataDir)];
      context.progress("api: create, patch, apply");
      return [...reads, ...(await writeRows(context, cluster, memoryRate)), ...starts];
    } finally {
      await cluster.stop();
    }
  },
};
