/**
 * Says which process runs the cluster of a data dir: written while it runs, removed when it ends. One that a killed process left behind
 * means nothing, since a record counts only while that very process lives.
 */
import { execFile } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { isJsonObject } from "../../api/json/json-object.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { findFile, replaceFile } from "../../server/pki/files.ts";
import type { StoreOptions } from "../options.ts";

export interface RunRecord {
  readonly pid: number;
  /** When the process began, as the system says it: a later process with the same pid began at another time. */
  readonly begun: string;
  readonly store: StoreOptions["type"];
  /** Where it listens and how to get in; not there before it is ready. */
  readonly server?: string;
  readonly kubeconfig?: string;
}

/** Announces this process. Rejects when another one has announced itself and lives. */
export async function claimDataDir(
  dataDir: string,
  store: StoreOptions["type"],
  loop: Loop,
): Promise<RunRecord> {
  await refuseSecond(dataDir, loop);
  const record: RunRecord = { pid: process.pid, begun: await beginningOf(process.pid, loop), store };
  await writeRunFile(dataDir, record, loop);
  return record;
}

/** Rejects when another process has announced itself and lives. */
export async function refuseSecond(dataDir: string, loop: Loop): Promise<void> {
  const other = await findRunning(dataDir, loop);
  if (other === undefined || other.pid === process.pid) return;
  throw new Error(
    `process ${String(other.pid)} runs a cluster in ${dataDir}: end it with setpoint down --data-dir ${dataDir}, or choose another --data-dir`,
  );
}

export function writeRunFile(dataDir: string, record: RunRecord, loop: Loop): Promise<void> {
  const text = `${JSON.stringify(record)}\n`;
  return replaceFile({ path: pathOf(dataDir), text, mode: 0o600, loop });
}

export async function removeRunFile(dataDir: string, loop: Loop): Promise<void> {
  await loop.outside("file", rm(pathOf(dataDir), { force: true }));
}

/** Undefined when no process runs a cluster there. */
export async function findRunning(dataDir: string, loop: Loop): Promise<RunRecord | undefined> {
  const record = parseRecord(await findFile(pathOf(dataDir), loop));
  return record !== undefined && (await isAlive(record, loop)) ? record : undefined;
}

/** Whether the process of a record is still there. */
export async function isAlive({ pid, begun }: RunRecord, loop: Loop): Promise<boolean> {
  return isThere(pid) && (await beginningOf(pid, loop)) === begun;
}

function pathOf(dataDir: string): string {
  return join(dataDir, "running.json");
}

/** A torn or foreign file names nobody. */
function parseRecord(text: string | undefined): RunRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text ?? "null");
  } catch {
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  const { pid, begun } = value;
  const isRecord = Number.isInteger(pid) && Number(pid) > 0 && typeof begun === "string";
  return isRecord ? (value as unknown as RunRecord) : undefined;
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Somebody else's process is there too.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Empty when there is no such process any more, and where the system does not say. */
async function beginningOf(pid: number, loop: Loop): Promise<string> {
  try {
    if (process.platform === "linux") return await loop.outside("file", linuxBeginning(pid));
    if (process.platform === "win32") return "";
    const command = promisify(execFile)("ps", ["-o", "lstart=", "-p", String(pid)]);
    return (await loop.outside("process", command)).stdout.trim();
  } catch {
    return "";
  }
}

/** Ticks since the boot, of which each has an id. The name of the program, in parentheses, may hold anything, so fields are counted after it. */
async function linuxBeginning(pid: number): Promise<string> {
  const [stat, boot] = await Promise.all([
    readFile(`/proc/${String(pid)}/stat`, "utf8"),
    readFile("/proc/sys/kernel/random/boot_id", "utf8"),
  ]);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // It has ended, and whoever started it has not asked how: in a container nobody may ever do so.
  if (fields[0] === "Z") return "";
  return `${boot.trim()}/${fields[19] ?? ""}`;
}
