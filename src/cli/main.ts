/** The program: gives the process's arguments, streams and signals to the command line. */
import { homedir } from "node:os";
import process from "node:process";
import { createTextLog } from "../base/log-text.ts";
import { runCli } from "./cli.ts";
import { printTo } from "./print.ts";

const ending = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  // Only the first is a request: a second one meets the default and ends the process at once.
  process.once(name, () => ending.abort());
}

const stderr = printTo(() => process.stderr);

/** Resolves when the command has ended; what went wrong was said by then. */
export const ended = runCli(process.argv.slice(2), {
  stdout: printTo(() => process.stdout),
  stderr,
  log: createTextLog({
    level: "warn",
    isColoured: process.stderr.isTTY,
    write: stderr,
  }),
  exit: (code) => {
    process.exitCode = code;
  },
  env: process.env,
  homeDir: homedir(),
  workingDir: process.cwd(),
  signal: ending.signal,
});
