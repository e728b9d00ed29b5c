/** A cluster, or its server alone, as a process of its own. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { createInterface } from "node:readline";
import type { Credentials } from "./http-load.ts";

export interface ClusterProcess {
  readonly port: number;
  readonly credentials: Credentials;
  /** Time from the start of the process until it reports that it is ready. */
  readonly readyMs: number;
  /** Resident memory of the process in MB. */
  memoryMb(): number;
  /** CPU time that the process has used so far. */
  cpuMs(): number;
  stop(): Promise<void>;
}

const CLI = new URL("../../dist/cli.js", import.meta.url);
/** Clock ticks per second in /proc. */
const TICKS = 100;

export interface ProcessOptions {
  readonly store: "file" | "memory";
  /** Number of simulated nodes, with all controllers; without it, the server alone. */
  readonly nodes?: number;
}

export async function startClusterProcess(
  dataDir: string,
  { store, nodes }: ProcessOptions,
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
  ];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const { server } = await readyEvent(child);
  const readyMs = performance.now() - startedAt;
  return {
    port: Number(new URL(server).port),
    credentials: credentialsOf(dataDir),
    readyMs,
    memoryMb: () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${String(child.pid)}/status`, "utf8"))?.[1]) / 1000,
    cpuMs: () => cpuOf(child),
    stop: async () => {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
    },
  };
}

async function readyEvent(child: ChildProcess): Promise<{ readonly server: string }> {
  if (child.stdout === null) throw new Error("the process has no output");
  for await (const line of createInterface(child.stdout)) {
    const event = JSON.parse(line) as { readonly event: string; readonly server: string };
    if (event.event === "ready") return event;
  }
  throw new Error("the cluster did not become ready");
}

function cpuOf(child: ChildProcess): number {
  const fields =
    readFileSync(`/proc/${String(child.pid)}/stat`, "utf8")
      .split(") ")[1]
      ?.split(" ") ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS;
}

function credentialsOf(dataDir: string): Credentials {
  const read = (name: string): string => readFileSync(join(dataDir, "pki", name), "utf8");
  return { ca: read("ca.crt"), cert: read("admin.crt"), key: read("admin.key") };
}
