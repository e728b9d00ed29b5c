/** Runs a command line by `setpoint` in this process, and the same line by the real kubectl. */
import { execFile } from "node:child_process";
import { PassThrough, Readable } from "node:stream";
import { silentLog } from "../../src/base/log/log.ts";
import { runCli } from "../../src/cli/cli.ts";
import type { UserStreams } from "../../src/cli/command.ts";

export interface Printed {
  readonly code: number;
  readonly stdout: string;
}

export interface PrintedBoth extends Printed {
  readonly stderr: string;
}

export interface RunOptions {
  readonly stdin?: string | Readable;
  readonly signal?: AbortSignal;
  /** Members of a terminal that standard input and output have. */
  readonly terminal?: Pick<UserStreams["stdin"], "setRawMode"> &
    Pick<UserStreams["stdout"], "columns" | "rows">;
  /** Called with all that stdout has so far. */
  readonly onOutput?: (text: string, streams: UserStreams) => void;
}

export class VerbRunner {
  readonly #kubectl: string;
  readonly #kubeconfig: string;
  readonly #folder: string;

  constructor(place: { readonly kubectl: string; readonly kubeconfig: string; readonly folder: string }) {
    this.#kubectl = place.kubectl;
    this.#kubeconfig = place.kubeconfig;
    this.#folder = place.folder;
  }

  theirs(args: readonly string[], stdin = ""): Promise<PrintedBoth> {
    const env = { ...process.env, KUBECONFIG: this.#kubeconfig, HOME: this.#folder };
    const options = { cwd: this.#folder, env, maxBuffer: 64 * 1024 * 1024 };
    return new Promise((resolve) => {
      const child = execFile(this.#kubectl, args, options, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
      });
      child.stdin?.on("error", () => undefined);
      child.stdin?.end(stdin);
    });
  }

  async ours(args: readonly string[], options: RunOptions = {}): Promise<PrintedBoth> {
    const { stdin = "", signal = new AbortController().signal, terminal, onOutput } = options;
    const input = typeof stdin === "string" ? Readable.from(stdin === "" ? [] : [Buffer.from(stdin)]) : stdin;
    const isTTY = terminal !== undefined;
    const streams = {
      stdin: Object.assign(input, { isTTY, ...terminal }),
      stdout: Object.assign(new PassThrough(), { isTTY, ...terminal }),
      stderr: new PassThrough(),
    };
    const printed = { stdout: "", stderr: "", code: 0 };
    const print = (name: "stdout" | "stderr") => (text: string | Buffer) => {
      printed[name] += String(text);
      if (name === "stdout") onOutput?.(printed.stdout, streams);
    };
    streams.stdout.on("data", print("stdout"));
    streams.stderr.on("data", print("stderr"));
    await runCli(args, {
      stdout: print("stdout"),
      stderr: print("stderr"),
      exit: (given) => (printed.code = given),
      log: silentLog,
      env: { KUBECONFIG: this.#kubeconfig },
      streams: () => streams,
      homeDir: this.#folder,
      workingDir: this.#folder,
      programFile: "setpoint",
      signal,
    });
    return printed;
  }
}
