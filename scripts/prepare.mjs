// Makes a bare clone runnable: installs and builds what is missing or out of date, and nothing else.
import { readFileSync, readdirSync, statSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fail, runPhase } from "./phase.mjs";

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const INSTALLED = join(ROOT, "node_modules/.package-lock.json");
const BUILT = join(ROOT, "dist/.built");
const INPUTS = ["src", "scripts/build.mjs", "package.json", "tsconfig.json", "tsconfig.build.json"];

export async function install() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major + minor / 100 < 20.19) fail(`needs Node.js 20.19 or later, this is ${process.version}`);
  if (changedAt(INSTALLED) >= changedAt(join(ROOT, "package-lock.json"))) return;
  // `npm ci` would delete and fetch everything again when one package changed.
  const args = ["install", "--no-save", "--include=dev", "--include=optional", "--no-audit", "--no-fund"];
  const npm = process.env["npm_execpath"] ?? "";
  const run = npm.endsWith(".js") ? { file: process.execPath, first: [npm] } : { file: "npm", first: [] };
  await runPhase({
    doing: "installing packages",
    done: "installed",
    detail: () => `${String(installedCount())} packages`,
    remedy: "check the network and the free disk space, then run it again",
    file: run.file,
    args: [...run.first, ...args, "--loglevel=error", "--no-progress"],
    cwd: ROOT,
  });
  utimesSync(INSTALLED, new Date(), new Date());
}

export async function build() {
  const newest = Math.max(...INPUTS.map((path) => newestIn(join(ROOT, path))));
  if (changedAt(BUILT) >= newest) return;
  await runPhase({
    doing: "building",
    done: "built",
    detail: () => "dist",
    remedy: "mend it and run it again; if you changed nothing, delete node_modules first",
    file: process.execPath,
    args: [join(ROOT, "scripts/build.mjs")],
    cwd: ROOT,
  });
}

function installedCount() {
  /** @type {{ readonly packages: object }} */
  const { packages } = JSON.parse(readFileSync(INSTALLED, "utf8"));
  return Object.keys(packages).length;
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
