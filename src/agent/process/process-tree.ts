/** The processes of one run of a container: found, signalled and killed, wherever they went. */
import { join } from "node:path";
import {
  findByEnvironment,
  findProcess,
  isAlive,
  listProcesses,
  sendSignal,
  type ProcessIdentity,
  type ProcessRow,
} from "./process-table.ts";
import { readFile, readIdentity, readProcess } from "./run-folder.ts";

/** Variable in the environment of processes that have no PID namespace, for those that leave their parents. */
export const RUN_VARIABLE = "SETPOINT_RUN";

export class ProcessTree {
  readonly #folder: string;
  readonly #token: string;
  readonly #hasNamespace: boolean;

  constructor(
    folder: string,
    { token, hasNamespace }: { readonly token: string; readonly hasNamespace: boolean },
  ) {
    this.#folder = folder;
    this.#token = token;
    this.#hasNamespace = hasNamespace;
  }

  /** The first process: the program, or the shell above it in a PID namespace. Undefined before and after its life. */
  findFirst(): ProcessIdentity | undefined {
    const first = readProcess(this.#folder);
    return first !== undefined && isAlive(first) ? first : undefined;
  }

  /** Undefined if it does not run. */
  findProgram(): ProcessIdentity | undefined {
    const first = this.findFirst();
    if (first === undefined || !this.#hasNamespace) return first;
    // Orphans become children of the first process too; the program is the oldest child.
    return childrenOf(first.pid).toSorted((a, b) => Number(a.start) - Number(b.start))[0];
  }

  /** Ids of the program and all processes below it. */
  processes(): readonly number[] {
    const first = this.findFirst();
    return first === undefined ? [] : [first, ...descendantsOf(first.pid)].map(({ pid }) => pid);
  }

  /** Kills all processes of the run, also before the program was started. */
  kill(): void {
    const first = this.findFirst();
    if (first === undefined) this.#killStarters();
    // The first process ends with the program's exit code, and takes everything else along.
    else if (this.#hasNamespace) sendSignal(this.findProgram() ?? first, "SIGKILL");
    if (this.#hasNamespace) return;
    const below = first === undefined ? [] : [first, ...descendantsOf(first.pid)];
    for (const process of below) sendSignal(process, "SIGKILL");
    this.killStrays();
  }

  /** Kills processes that outlived the program. With a PID namespace there are none. */
  killStrays(): void {
    if (this.#hasNamespace) return;
    for (const process of findByEnvironment(`${RUN_VARIABLE}=${this.#token}`)) sendSignal(process, "SIGKILL");
  }

  /** The shim and the commands that lead to the start script. */
  #killStarters(): void {
    const shim = readIdentity(join(this.#folder, "shim"));
    if (shim !== undefined) sendSignal(shim, "SIGKILL");
    const script = join(this.#folder, "start.sh");
    for (const row of listProcesses()) if (row.arguments.includes(script)) sendSignal(row, "SIGKILL");
  }
}

function childrenOf(pid: number): readonly ProcessRow[] {
  const listed = readFile(`/proc/${String(pid)}/task/${String(pid)}/children`);
  if (listed === undefined) return listProcesses().filter(({ parent }) => parent === pid);
  const pids = listed
    .trim()
    .split(" ")
    .map(Number)
    .filter((child) => child > 0);
  return pids.map(findProcess).filter((row) => row !== undefined);
}

function descendantsOf(pid: number): readonly ProcessRow[] {
  const rows = listProcesses();
  const found: ProcessRow[] = [];
  const parents = [pid];
  for (const parent of parents)
    for (const row of rows)
      if (row.parent === parent) {
        found.push(row);
        parents.push(row.pid);
      }
  return found;
}
