/** Runs a program beside a container: in its namespaces and cgroups, with its user and environment. */
import { spawn, type ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { constants } from "node:os";
import { PassThrough, Readable, Writable } from "node:stream";
import { errorText } from "../../base/error-text.ts";
import type { ExecRequest, SessionEnd, StreamSession } from "../runtime-handler.ts";
import { commandEnvironment } from "./command-environment.ts";
import { signalGroup } from "./process-table.ts";
import type { RunRecord } from "./run-folder.ts";
import { besideScript } from "./start-script.ts";
import { openTerminal, type Terminal } from "./terminal.ts";

export interface ExecPlace {
  readonly record: RunRecord;
  /** Words that bring a command into the container's namespaces; none if it shares those of the machine. */
  readonly enter: readonly string[];
  /** Path for a new file, which lasts until it is read. */
  readonly scriptPath: string;
}

/** Options of `nsenter` for what a container does not share with its pod. */
export const CONTAINER_PLACE = ["--mount", "--pid", "--root"];

/** A shell reports a death by a signal as 128 plus its number. */
const SIGNAL_BASE = 128;

export function execBeside(place: ExecPlace, request: ExecRequest): StreamSession {
  return request.tty ? execOnTerminal(place, request) : execOnPipes(place, request);
}

function execOnPipes(place: ExecPlace, request: ExecRequest): StreamSession {
  const [program = "", ...args] = [...place.enter, ...RUN_SCRIPT];
  const child = spawn(program, args, {
    cwd: "/",
    env: commandEnvironment(),
    // Signals of the agent's terminal must not reach it, and it is killed as a group.
    detached: true,
    stdio: [
      request.stdin ? "pipe" : "ignore",
      request.stdout ? "pipe" : "ignore",
      request.stderr ? "pipe" : "ignore",
      "pipe",
      "pipe",
    ],
  });
  const script = child.stdio[4];
  if (script instanceof Writable) script.on("error", () => undefined).end(scriptOf(place, request.command));
  // A program may end without reading its input.
  child.stdin?.on("error", () => undefined);
  let isOver = false;
  child.once("close", () => (isOver = true));
  return {
    stdin: child.stdin ?? undefined,
    stdout: child.stdout ?? undefined,
    stderr: child.stderr ?? undefined,
    resize: () => undefined,
    ended: endOf(child),
    close: () => {
      if (isOver) return;
      if (child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
      // Processes that left the group may hold the other ends.
      for (const stream of child.stdio) stream?.destroy();
    },
  };
}

/** The script says on its third stream why the program could not be started. */
function endOf(child: ChildProcess): Promise<SessionEnd> {
  let problem = "";
  const problems = child.stdio[3];
  if (problems instanceof Readable) problems.on("data", (chunk) => (problem += String(chunk)));
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ type: "failed", message: error.message }));
    child.once("close", (code, signal) => {
      if (problem !== "") resolve({ type: "failed", message: problem.trim() });
      else resolve({ type: "exited", exitCode: code ?? SIGNAL_BASE + numberOf(signal) });
    });
  });
}

/** The terminal lives in the agent; it ends with it. */
function execOnTerminal(place: ExecPlace, request: ExecRequest): StreamSession {
  const [input, output] = [new PassThrough(), new PassThrough()];
  let size = { columns: 80, rows: 24 };
  let terminal: Terminal | undefined;
  let isClosed = false;
  const open = async (): Promise<SessionEnd> => {
    const words = [...OPEN_SCRIPT, place.scriptPath, ...place.enter, ...RUN_SCRIPT];
    writeFileSync(place.scriptPath, scriptOf(place, request.command, "exec 3>&2"), {
      mode: 0o600,
      flag: "wx",
    });
    const sizeThen = size;
    terminal = await openTerminal(words, sizeThen);
    // The client's window may be known only now.
    if (size !== sizeThen) terminal.resize(size);
    if (isClosed) terminal.kill();
    input.setEncoding("utf8");
    input.on("data", (text: string) => terminal?.write(text));
    input.once("end", () => terminal?.write(END_OF_INPUT));
    terminal.onOutput((text) => output.write(text));
    return { type: "exited", exitCode: await terminal.exited };
  };
  const ended = open().catch((error: unknown): SessionEnd => ({ type: "failed", message: errorText(error) }));
  void ended.then(() => output.end());
  return {
    stdin: request.stdin ? input : undefined,
    stdout: output,
    stderr: undefined,
    resize: (wanted) => {
      size = wanted;
      terminal?.resize(wanted);
    },
    ended,
    close: () => {
      isClosed = true;
      terminal?.kill();
    },
  };
}

/** Ctrl-D: a terminal has no other end of input. */
const END_OF_INPUT = "\u0004";

/**
 * The script has the container's variables, and every user of the machine can read the arguments of a process: the
 * shell gets the script on a stream.
 */
const RUN_SCRIPT = ["sh", "-c", 'eval "$(cat <&4)"'];
/** A terminal has no fourth stream: the script is a file that is opened outside the namespaces. */
const OPEN_SCRIPT = ["sh", "-c", 'exec 4<"$1" && rm -f "$1" && shift && exec "$@"', "sh"];

function scriptOf({ record }: ExecPlace, command: readonly string[], prefix = ""): string {
  return ["exec 4<&-", prefix, besideScript(record.surroundings, command)].join("\n");
}

function numberOf(signal: NodeJS.Signals | null): number {
  return signal === null ? 0 : constants.signals[signal];
}
