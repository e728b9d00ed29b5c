/** Main program: passes the process's arguments, streams and signals to the command line. */
import { homedir } from "node:os";
import process from "node:process";
import { isatty } from "node:tty";
import { createTextLog } from "../base/log/log-text.ts";
import { runCli } from "./cli.ts";
import { printTo, wantsColours } from "./print.ts";
import { Screen } from "./screen.ts";
import { shutdownSignal } from "./shutdown-signal.ts";
import { ProcessScreen } from "./terminal/process-screen.ts";

/** A terminal for output and answers; piped output has none. */
const screen =
  isatty(0) && isatty(1) && process.env["TERM"] !== "dumb"
    ? new Screen({ stdin: process.stdin, stdout: process.stdout })
    : undefined;
const above = (print: (text: string) => void): ((text: string) => void) => screen?.above(print) ?? print;
const stderr = above(printTo(() => process.stderr));

/** Resolves when the command has ended. Errors are printed by then. */
export const ended = runCli(process.argv.slice(2), {
  stdout: above(printTo(() => process.stdout)),
  stderr,
  log: createTextLog({
    level: "warn",
    isColoured: wantsColours(process.stderr, process.env),
    write: stderr,
  }),
  exit: (code, when) => {
    process.exitCode = code;
    if (when === "once printed") process.stdout.write("", () => process.exit());
  },
  streams: () => ({ stdin: process.stdin, stdout: process.stdout, stderr: process.stderr }),
  screen: screen && {
    hasColours: wantsColours(process.stdout, process.env),
    live: (text) => screen.live(text),
    ask: (question, signal) => screen.ask(question, signal),
    full: new ProcessScreen(process),
  },
  env: process.env,
  homeDir: homedir(),
  workingDir: process.cwd(),
  programFile: process.argv[1] ?? "",
  signal: shutdownSignal(process),
});
