/** A cluster, or its server alone, as a process of its own. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { createInterface } from "node:readline";
import type { Credentials } from "./http-load.ts";
import { cpuMsOf, memoryMbOf } from "./server-process.ts";

export interface ClusterProcess {
  readonly pid: number;
  readonly port: number;
  readonly credentials: Credentials;
  /** From the start of the process to its report that it is ready. */
  readonly readyMs: number;
  /** Resident memory of the process in MB. */
  memoryMb(): number;
  /** CPU time that the process has used so far. */
  cpuMs(): number;
  /** The end of its log, at most `LOG_CHARACTERS`. */
  log(): string;
  stop(): Promise<void>;
  /** Ends it with SIGKILL, as a power cut would. */
  kill(): Promise<void>;
}

const CLI = new URL("../../dist/cli.js", import.meta.url);
const LOG_CHARACTERS = 4 << 20;

export interface ProcessOptions {
  readonly store: "file" | "memory";
  /** Number of simulated nodes, with all controllers; without it, the server alone. */
  readonly nodes?: number;
  /** More flags of the command. */
  readonly flags?: readonly string[];
}

export async function startClusterProcess(
  dataDir: string,
  { store, nodes, flags = [] }: ProcessOptions,
): Promise<ClusterProcess> {
  const startedAt = performance.now();
  const args = [
    CLI.pathname,
    ...(nodes === undefined ? ["apiserver"] : ["up", "--nodes", String(nodes)]),
    "--data-dir",
    dataDir,
    "--store",
    store,
    "--listen",
    "127.0.0.1:0",
    "--json",
    ...flags,
  ];
  // The cluster must not appear in the kubeconfig of the user.
  const env = { ...process.env, HOME: dataDir, USERPROFILE: dataDir };
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], env });
  const log = logOf(child);
  const { pid } = child;
  if (pid === undefined) throw new Error(`could not start ${process.execPath}`);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  };
  const { server } = await readyEvent(child, log);
  return {
    pid,
    port: Number(new URL(server).port),
    credentials: credentialsOf(dataDir),
    readyMs: performance.now() - startedAt,
    memoryMb: () => memoryMbOf(pid),
    cpuMs: () => cpuMsOf(pid),
    log,
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
  };
}

/** Lines about long steps are figures, not messages: they are kept, the others are shown as well. */
function logOf(child: ChildProcess): () => string {
  let log = "";
  if (child.stderr === null) throw new Error("the process has no log");
  createInterface(child.stderr).on("line", (line) => {
    log = `${log}${line}\n`.slice(-LOG_CHARACTERS);
    if (!line.includes("blocked the event loop")) process.stderr.write(`${line}\n`);
  });
  return () => log;
}

async function readyEvent(child: ChildProcess, log: () => string): Promise<{ readonly server: string }> {
  if (child.stdout === null) throw new Error("the process has no output");
  for await (const line of createInterface(child.stdout)) {
    const event = JSON.parse(line) as { readonly event: string; readonly server: string };
    if (event.event === "ready") return event;
  }
  throw new Error(`the cluster did not become ready: ${log().slice(-500)}`);
}

function credentialsOf(dataDir: string): Credentials {
  const read = (name: string): string => readFileSync(join(dataDir, "pki", name), "utf8");
  return { ca: read("ca.crt"), cert: read("admin.crt"), key: read("admin.key") };
}
