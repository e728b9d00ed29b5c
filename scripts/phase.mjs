// Runs a program as one phase of a script. While it runs, a terminal shows a live line; then one line tells the duration,
// in the form that `setpoint up` gives its phases. All words go to stderr, so that stdout belongs to the program alone.
import { spawn } from "node:child_process";
import { styleText } from "node:util";

/** Moves to the first column and erases the line. */
const ERASE = "\r\u001b[2K";
const SECOND_MS = 1000;
/** Upper bound for the stderr of a program, which is shown when the phase has ended. */
const STDERR_MAX = 64 * 1024;
const SIGNALS = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);

/**
 * @typedef {object} Phase
 * @property {string} doing "installing packages"
 * @property {string} done "installed"
 * @property {() => string} detail what there is now; asked when the phase has ended
 * @property {string} file
 * @property {readonly string[]} args
 * @property {string} cwd
 */

/**
 * Runs the phase to its end. A failure ends this process.
 * @param {Phase} phase
 */
export async function runPhase(phase) {
  const start = performance.now();
  const line = liveLine(phase.doing, start);
  const { failure, stderr } = await runToEnd(phase);
  line.end();
  process.stderr.write(stderr);
  if (failure !== undefined) fail(`${phase.doing} ${failure}`);
  process.stderr.write(phaseLine(phase.done, performance.now() - start, phase.detail()));
}

/** @param {string} message @returns {never} */
export function fail(message) {
  process.stderr.write(`setpoint: ${message}\n`);
  process.exit(1);
}

/** @param {string} done @param {number} ms @param {string} detail */
function phaseLine(done, ms, detail) {
  const isPainted = isTerminal() && (process.env["NO_COLOR"] ?? "") === "";
  const mark = isPainted ? styleText("green", "✔", { validateStream: false }) : "✔";
  return `${mark} ${done.padEnd(14)} ${(ms / SECOND_MS).toFixed(1).padStart(5)} s   ${detail}\n`;
}

/** @param {string} doing @param {number} start */
function liveLine(doing, start) {
  if (!isTerminal()) {
    process.stderr.write(`… ${doing}\n`);
    return { end: () => undefined };
  }
  const show = () => {
    const seconds = Math.round((performance.now() - start) / SECOND_MS);
    process.stderr.write(`${ERASE}… ${doing}${seconds === 0 ? "" : ` ${String(seconds)} s`}`);
  };
  show();
  const timer = setInterval(show, SECOND_MS);
  return {
    end: () => {
      clearInterval(timer);
      process.stderr.write(ERASE);
    },
  };
}

function isTerminal() {
  return process.stderr.isTTY && process.env["TERM"] !== "dumb";
}

/**
 * Ends with the program: a signal to this process goes on to the program.
 * @param {Phase} phase
 * @returns {Promise<{ failure: string | undefined, stderr: string }>}
 */
async function runToEnd({ file, args, cwd }) {
  const shell = file === "npm" && process.platform === "win32";
  const child = spawn(file, args, { cwd, stdio: ["ignore", "ignore", "pipe"], shell });
  const forward = (/** @type {NodeJS.Signals} */ name) => void child.kill(name);
  for (const name of SIGNALS) process.on(name, forward);
  let stderr = "";
  child.stderr?.on("data", (piece) => (stderr = (stderr + String(piece)).slice(-STDERR_MAX)));
  /** @type {string | undefined} */
  const failure = await new Promise((resolve) => {
    child.once("error", ({ message }) => resolve(`failed: ${message}`));
    child.once("close", (code, signal) =>
      resolve(code === 0 ? undefined : signal === null ? "failed" : `was ended by ${signal}`),
    );
  });
  for (const name of SIGNALS) process.off(name, forward);
  return { failure, stderr };
}
