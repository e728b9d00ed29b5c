/**
 * Records which process runs the cluster of a data dir: written while it runs, removed when it ends. A record counts
 * only while that very process lives, so one left by a killed process is ignored.
 */
import { execFile } from "node:child_process";
import { readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { isJsonObject, type JsonObject } from "../../api/json/json-object.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { createFile, findFile, replaceFile } from "../../server/pki/files.ts";
import type { StoreOptions } from "../options.ts";

export interface RunRecord {
  readonly pid: number;
  /** Start time of the process, as the system reports it. A later process with the same pid has another one. */
  readonly begun: string;
  readonly store: StoreOptions["type"];
  /** URL of the server; absent until the server is ready. So is `kubeconfig`. */
  readonly server?: string;
  readonly kubeconfig?: string;
  /** Name of the cluster. */
  readonly name?: string;
  /** Path of the user's kubeconfig that may have the context. */
  readonly mergedInto?: string;
}

/** Writes the record of this process. Rejects when another process runs a cluster in the data dir. */
export async function claimDataDir(
  dataDir: string,
  claim: Pick<RunRecord, "store" | "name" | "mergedInto">,
  loop: Loop,
): Promise<RunRecord> {
  const record: RunRecord = { pid: process.pid, begun: await findStartPoint(process.pid, loop), ...claim };
  const text = `${JSON.stringify(record)}\n`;
  for (;;) {
    await refuseSecondProcess(dataDir, loop);
    await removeStale(dataDir, loop);
    // If two processes claim at once, the one that creates the file wins.
    if ((await createFile({ path: pathOf(dataDir), text, mode: 0o600, loop })) === text) return record;
  }
}

/** Moves the record of a dead process away. A live one that was written meanwhile is put back. */
async function removeStale(dataDir: string, loop: Loop): Promise<void> {
  const path = pathOf(dataDir);
  const moved = `${path}.${loop.random("stale").uuid()}`;
  try {
    await loop.outside("file", rename(path, moved));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
    throw error;
  }
  const record = parseRecord(await findFile(moved, loop));
  const isLive = record !== undefined && record.pid !== process.pid && (await isAlive(record, loop));
  if (isLive) await loop.outside("file", rename(moved, path));
  else await loop.outside("file", rm(moved, { force: true }));
}

/** Rejects when another process runs a cluster in the data dir. */
export async function refuseSecondProcess(dataDir: string, loop: Loop): Promise<void> {
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

/** The record of the last process that did not end cleanly, or that runs. */
export async function findRecord(dataDir: string, loop: Loop): Promise<RunRecord | undefined> {
  return parseRecord(await findFile(pathOf(dataDir), loop));
}

/** Undefined when no process runs a cluster there. */
export async function findRunning(dataDir: string, loop: Loop): Promise<RunRecord | undefined> {
  const record = await findRecord(dataDir, loop);
  return record !== undefined && (await isAlive(record, loop)) ? record : undefined;
}

/** Whether the recorded process still runs. */
export async function isAlive({ pid, begun }: RunRecord, loop: Loop): Promise<boolean> {
  return isThere(pid) && (await findStartPoint(pid, loop)) === begun;
}

function pathOf(dataDir: string): string {
  return join(dataDir, "running.json");
}

/** Undefined for a torn or foreign file. */
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
  return isRecord ? (value as JsonObject & RunRecord) : undefined;
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM means that the process exists and belongs to another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Empty when the process no longer exists, and where the system does not report a start time. */
async function findStartPoint(pid: number, loop: Loop): Promise<string> {
  try {
    if (process.platform === "linux") return await loop.outside("file", linuxBeginning(pid));
    if (process.platform === "win32") return "";
    const command = promisify(execFile)("ps", ["-o", "lstart=", "-p", String(pid)]);
    return (await loop.outside("process", command)).stdout.trim();
  } catch {
    return "";
  }
}

/**
 * Boot id and start time in ticks since that boot. Fields are counted from the last `)`, since the program's name may
 * contain anything.
 */
async function linuxBeginning(pid: number): Promise<string> {
  const [stat, boot] = await Promise.all([
    readFile(`/proc/${String(pid)}/stat`, "utf8"),
    readFile("/proc/sys/kernel/random/boot_id", "utf8"),
  ]);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // A zombie has ended. Its parent may never reap it, for example in a container.
  if (fields[0] === "Z") return "";
  return `${boot.trim()}/${fields[19] ?? ""}`;
}
