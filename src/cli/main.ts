/** Main program: passes the process's arguments, streams and signals to the command line. */
import { homedir } from "node:os";
import process from "node:process";
import { buffer } from "node:stream/consumers";
import { createTextLog } from "../base/log/log-text.ts";
import { runCli } from "./cli.ts";
import { printTo, wantsColours } from "./print.ts";
import { shutdownSignal } from "./shutdown-signal.ts";

const stderr = printTo(() => process.stderr);

/** Resolves when the command has ended. Errors are printed by then. */
export const ended = runCli(process.argv.slice(2), {
  stdout: printTo(() => process.stdout),
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
  stdin: () => buffer(process.stdin),
  env: process.env,
  homeDir: homedir(),
  workingDir: process.cwd(),
  programFile: process.argv[1] ?? "",
  signal: shutdownSignal(process),
});
