// Runs a program as one phase of a script. While it runs, a terminal shows a live line; then one line tells the duration,
// in the form that `setpoint up` gives its phases. All words go to stderr, so that stdout belongs to the program alone.
import { spawn } from "node:child_process";
import { styleText } from "node:util";

/** Moves to the first column and erases the line. */
const ERASE = "\r\u001b[2K";
const SECOND_MS = 1000;
/** Upper bound for each stream of a program, which is shown when the phase has ended. */
const OUTPUT_MAX = 64 * 1024;
const SIGNALS = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);

/**
 * @typedef {object} Phase
 * @property {string} doing "installing packages"
 * @property {string} done "installed"
 * @property {() => string} detail what there is now; asked when the phase has ended
 * @property {string} remedy what to do when it fails for a reason of its own
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
  const { failure, stdout, stderr } = await runToEnd(phase);
  line.end();
  // Some programs tell their reason on stdout.
  const said = failure !== undefined && stderr.trim() === "" ? stdout : stderr;
  process.stderr.write(said);
  if (failure !== undefined) {
    const reason = said.trim() === "" ? "it printed no reason" : "the reason is above";
    fail(`${phase.doing} ${failure.text}; ${failure.remedy ?? `${reason}: ${phase.remedy}`}`);
  }
  process.stderr.write(phaseLine(phase.done, performance.now() - start, phase.detail()));
}

/**
 * How a program ended that did not succeed, and what to do where that alone tells it.
 * @param {{ readonly error?: { readonly message: string, readonly code?: string }, readonly code: number | null, readonly signal: string | null }} end
 * @param {string} file
 * @returns {{ readonly text: string, readonly remedy?: string }}
 */
function failureOf({ error, code, signal }, file) {
  if (error?.code === "ENOENT")
    return { text: `failed: ${file} is not in PATH`, remedy: `install ${file}, or add its folder to PATH` };
  if (error !== undefined) return { text: `failed: ${error.message}` };
  if (signal === null) return { text: `failed with exit code ${String(code)}` };
  const text = `was ended by ${signal}`;
  if (signal !== "SIGKILL") return { text, remedy: "run it again" };
  return { text, remedy: "if the machine was short of memory, end other programs; then run it again" };
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
 * @returns {Promise<{ failure: ReturnType<typeof failureOf> | undefined, stdout: string, stderr: string }>}
 */
async function runToEnd({ file, args, cwd }) {
  const shell = file === "npm" && process.platform === "win32";
  const child = spawn(file, args, { cwd, stdio: ["ignore", "pipe", "pipe"], shell });
  const forward = (/** @type {NodeJS.Signals} */ name) => void child.kill(name);
  for (const name of SIGNALS) process.on(name, forward);
  const output = { stdout: "", stderr: "" };
  for (const name of /** @type {const} */ (["stdout", "stderr"]))
    child[name].on("data", (piece) => (output[name] = (output[name] + String(piece)).slice(-OUTPUT_MAX)));
  /** @type {ReturnType<typeof failureOf> | undefined} */
  const failure = await new Promise((resolve) => {
    child.once("error", (error) => resolve(failureOf({ error, code: null, signal: null }, file)));
    child.once("close", (code, signal) =>
      resolve(code === 0 ? undefined : failureOf({ code, signal }, file)),
    );
  });
  for (const name of SIGNALS) process.off(name, forward);
  return { failure, ...output };
}
