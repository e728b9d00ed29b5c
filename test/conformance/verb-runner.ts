/** Runs a command line by `setpoint` in this process, and the same line by the real kubectl. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough, Readable } from "node:stream";
import { expect } from "vitest";
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
  readonly #path: string | undefined;

  /** `path` is the PATH of `setpoint`, if it is not that of this process. */
  constructor(place: {
    readonly kubectl: string;
    readonly kubeconfig: string;
    readonly folder: string;
    readonly path?: string;
  }) {
    this.#path = place.path ?? process.env["PATH"];
    this.#kubectl = place.kubectl;
    this.#kubeconfig = place.kubeconfig;
    this.#folder = place.folder;
  }

  /** Runs both until each has printed enough, and then interrupts them. */
  async follow(
    args: readonly string[],
    { act, isEnough }: { readonly act: () => Promise<unknown>; readonly isEnough: (text: string) => boolean },
  ): Promise<{ readonly ours: string; readonly theirs: string }> {
    const ending = new AbortController();
    let [ours, theirs] = ["", ""];
    const running = this.ours(args, { signal: ending.signal, onOutput: (text) => (ours = text) });
    const child = spawn(this.#kubectl, args, { cwd: this.#folder, env: this.#environment() });
    const ended = once(child, "close");
    child.stdout.on("data", (piece: Buffer) => (theirs += piece.toString()));
    try {
      // Both show what is there before the changes come.
      await expect.poll(() => ours !== "" && theirs !== "", { timeout: 20_000 }).toBe(true);
      await act();
      await expect.poll(() => isEnough(ours) && isEnough(theirs), { timeout: 20_000 }).toBe(true);
    } finally {
      ending.abort();
      child.kill();
      await Promise.all([running, ended]);
    }
    return { ours, theirs };
  }

  theirs(args: readonly string[], stdin = ""): Promise<PrintedBoth> {
    const options = { cwd: this.#folder, env: this.#environment(), maxBuffer: 64 * 1024 * 1024 };
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
      env: { KUBECONFIG: this.#kubeconfig, PATH: this.#path },
      streams: () => streams,
      homeDir: this.#folder,
      workingDir: this.#folder,
      programFile: "setpoint",
      signal,
    });
    return printed;
  }

  #environment(): NodeJS.ProcessEnv {
    return { ...process.env, KUBECONFIG: this.#kubeconfig, HOME: this.#folder };
  }
}
