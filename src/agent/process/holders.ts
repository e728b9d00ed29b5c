/** Holders of namespaces: small processes that live on without the agent, and end when it does not come back. */
import { spawn } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Loop } from "../../base/loop/loop.ts";
import { commandEnvironment } from "./command-environment.ts";
import { findProcess, isAlive, signalGroup, type ProcessIdentity } from "./process-table.ts";
import { readIdentity, writeWhole } from "./run-folder.ts";

export interface HoldersOptions {
  readonly loop: Loop;
  /** The script `HOLDER` in a file. */
  readonly script: string;
  /** File that names the process of the agent. */
  readonly agentFile: string;
  /** Time after which holders without an agent end their pods. */
  readonly patience: Patience;
}

export interface Patience {
  readonly lookSeconds: number;
  readonly looks: number;
}

/** Ten minutes: long enough for an upgrade of the machine's Node.js. */
export const DEFAULT_PATIENCE: Patience = { lookSeconds: 60, looks: 10 };

export interface HolderStart {
  /** Words that bring the holder into namespaces that it shares with others. */
  readonly enter?: readonly string[];
  /** Options of `unshare`; none shares the machine's namespaces. */
  readonly namespaces: readonly string[];
  /** Commands that run inside first. */
  readonly script: string | undefined;
}

export class Holders {
  readonly #options: HoldersOptions;

  constructor(options: HoldersOptions) {
    this.#options = options;
  }

  isAlive(holder: ProcessIdentity): boolean {
    return isAlive(holder);
  }

  /** The holder of an earlier agent process; recognised by its start time and its arguments. */
  find(folder: string): ProcessIdentity | undefined {
    const known = readIdentity(join(folder, "holder"));
    if (known === undefined) return undefined;
    const row = findProcess(known.pid);
    return row?.start === known.start && row.arguments.includes(folder) ? known : undefined;
  }

  /** Rejects with the message of a failed command. */
  async start(folder: string, { enter = [], namespaces, script }: HolderStart): Promise<ProcessIdentity> {
    const { loop, agentFile, patience } = this.#options;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    rmSync(join(folder, "holder"), { force: true });
    if (script !== undefined) writeWhole(join(folder, "network.sh"), `${script}\n`);
    const token = loop.random("holders").uuid();
    const words = [
      "sh",
      this.#options.script,
      token,
      folder,
      agentFile,
      String(patience.lookSeconds),
      String(patience.looks),
    ];
    const unshare = namespaces.length === 0 ? [] : ["unshare", ...namespaces];
    const [program = "", ...args] = [...enter, ...unshare, ...words];
    const line = await loop.outside("holder", firstLine(program, args));
    const holder = readIdentity(join(folder, "holder"));
    if (line === "ready" && holder !== undefined) return holder;
    throw new Error(line.replace(/^failed /, "") || "the holder of the namespaces ended");
  }

  /** Resolves when it has ended. No-op without a holder. */
  async end(folder: string): Promise<void> {
    const holder = this.find(folder);
    if (holder === undefined) return;
    // Its group has the program by which it waits, which would keep the namespaces.
    signalGroup(holder.pid, "SIGKILL");
    await untilGone(this.#options.loop, holder);
  }
}

/** Time between two looks at a process that is about to end. */
const LOOK_MS = 5;

/** Resolves when the process has ended, which a signal or the kernel is bringing about. */
function untilGone(loop: Loop, identity: ProcessIdentity): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (isAlive(identity)) loop.timer(loop.now() + LOOK_MS, "progress", look);
      else resolve();
    };
    look();
  });
}

/** Output up to the end of the stream or the first line. */
function firstLine(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      ...{ detached: true, cwd: "/", env: commandEnvironment() },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    let errors = "";
    const settle = (text: string): void => {
      child.stdout.destroy();
      child.stderr.destroy();
      resolve(text.trim());
    };
    child.stdout.on("data", (chunk) => {
      output += String(chunk);
      if (output === "ready\n") settle(output);
    });
    child.stderr.on("data", (chunk) => (errors += String(chunk)));
    child.once("error", (error) => settle(error.message));
    child.once("close", () => settle(output === "" ? errors : output));
    child.unref();
  });
}
