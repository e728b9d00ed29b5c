/** Contract of a command. A command knows nothing of the process: all its input and output goes through `Io`. */

import type { Readable, Writable } from "node:stream";
import type { ReadStream, WriteStream } from "node:tty";
import type { Log } from "../base/log/log.ts";
import type { FullScreen } from "./terminal/terminal.ts";

/** Text of commands is made safe for terminals. Raw text has its own escape sequences, or is the output of programs. */
export type TextForm = "raw";

export interface Io {
  stdout(text: string, form?: TextForm): void;
  stderr(text: string): void;
  /** The terminal, if there is one; `stdout`, `stderr` and `log` print above its live line. */
  readonly screen?: UserScreen | undefined;
  /** Log of the running components, on stderr. */
  readonly log: Log;
  /** Sets the exit code. The process ends once no work is left, or with "once printed" as soon as stdout is flushed. */
  exit(code: ExitCode, when?: "once printed"): void;
  /** The program's own streams, for commands that pass bytes on. */
  streams(): UserStreams;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  readonly workingDir: string;
  /** Path of the running program: `dist/cli.js` of the package, or a link to it. */
  readonly programFile: string;
  /** Aborted when the user or the system asks the program to end. */
  readonly signal: AbortSignal;
}

export interface UserStreams {
  readonly stdin: Readable & Partial<Pick<ReadStream, "isTTY" | "setRawMode">>;
  readonly stdout: Writable & Partial<Pick<WriteStream, "isTTY" | "columns" | "rows">>;
  readonly stderr: Writable;
}

/** A terminal with a user before it. */
export interface UserScreen {
  readonly hasColours: boolean;
  /** Shows a line until the next call; an empty text shows none. */
  live(text: string): void;
  /** Asks the user for a line. */
  ask(question: string, signal: AbortSignal): Promise<string>;
  /** The whole terminal, for a command that draws on it. */
  readonly full: FullScreen;
}

/** 0 done, 1 failed, 2 wrong usage. `exec` passes on the code of its command. */
export type ExitCode = number;

export interface OptionSpec {
  /** In commander's syntax: `--data-dir <dir>`, or `--json` for a switch. */
  readonly flags: string;
  readonly help: string;
  readonly choices?: readonly string[];
  /** The value when the option is not given; shown in the help. */
  readonly fallback?: string;
  /** The option may be given several times; `findTexts` returns all values. */
  readonly isRepeatable?: true;
}

export interface Arguments {
  /** Positional arguments by the name that `usage` gives them. */
  readonly operands: Readonly<Record<string, string>>;
  /** Values of the last positional argument, if `usage` has it as `[name...]`. */
  readonly rest: readonly string[];
  /** True when `--` is among the arguments: what follows it is no option. */
  readonly hasDashes?: boolean;
  /** Options by camel-case name: `--data-dir` is `dataDir`. `--json` gives `json: true`, `--no-headers` gives `headers: false`. */
  readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
}

export interface Command {
  readonly name: string;
  /** Names of the positional arguments: `file` is required, `[pod]` is optional, `[args...]` takes all that follow. */
  readonly usage: readonly string[];
  /** Allowed values of positional arguments, by name. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
  readonly help: string;
  readonly options: readonly OptionSpec[];
  /** A verb of kubectl, with the most common of kubectl's options. */
  readonly isKubectlVerb?: true;
  /**
   * The process ends with the command, although timers, sockets or an open standard input are left: those of the user's
   * code, or an input whose writer goes on.
   */
  readonly endsProcess?: true;
  /** Exit code of a failed run, where 1 has another meaning: "there are differences". Default: 1. */
  readonly failureCode?: 2;
  /** Throws `UsageError` for wrong arguments, any other error for a failed run. */
  run(io: Io, args: Arguments): Promise<void>;
}

/** Error about the command's arguments. The message names the argument and the expected value. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A failure without a message: the command has printed what the user needs to know. */
export class SilentFailure extends Error {
  override readonly name = "SilentFailure";
  readonly code: ExitCode;

  constructor(code: ExitCode = 1) {
    super();
    this.code = code;
  }
}

export const jsonOption: OptionSpec = { flags: "--json", help: "JSON output instead of text" };

/** The value of an option that takes one; `undefined` when it is not given. */
export function findText(args: Arguments, name: string): string | undefined {
  const value = args.options[name];
  return typeof value === "string" ? value : undefined;
}

/** All values of a repeatable option, in the order given. */
export function findTexts(args: Arguments, name: string): readonly string[] {
  const value = args.options[name];
  return typeof value === "object" ? value : [];
}
