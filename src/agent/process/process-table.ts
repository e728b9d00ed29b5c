/** Processes of this machine. A process id alone identifies nothing: ids are used again. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { parsePsRows, PS_COLUMNS, type PsRow } from "./ps-rows.ts";

export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks since boot on Linux, a date elsewhere: differs for a later process with the same id. */
  readonly start: string;
}

export type ProcessRow = PsRow;

const HAS_PROC = process.platform === "linux";
/** Position of the start time behind the name in /proc/PID/stat. */
const START_FIELD = 19;

/** Undefined for a process that has ended, also if its parent did not notice yet. */
export function findProcess(pid: number): ProcessRow | undefined {
  if (!HAS_PROC) return listProcesses().find((row) => row.pid === pid);
  const fields = readStat(pid);
  if (fields === undefined) return undefined;
  const [parent = 0, group = 0] = fields.slice(1, 3).map(Number);
  const arguments_ = (readProc(pid, "cmdline") ?? "").replaceAll("\0", " ").trim();
  return { pid, start: fields[START_FIELD] ?? "", parent, group, arguments: arguments_ };
}

export function isSameProcess(one: ProcessIdentity, other: ProcessIdentity): boolean {
  return one.pid === other.pid && one.start === other.start;
}

/** Reads less than `findProcess`: the agent asks it of every shim every few seconds. */
export function isAlive({ pid, start }: ProcessIdentity): boolean {
  return (HAS_PROC ? readStat(pid)?.[START_FIELD] : findProcess(pid)?.start) === start;
}

export function listProcesses(): readonly ProcessRow[] {
  if (!HAS_PROC) return listWithPs();
  const pids = readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0);
  return pids.map(findProcess).filter((row) => row !== undefined);
}

/** Processes whose environment has the entry, for example `SETPOINT_RUN=4f1c`. */
export function findByEnvironment(entry: string): readonly ProcessRow[] {
  if (!HAS_PROC) return listWithPs("-E").filter((row) => row.arguments.includes(entry));
  return listProcesses().filter(({ pid }) => (readProc(pid, "environ") ?? "").split("\0").includes(entry));
}

/** No-op for a process that has ended. Returns whether the signal was sent. */
export function sendSignal(identity: ProcessIdentity, signal: string): boolean {
  return isAlive(identity) && kill(identity.pid, signal);
}

/** The signal for all processes of a group. */
export function signalGroup(group: number, signal: string): boolean {
  return kill(-group, signal);
}

function kill(pid: number, signal: string): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
    throw error;
  }
}

/** Fields of /proc/PID/stat behind the name. Undefined for a process that has ended, also if its parent did not notice yet. */
function readStat(pid: number): readonly string[] | undefined {
  const stat = readProc(pid, "stat");
  // The name is in parentheses and may contain any character.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields?.[0] === "Z" || fields?.[0] === "X" ? undefined : fields;
}

/** Undefined if the process is gone or belongs to another user. */
function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${String(pid)}/${file}`, "latin1");
  } catch (error) {
    if (error instanceof Error && "code" in error) return undefined;
    throw error;
  }
}

function listWithPs(...options: readonly string[]): readonly ProcessRow[] {
  const env = { ...process.env, LC_ALL: "C" };
  return parsePsRows(execFileSync("ps", ["-axww", ...options, "-o", PS_COLUMNS], { encoding: "utf8", env }));
}
