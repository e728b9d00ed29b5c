/** Process pods: time to run, cost when idle, memory of their shims, throughput of their logs. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readdirSync } from "node:fs";
import { createServer, request, type RequestOptions } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { percentile, verdict, type Bench, type Row } from "./row.ts";

const PROGRAM = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const PODS = "/api/v1/namespaces/default/pods";
const PACE_MS = 100;
const TIMED = 100;
const IDLE_PODS = 200;
const IDLE_MS = 15_000;
const RUN_MS = 150;
const IDLE_PERCENT = 3;
const SHIM_MB = 1;
/** Below the size at which a log is rotated: kubectl shows one file. */
const LOG_BYTES = 8_000_000;
const LOG_READS = 5;
const LOG_SHARE = 0.5;
const TICKS_PER_SECOND = 100;

export const processPods: Bench = {
  name: "process-pods",
  async run(context) {
    if (process.platform !== "linux") return [];
    const server = await Server.start(context.folder());
    try {
      context.progress(`${TIMED} process pods at 10/s`);
      const running = await timeStarts(server);
      context.progress(`${IDLE_PODS} idle process pods`);
      for (let n = TIMED; n < IDLE_PODS; n++) await server.create(`pod-${n}`, "exec sleep 1000000");
      await server.untilRunning(IDLE_PODS);
      await sleep(5000);
      const idle = await idlePercent(server);
      const shim = shimMegabytes(server);
      context.progress("logs of a process pod");
      return [...rowsOf(running, idle, shim), await logRow(server)];
    } finally {
      await server.stop();
    }
  },
};

function rowsOf(running: readonly number[], idle: number, shim: number): readonly Row[] {
  const p99 = percentile(running, 0.99);
  const common = { yardstick: "–" };
  return [
    {
      ...common,
      what: "process pod, create to Running, 10/s",
      value: `p50 ${percentile(running, 0.5).toFixed(0)} ms`,
      figure: `p99 ${p99.toFixed(0)} ms`,
      aim: `≤ ${RUN_MS} ms`,
      verdict: verdict(p99 <= RUN_MS),
    },
    {
      ...common,
      what: `${IDLE_PODS} process pods idle, CPU with their shims`,
      value: `${idle.toFixed(1)} % of a core`,
      figure: `${idle.toFixed(1)} %`,
      aim: `≤ ${IDLE_PERCENT} %`,
      verdict: verdict(idle <= IDLE_PERCENT),
    },
    {
      ...common,
      what: "shim of a container, its own memory (PSS)",
      value: `${shim.toFixed(2)} MB`,
      figure: `${shim.toFixed(2)} MB`,
      aim: `≤ ${SHIM_MB} MB`,
      verdict: verdict(shim <= SHIM_MB),
    },
  ];
}

async function timeStarts(server: Server): Promise<readonly number[]> {
  const begun = new Map<string, number>();
  const begin = performance.now();
  for (let n = 0; n < TIMED; n++) {
    await sleep(Math.max(0, begin + n * PACE_MS - performance.now()));
    begun.set(`pod-${n}`, performance.now());
    await server.create(`pod-${n}`, "exec sleep 1000000");
  }
  await server.untilRunning(TIMED);
  return [...begun].map(([name, at]) => (server.running.get(name) ?? Number.NaN) - at);
}

async function idlePercent(server: Server): Promise<number> {
  const before = cpuTicks(server);
  await sleep(IDLE_MS);
  const ticks = cpuTicks(server) - before;
  return (ticks / TICKS_PER_SECOND / (IDLE_MS / 1000)) * 100;
}

/** CPU time of the cluster and of everything that belongs to its pods, with ended children. */
function cpuTicks(server: Server): number {
  const pids = [server.pid, ...processesOf(server.dataDir, "/process/")];
  const times = pids.map((pid) => {
    const text = readProc(pid, "stat");
    const [user = 0, system = 0, childUser = 0, childSystem = 0] = text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 15)
      .map(Number);
    return user + system + childUser + childSystem;
  });
  return sum(times);
}

/** A shim is a shell, its two copies that move output, and their `dd`. */
function shimMegabytes({ dataDir }: Server): number {
  const shells = processesOf(dataDir, "/scripts/shim.sh");
  const movers = pids().filter((pid) => readProc(pid, "cmdline").startsWith("dd\0bs=8192"));
  const bytes = [...shells, ...movers].map(
    (pid) => Number(/^Pss:\s+(\d+)/m.exec(readProc(pid, "smaps_rollup"))?.[1] ?? 0) * 1024,
  );
  return sum(bytes) / IDLE_PODS / 1e6;
}

async function logRow(server: Server): Promise<Row> {
  const line = "0123456789012345678901234567890123456789012345678901234567890123456789";
  await server.create("log", `yes ${line} | head -c ${LOG_BYTES}; echo; echo done; exec sleep 1000000`);
  const path = `${PODS}/log/log`;
  while (!(await server.read(path)).endsWith("done\n")) await sleep(200);
  const logs = await rate(() => server.read(path));
  const text = await server.read(path);
  const bare = createServer(server.tls(), (_request, response) => response.end(text)).listen(0, "127.0.0.1");
  await once(bare, "listening");
  const { port } = bare.address() as AddressInfo;
  const yardstick = await rate(() => server.read("/", port));
  bare.close();
  const share = logs / yardstick;
  return {
    what: "log of a process pod, 8 MB",
    value: `${logs.toFixed(0)} MB/s`,
    yardstick: `${yardstick.toFixed(0)} MB/s (the same text over TLS)`,
    figure: share.toFixed(2),
    aim: `≥ ${LOG_SHARE}`,
    verdict: verdict(share >= LOG_SHARE),
  };
}

/** The best of some reads, in megabytes a second. */
async function rate(read: () => Promise<string>): Promise<number> {
  const rates: number[] = [];
  for (let n = 0; n < LOG_READS; n++) {
    const begin = performance.now();
    const { length } = await read();
    rates.push(length / 1000 / (performance.now() - begin));
  }
  return Math.max(...rates);
}

class Server {
  readonly dataDir: string;
  /** Times at which pods were seen running, by name. */
  readonly running = new Map<string, number>();
  readonly #child: ChildProcess;
  readonly #port: number;

  private constructor(dataDir: string, child: ChildProcess, port: number) {
    this.dataDir = dataDir;
    this.#child = child;
    this.#port = port;
    this.#watch();
  }

  static async start(dataDir: string): Promise<Server> {
    const flags = [
      "--data-dir",
      dataDir,
      "--listen",
      "127.0.0.1:0",
      "--kubeconfig",
      join(dataDir, "user"),
      "--json",
    ];
    const child = spawn(process.execPath, [PROGRAM, "up", "--runtime", "process", ...flags], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    for await (const line of createInterface({ input: child.stdout })) {
      const { event, server = "" } = JSON.parse(line) as { readonly event: string; readonly server?: string };
      if (event === "ready") return new Server(dataDir, child, Number(new URL(server).port));
    }
    throw new Error("the cluster did not start");
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  tls(): { readonly cert: Buffer; readonly key: Buffer } {
    const pem = (name: string): Buffer => readFileSync(join(this.dataDir, "pki", name));
    return { cert: pem("apiserver.crt"), key: pem("apiserver.key") };
  }

  async create(name: string, script: string): Promise<void> {
    const container = { name: "main", image: "none", command: ["sh", "-c", script] };
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name }, spec: { containers: [container] } };
    await this.#ask({ method: "POST", path: PODS }, JSON.stringify(pod));
  }

  read(path: string, port = this.#port): Promise<string> {
    return this.#ask({ method: "GET", path, port });
  }

  async untilRunning(count: number): Promise<void> {
    while (this.running.size < count) await sleep(20);
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    await once(this.#child, "close");
  }

  #options(options: RequestOptions): RequestOptions {
    const pem = (name: string): Buffer => readFileSync(join(this.dataDir, "pki", name));
    const credentials = { ca: pem("ca.crt"), cert: pem("admin.crt"), key: pem("admin.key") };
    return { host: "127.0.0.1", port: this.#port, agent: false, ...credentials, ...options };
  }

  #ask(options: RequestOptions, body?: string): Promise<string> {
    const headers = { "content-type": "application/json" };
    return new Promise((resolve, reject) => {
      const sent = request(this.#options({ headers, ...options }), (response) => {
        const pieces: Buffer[] = [];
        response.on("data", (piece: Buffer) => pieces.push(piece));
        response.on("end", () => resolve(Buffer.concat(pieces).toString()));
      });
      sent.on("error", reject);
      sent.end(body);
    });
  }

  #watch(): void {
    const sent = request(this.#options({ path: `${PODS}?watch=true` }), (response) => {
      response.on("error", () => undefined);
      createInterface({ input: response }).on("line", (line) => {
        const { object } = JSON.parse(line) as {
          readonly object: {
            readonly metadata: { readonly name: string };
            readonly status: { readonly phase?: string };
          };
        };
        const { name } = object.metadata;
        if (object.status.phase === "Running" && !this.running.has(name))
          this.running.set(name, performance.now());
      });
    });
    sent.on("error", () => undefined);
    sent.end();
  }
}

function processesOf(dataDir: string, part: string): readonly number[] {
  return pids().filter((pid) =>
    readProc(pid, "cmdline").includes(`${dataDir}${part.startsWith("/process") ? "" : "/process"}${part}`),
  );
}

function pids(): readonly number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0);
}

/** Empty for a process that has ended. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}

function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
