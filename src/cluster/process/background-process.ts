/** Starts the program again as a process that outlives this one. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import type { Loop } from "../../base/loop/loop.ts";
import { makeFolder } from "../../base/process/make-folder.ts";

export interface BackgroundProcess {
  readonly pid: number;
  /** Resolves with the exit code when it ends before this process does. */
  readonly ended: Promise<number>;
  /** Ends it. */
  kill(): void;
}

export interface BackgroundOptions {
  readonly programFile: string;
  readonly args: readonly string[];
  /** Path of the file that gets its output; its former content is lost. */
  readonly outputFile: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly loop: Loop;
}

export async function startInBackground(options: BackgroundOptions): Promise<BackgroundProcess> {
  const { programFile, args, outputFile, env, loop } = options;
  await loop.outside("file", makeFolder(dirname(outputFile), 0o700));
  const output = await loop.outside("file", open(outputFile, "w", 0o600));
  try {
    const child = spawn(process.execPath, [...process.execArgv, programFile, ...args], {
      // A process group of its own: Ctrl-C and a closed terminal do not reach it.
      detached: true,
      stdio: ["ignore", output.fd, output.fd],
      env,
    });
    const ended = once(child, "exit").then(([code]) => Number(code ?? 1));
    ended.catch(() => undefined);
    child.unref();
    if (child.pid === undefined) await once(child, "spawn");
    return { pid: child.pid ?? 0, ended, kill: () => void child.kill("SIGTERM") };
  } finally {
    await loop.outside("file", output.close());
  }
}
