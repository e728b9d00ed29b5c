/** Runs a command of the system to its end. */
import { spawn } from "node:child_process";
import type { Loop } from "../../base/loop/loop.ts";

export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Output beyond this is dropped. */
const MAX_OUTPUT = 64 * 1024;
const NOT_FOUND = 127;

/** A missing program ends with exit code 127, as in a shell. */
export function runCommand(loop: Loop, words: readonly string[], input = ""): Promise<CommandResult> {
  const [program = "", ...args] = words;
  const done = new Promise<CommandResult>((resolve) => {
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], cwd: "/" });
    const output = { stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"] as const)
      child[stream].on("data", (chunk) => {
        if (output[stream].length < MAX_OUTPUT) output[stream] += String(chunk);
      });
    child.once("error", (error) => resolve({ ...output, exitCode: NOT_FOUND, stderr: error.message }));
    child.once("close", (code) => resolve({ ...output, exitCode: code ?? NOT_FOUND }));
    // The command may end without reading its input.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
  return loop.outside("system command", done);
}
