// Runs a program to its end for the other scripts: same terminal, same exit code, no orphan left behind.
import { spawn } from "node:child_process";
import { constants } from "node:os";

const onTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;

// A terminal sends Ctrl-C to the whole process group, so the child gets SIGINT without our help. Without a terminal,
// only this process can pass it on.
const FORWARDED = new Set(onTerminal ? ["SIGTERM", "SIGHUP"] : ["SIGTERM", "SIGHUP", "SIGINT"]);

/** How often to look whether npm is still there. */
const PARENT_CHECK_MS = 250;

/**
 * Runs this Node.js with the arguments, waits until it ended, and gives its exit code (128 + n for signal n).
 * @param {readonly string[]} args
 * @returns {Promise<number>}
 */
export function runNode(args) {
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  for (const name of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.on(name, () => FORWARDED.has(name) && child.kill(name));
  }
  if (process.env["npm_lifecycle_event"] !== undefined) endWithParent(child);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? "SIGTERM"]));
  });
}

/**
 * npm passes SIGTERM to the shell between it and this script, and some shells die of it without passing it on.
 * @param {import("node:child_process").ChildProcess} child
 */
function endWithParent(child) {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    child.kill("SIGTERM");
  }, PARENT_CHECK_MS);
  timer.unref();
}
