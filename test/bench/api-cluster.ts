/** Objects, load and yardstick (a bare server) that the API rows share. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import type { BareServerArgument } from "./bare-server.ts";
import type { ClusterProcess } from "./cluster-process.ts";
import { Answers, dial, requestBytes } from "./http-load.ts";
import type { LoadArgument, LoadFigures } from "./http-load.ts";
import { verdict } from "./row.ts";
import type { BenchContext, Row } from "./row.ts";

export const CLIENTS = 64;
const SECONDS = 3;
export const PODS = 5000;
export const PATH = "/api/v1/namespaces/default/pods";

/** A pod of about 4 KB once the server has defaulted it and recorded who owns its fields. */
export function podText(name: string): string {
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

export interface Measured extends LoadFigures {
  readonly serverShare: number;
}

export type Load = Pick<LoadArgument, "method" | "path" | "headers" | "body" | "protocol"> &
  Partial<Pick<LoadArgument, "connections" | "objects" | "seconds">>;

export async function load(context: BenchContext, cluster: ClusterProcess, request: Load): Promise<Measured> {
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

export async function send(cluster: ClusterProcess, request: Load): Promise<Buffer> {
  const socket = await dial(cluster.port, cluster.credentials);
  const pieces: Buffer[] = [];
  socket.on("data", (piece: Buffer) => pieces.push(piece));
  const argument = { connections: 1, seconds: 0, port: cluster.port, ...cluster.credentials, ...request };
  await new Answers(socket).send(requestBytes(argument, 0));
  socket.destroy();
  const answer = Buffer.concat(pieces);
  return answer.subarray(answer.indexOf("\r\n\r\n") + 4);
}

export const JSON_BODY = { "content-type": "application/json" };

/** The server accepts pods only if their service account exists. */
const ACCOUNT = JSON.stringify({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } });

/** Creates this many pods. */
export async function prepare(cluster: ClusterProcess, count: number): Promise<void> {
  const socket = await dial(cluster.port, cluster.credentials);
  const answers = new Answers(socket);
  const base = { connections: 1, seconds: 0, port: cluster.port, ...cluster.credentials, headers: JSON_BODY };
  const accounts = "/api/v1/namespaces/default/serviceaccounts";
  await answers.send(requestBytes({ ...base, method: "POST", path: accounts, body: ACCOUNT }, 0));
  for (let n = 0; n < count; n++) {
    const request = { ...base, method: "POST", path: PATH, body: podText(`pod-${String(n)}`) };
    const code = await answers.send(requestBytes(request, n));
    if (code !== 201) throw new Error(`creating a pod answered ${String(code)}`);
  }
  socket.destroy();
}

export interface Bare {
  readonly dataDir: string;
  readonly body: Buffer;
  readonly momentMs?: number;
}

/** Runs `use` beside a bare server that answers the same bytes. */
export async function besideBare<T>(
  { dataDir, body, momentMs = 0 }: Bare,
  use: (port: number) => Promise<T>,
): Promise<T> {
  const argument: BareServerArgument = { dataDir, body: body.toString("base64"), momentMs };
  const args = [fileURLToPath(import.meta.url), "--child", "bare-server", "--argument-stdin"];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(JSON.stringify(argument));
  try {
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    return await use(Number(line.toString()));
  } finally {
    child.kill();
  }
}

export function bound({ clientShare, serverShare }: Measured, isMet: boolean): Row["verdict"] {
  return clientShare > serverShare ? "client-bound" : verdict(isMet);
}
