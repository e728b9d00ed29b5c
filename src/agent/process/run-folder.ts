/** Files of one run of a container, which a later agent process finds again. */
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isMissing } from "../logs/log-files.ts";
import type { ProcessIdentity } from "./process-table.ts";

/** Everything about a run that its files do not say otherwise. */
export interface RunRecord {
  readonly id: string;
  readonly name: string;
  readonly attempt: number;
  readonly imageId: string;
  /** In the arguments of the shim. */
  readonly token: string;
  readonly logPath: string;
  readonly stdin: boolean;
  readonly stdinOnce: boolean;
  readonly tty: boolean;
  /** Surroundings of the program, for programs that run beside it. */
  readonly surroundings: Surroundings;
}

export interface Surroundings {
  readonly env: readonly (readonly [string, string])[];
  readonly workingDir: string;
  readonly uid: number | undefined;
  readonly gid: number | undefined;
  readonly groups: readonly number[];
  /** In a user namespace: the user whom the program has outside and gets back. */
  readonly ownUser?: { readonly uid: number; readonly gid: number } | undefined;
  /** Options of `setpriv` that take rights from the program. A run of an earlier version has none. */
  readonly restrictions?: readonly string[];
  /** Files that a process writes itself into to join the container's cgroups. */
  readonly cgroupFiles: readonly string[];
  /** Resource limits as `prlimit` takes them. */
  readonly rlimits: readonly string[];
}

/** How the start script ended. */
export type StartState =
  | { readonly type: "started"; readonly process: ProcessIdentity; readonly at: number }
  | { readonly type: "failed"; readonly message: string };

export function writeRecord(folder: string, record: RunRecord): void {
  writeWhole(join(folder, "run.json"), JSON.stringify(record));
}

/** Undefined if the run was never written completely. */
export function readRecord(folder: string): RunRecord | undefined {
  const text = readFile(join(folder, "run.json"));
  return text === undefined ? undefined : (JSON.parse(text) as RunRecord);
}

/** Undefined while the start script works. */
export function readStart(folder: string): StartState | undefined {
  const path = join(folder, "state");
  const text = readFile(path) ?? "";
  const failure = /^failed (.*)\n/ms.exec(text)?.[1];
  if (failure !== undefined) return { type: "failed", message: failure.trim() };
  if (!/^started$/m.test(text)) return undefined;
  const process = readProcess(folder);
  return process === undefined ? undefined : { type: "started", process, at: statSync(path).mtimeMs };
}

/** The container's first process; undefined before the start script runs. */
export function readProcess(folder: string): ProcessIdentity | undefined {
  const [, pid, start = ""] = /^pid (\d+) (.*)$/m.exec(readFile(join(folder, "state")) ?? "") ?? [];
  return pid === undefined ? undefined : { pid: Number(pid), start };
}

/** A shim or a holder, from the file that it wrote. */
export function readIdentity(path: string): ProcessIdentity | undefined {
  const [, pid, start = ""] = /^(\d+) (.*)$/m.exec(readFile(path) ?? "") ?? [];
  return pid === undefined ? undefined : { pid: Number(pid), start };
}

/** Exit code and time; undefined while the program runs. */
export function readExit(folder: string): { readonly exitCode: number; readonly at: number } | undefined {
  const path = join(folder, "code");
  const text = readFile(path);
  return text === undefined ? undefined : { exitCode: Number(text), at: statSync(path).mtimeMs };
}

/** For a container whose shim was killed: its output ends, and later agents know. */
export function writeExit(folder: string, exitCode: number): void {
  writeWhole(join(folder, "code"), `${String(exitCode)}\n`);
}

/** Names in a folder; empty if there is none. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Replaces the file, so that a reader sees all of it or nothing. */
export function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

export function readFile(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
