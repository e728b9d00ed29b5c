// Makes a bare clone runnable: installs and builds what is missing or out of date, and nothing else.
// All words go to stderr, so that the stdout of `npm start -- --json` belongs to the program alone.
import { spawnSync } from "node:child_process";
import { readdirSync, statSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const INSTALLED = join(ROOT, "node_modules/.package-lock.json");
const BUILT = join(ROOT, "dist/.built");
const INPUTS = ["src", "scripts/build.mjs", "package.json", "tsconfig.json", "tsconfig.build.json"];

export function install() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major + minor / 100 < 20.19) fail(`needs Node.js 20.19 or later, this is ${process.version}`);
  if (changedAt(INSTALLED) >= changedAt(join(ROOT, "package-lock.json"))) return;
  // Not `npm ci`: it refuses a lock file that lacks the optional binaries of this platform.
  const args = ["install", "--no-save", "--include=dev", "--include=optional", "--no-audit", "--no-fund"];
  const npm = process.env["npm_execpath"] ?? "";
  const run = npm.endsWith(".js") ? { file: process.execPath, first: [npm] } : { file: "npm", first: [] };
  step("installing dependencies", run.file, [...run.first, ...args, "--loglevel=error"]);
  utimesSync(INSTALLED, new Date(), new Date());
}

export function build() {
  const newest = Math.max(...INPUTS.map((path) => newestIn(join(ROOT, path))));
  if (changedAt(BUILT) < newest) step("building", process.execPath, [join(ROOT, "scripts/build.mjs")]);
}

/** @param {string} label @param {string} file @param {readonly string[]} args */
function step(label, file, args) {
  const start = performance.now();
  process.stderr.write(`setpoint: ${label} …${process.stderr.isTTY ? "" : "\n"}`);
  // npm's own progress bar is drawn on stderr; its closing summary on stdout is of no use here.
  const stdio = /** @type {const} */ (["ignore", "ignore", "inherit"]);
  const shell = file === "npm" && process.platform === "win32";
  const { status, error } = spawnSync(file, args, { cwd: ROOT, stdio, shell });
  if (status !== 0) fail(`${label} failed${error === undefined ? "" : `: ${error.message}`}`);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  process.stderr.write(`${process.stderr.isTTY ? "\r" : ""}setpoint: ${label} took ${seconds} s\n`);
}

/** @param {string} path @returns {number} */
function newestIn(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return path.endsWith(".test.ts") ? 0 : stats.mtimeMs;
  // A folder's own time counts too: that is how a deleted file is noticed.
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newestIn(join(path, name))));
}

/** @param {string} path */
const changedAt = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? -1;

/** @param {string} message @returns {never} */
function fail(message) {
  process.stderr.write(`setpoint: ${message}\n`);
  process.exit(1);
}
