/** Cost of thousands of custom kinds: time until the server is ready again, and memory while no client uses them. */
import { request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { startClusterProcess } from "./cluster-process.ts";
import type { ClusterProcess } from "./cluster-process.ts";
import { percentile, verdict, whole } from "./row.ts";
import type { Bench, BenchContext, Row } from "./row.ts";

const KINDS = 2000;
const AT_ONCE = 16;
const STARTS = 3;
/** Start time with the kinds, divided by the time without them. */
const START_RATIO = 2;
/** Memory of a kind without clients. */
const KIND_KB = 50;

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** About as large as definitions of real operators: a hundred fields, some with rules. */
function definition(n: number): object {
  const plural = `kind${n}s`;
  const group = `group${n % 100}.example.com`;
  const field = (at: number): object => ({
    type: "object",
    description: `Desired state of part ${at}, about as long as the descriptions of real operators.`,
    properties: {
      name: { type: "string", maxLength: 63, pattern: "^[a-z0-9-]+$" },
      replicas: { type: "integer", minimum: 0, default: 1 },
      limits: { type: "object", additionalProperties: { "x-kubernetes-int-or-string": true } },
    },
    "x-kubernetes-validations": [{ rule: "self.replicas >= 0", message: "must not be negative" }],
  });
  const properties = Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`part${at}`, field(at)]));
  const schema = { type: "object", properties: { spec: { type: "object", properties } } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, singular: `kind${n}`, kind: `Kind${n}`, listKind: `Kind${n}List` },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}

interface Reply {
  readonly status: number;
  readonly body: string;
}

function send(
  { port, credentials }: ClusterProcess,
  method: string,
  path: string,
  body = "",
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const options = { ...credentials, host: "127.0.0.1", port, method, path };
    const asked = request({ ...options, headers: { "content-type": "application/json" } }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(pieces).toString() }),
      );
      response.on("error", reject);
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

async function fill(server: ClusterProcess): Promise<void> {
  let next = 0;
  const run = async (): Promise<void> => {
    while (next < KINDS) {
      const { status, body } = await send(server, "POST", DEFINITIONS, JSON.stringify(definition(next++)));
      if (status !== 201) throw new Error(`a definition was answered with ${status}: ${body.slice(0, 200)}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
  // Definitions are established about in the order of their creation.
  for (let n = KINDS - 4 * AT_ONCE; n < KINDS; n++) await established(server, n);
}

const PATIENCE = 600;

async function established(server: ClusterProcess, n: number): Promise<void> {
  for (let tries = 0; tries < PATIENCE; tries++) {
    const { status } = await send(server, "GET", `/apis/group${n % 100}.example.com/v1/kind${n}s`);
    if (status === 200) return;
    await sleep(100);
  }
  throw new Error(`kind ${n} is not served after a minute`);
}

interface Start {
  readonly readyMs: number;
  readonly memoryMb: number;
  /** Time from the first request for a kind to its response. */
  readonly firstUseMs: number;
}

async function start(dataDir: string, path: string): Promise<Start> {
  const server = await startClusterProcess(dataDir, { store: "file" });
  try {
    const askedAt = performance.now();
    const { status } = await send(server, "GET", path);
    if (status !== 200) throw new Error(`${path} was answered with ${status}`);
    const firstUseMs = performance.now() - askedAt;
    // The server has read every definition by then.
    await send(server, "GET", "/apis");
    return { readyMs: server.readyMs, memoryMb: server.memoryMb(), firstUseMs };
  } finally {
    await server.stop();
  }
}

async function starts(dataDir: string, path: string): Promise<Start> {
  const found: Start[] = [];
  for (let n = 0; n < STARTS; n++) found.push(await start(dataDir, path));
  const median = (of: (each: Start) => number): number => percentile(found.map(of), 0.5);
  return {
    readyMs: median(({ readyMs }) => readyMs),
    memoryMb: median(({ memoryMb }) => memoryMb),
    firstUseMs: median(({ firstUseMs }) => firstUseMs),
  };
}

async function run(context: BenchContext): Promise<readonly Row[]> {
  const dataDir = context.folder();
  const first = await startClusterProcess(dataDir, { store: "file" });
  await first.stop();
  const without = await starts(dataDir, "/api/v1/namespaces");
  context.progress(`defining ${KINDS} kinds`);
  const server = await startClusterProcess(dataDir, { store: "file" });
  await fill(server);
  await server.stop();
  const filled = await starts(dataDir, "/apis/group7.example.com/v1/kind107s");
  const ratio = filled.readyMs / without.readyMs;
  const kindKb = ((filled.memoryMb - without.memoryMb) * 1000) / KINDS;
  const kinds = `${whole(KINDS)} custom kinds`;
  return [
    {
      what: `start of a server with ${kinds}`,
      value: `${whole(filled.readyMs)} ms, first use of one ${whole(filled.firstUseMs)} ms`,
      yardstick: `without them ${whole(without.readyMs)} ms`,
      figure: `${ratio.toFixed(2)} ×`,
      aim: `≤ ${START_RATIO} ×`,
      verdict: verdict(ratio <= START_RATIO),
    },
    {
      what: `memory of ${kinds} that nobody uses`,
      value: `${whole(filled.memoryMb)} MB`,
      yardstick: `without them ${whole(without.memoryMb)} MB`,
      figure: `${whole(kindKb)} KB each`,
      aim: `≤ ${KIND_KB} KB each`,
      verdict: verdict(kindKb <= KIND_KB),
    },
  ];
}

export const customKinds: Bench = { name: "custom-kinds", run };
