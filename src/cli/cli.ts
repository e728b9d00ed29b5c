/** Turns an argument list into one command's run and its outcome into an exit code. */
import { Argument, Command as Parser, CommanderError, InvalidArgumentError, Option } from "commander";
import { errorText } from "../base/error-text.ts";
import { shownText } from "../base/shown-text.ts";
import {
  SilentFailure,
  UsageError,
  type Arguments,
  type Command,
  type ExitCode,
  type Io,
} from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { findRemedy } from "./system-error.ts";
import { asKubectl, findKubectlLine } from "./verbs/kubectl-line.ts";
import { VERSION_TEXT } from "./version.ts";

/** Runs the command that `argv` names. Never rejects: stderr and the exit code report errors. */
export async function runCli(argv: readonly string[], streams: Io): Promise<void> {
  const io = shownIo(streams);
  const code = await runCommand(argv, io);
  const isEnd = COMMANDS.some(({ name, endsProcess }) => name === argv[0] && endsProcess === true);
  if (isEnd) io.exit(code, "once printed");
  else io.exit(code);
}

/** Servers, objects and errors contain text of others. */
function shownIo(io: Io): Io {
  return {
    ...io,
    stdout: (text, form) => io.stdout(form === "raw" ? text : shownText(text)),
    stderr: (text) => io.stderr(shownText(text)),
  };
}

async function runCommand(argv: readonly string[], io: Io): Promise<ExitCode> {
  const form = formOf(argv);
  const kubectlLine = COMMANDS.some(({ name }) => name === argv[0]) ? undefined : findKubectlLine(argv, io);
  if (kubectlLine !== undefined) {
    printError(kubectlLine, io, form);
    return 2;
  }
  try {
    await programFor(io, argv).parseAsync(withoutHelp(argv), { from: "user" });
    return 0;
  } catch (error) {
    const command = COMMANDS.find(({ name }) => name === argv[0]);
    const outcome = explain(error, io, form);
    const code = outcome === "failed" ? (command?.failureCode ?? 1) : outcome;
    if (isUnknownHere(error) && command?.isKubectlVerb === true && form === "text")
      io.stderr(
        `setpoint has only the common options of kubectl's verbs; with kubectl: ${asKubectl(argv)}\n`,
      );
    return code;
  }
}

/** `help NAME` of an unknown command is an error, like the command itself. */
function withoutHelp(argv: readonly string[]): readonly string[] {
  const [help, name, ...rest] = argv;
  const isUnknown = name !== undefined && name !== "help" && COMMANDS.every((each) => each.name !== name);
  return help === "help" && isUnknown && !name.startsWith("-") ? [name, ...rest] : argv;
}

type ErrorForm = "json" | "text";

function formOf(argv: readonly string[]): ErrorForm {
  return argv.includes("--json") ? "json" : "text";
}

/** An option, or a value of one, that the command does not have. */
function isUnknownHere(error: unknown): boolean {
  const codes = ["commander.unknownOption", "commander.invalidArgument"];
  return error instanceof CommanderError && codes.includes(error.code);
}

function programFor(io: Io, argv: readonly string[]): Parser {
  const form = formOf(argv);
  const program = inheritable(new Parser("setpoint"), io, form)
    .description("A Kubernetes-compatible control plane.")
    .version(VERSION_TEXT, "--version", "print the version, as the command version does")
    .showHelpAfterError(form === "text" && '(see "setpoint --help")')
    .helpCommand("help [command]", "show help for a command");
  for (const command of COMMANDS) program.addCommand(parserFor(command, io, argv));
  return program;
}

function parserFor(command: Command, io: Io, argv: readonly string[]): Parser {
  const form = formOf(argv);
  const parser = inheritable(new Parser(command.name), io, form)
    .description(command.help)
    .showHelpAfterError(form === "text" && `(see "setpoint ${command.name} --help")`)
    .allowExcessArguments(false);
  for (const name of command.usage) {
    const argument = new Argument(name.startsWith("[") ? name : `<${name}>`);
    const choices = command.choices?.[name];
    parser.addArgument(choices === undefined ? argument : argument.choices(choices));
  }
  for (const { flags, help, choices, fallback, isRepeatable } of command.options) {
    const option = new Option(flags, help);
    if (choices !== undefined) option.choices(choices);
    if (fallback !== undefined) option.default(fallback);
    if (/<(?:file|dir)>$/.test(flags)) option.argParser(parsePath);
    if (isRepeatable)
      option.argParser((text, before: readonly string[] | undefined) => [...(before ?? []), text]);
    parser.addOption(option);
  }
  return parser.action(async () => {
    await command.run(io, { ...argumentsOf(command, parser), hasDashes: argv.includes("--") });
  });
}

function argumentsOf({ usage }: Command, parser: Parser): Arguments {
  const single = usage.filter((name) => !name.endsWith("...]"));
  const operands = Object.fromEntries(
    single.map((name, at) => [name.replaceAll(/[[\]]/g, ""), parser.args[at] ?? ""]),
  );
  const empty = single.find((_, at) => parser.args[at] === "");
  if (empty !== undefined) throw new UsageError(`argument "${empty}" is empty: is a variable unset?`);
  const rest = parser.args.slice(single.length);
  return { operands, rest, options: parser.opts<Arguments["options"]>() };
}

/**
 * An empty path is refused. Otherwise `--pki-dir "$UNSET"` would mean the working folder, and `down --data-dir
 * "$UNSET"` would stop the default cluster.
 */
function parsePath(text: string): string {
  if (text === "") throw new InvalidArgumentError("It must be a path.");
  return text;
}

function inheritable(parser: Parser, io: Io, form: ErrorForm): Parser {
  return parser.exitOverride().configureOutput({
    writeOut: (text) => io.stdout(text),
    writeErr: (text) => io.stderr(text),
    outputError: (text, write) => {
      if (form === "text") write(text);
    },
  });
}

function explain(error: unknown, io: Io, form: ErrorForm): ExitCode | "failed" {
  if (error instanceof CommanderError) return explainUsage(error, io, form);
  if (error instanceof SilentFailure) return error.code;
  printError(findRemedy(error) ?? errorText(error), io, form);
  return error instanceof UsageError ? 2 : "failed";
}

/** Commander has already printed help and errors as text. It also throws for `--help`, with exit code 0. */
function explainUsage({ code, exitCode, message }: CommanderError, io: Io, form: ErrorForm): ExitCode {
  if (exitCode === 0) return 0;
  if (form === "json" && code !== "commander.help")
    printError(message.replace(/^error: /, "").replaceAll("\n", " "), io, form);
  return 2;
}

function printError(message: string, io: Io, form: ErrorForm): void {
  io.screen?.live("");
  io.stderr(form === "json" ? `${JSON.stringify({ error: message })}\n` : `error: ${message}\n`);
}
