/** Turns an argument list into one command's run and its outcome into an exit code. */
import { Argument, Command as Parser, CommanderError, InvalidArgumentError, Option } from "commander";
import { errorText } from "../base/error-text.ts";
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
export async function runCli(argv: readonly string[], io: Io): Promise<void> {
  const code = await runCommand(argv, io);
  const isEnd = COMMANDS.some(({ name, endsProcess }) => name === argv[0] && endsProcess === true);
  if (isEnd) io.exit(code, "once printed");
  else io.exit(code);
}

async function runCommand(argv: readonly string[], io: Io): Promise<ExitCode> {
  const kubectlLine = COMMANDS.some(({ name }) => name === argv[0]) ? undefined : findKubectlLine(argv);
  if (kubectlLine !== undefined) return explain(new UsageError(kubectlLine), io, "text");
  try {
    await programFor(io, argv).parseAsync(argv, { from: "user" });
    return 0;
  } catch (error) {
    const code = explain(error, io, argv.includes("--json") ? "json" : "text");
    const command = COMMANDS.find(({ name }) => name === argv[0]);
    if (isUnknownHere(error) && command?.isKubectlVerb === true)
      io.stderr(
        `setpoint has only the common options of kubectl's verbs; with kubectl: ${asKubectl(argv)}\n`,
      );
    return code;
  }
}

/** An option, or a value of one, that the command does not have. */
function isUnknownHere(error: unknown): boolean {
  const codes = ["commander.unknownOption", "commander.invalidArgument"];
  return error instanceof CommanderError && codes.includes(error.code);
}

function programFor(io: Io, argv: readonly string[]): Parser {
  const program = inheritable(new Parser("setpoint"), io)
    .description("A Kubernetes-compatible control plane.")
    .version(VERSION_TEXT, "--version", "print the version, as the command version does")
    .showHelpAfterError('(see "setpoint --help")')
    .helpCommand("help [command]", "show help for a command");
  for (const command of COMMANDS) program.addCommand(parserFor(command, io, argv));
  return program;
}

function parserFor(command: Command, io: Io, argv: readonly string[]): Parser {
  const parser = inheritable(new Parser(command.name), io)
    .description(command.help)
    .showHelpAfterError(`(see "setpoint ${command.name} --help")`)
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

function inheritable(parser: Parser, io: Io): Parser {
  return parser.exitOverride().configureOutput({
    writeOut: (text) => io.stdout(text),
    writeErr: (text) => io.stderr(text),
  });
}

function explain(error: unknown, io: Io, form: "json" | "text"): ExitCode {
  // Commander has already printed the error. It also throws for `--help`, with exit code 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof SilentFailure) return error.code;
  const message = findRemedy(error) ?? errorText(error);
  io.screen?.live("");
  io.stderr(form === "json" ? `${JSON.stringify({ error: message })}\n` : `error: ${message}\n`);
  return error instanceof UsageError ? 2 : 1;
}
