// Builds dist/: the library file by file with tsc, and the command line as one file, because loading hundreds
// of modules costs a fifth of a second at every start.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { install } from "./prepare.mjs";

await install();
const { build } = await import("rolldown");

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");

// The file store starts `./worker.js` next to itself. A built worker is no module, because a thread that loads modules takes longer to start and a
// megabyte more. So it has another name, in its folder in the library and next to the program.
const WORKER = "src/store/file/worker.js";
const BUNDLES = /** @type {const} */ ({
  "cli.js": { input: "src/cli/launch.ts", format: "esm" },
  "store/file/worker.cjs": { input: WORKER, format: "cjs" },
  "worker.cjs": { input: WORKER, format: "cjs" },
});
const PROGRAM = join(dist, "program.cjs");
// Texts that the server reads at run time. The program reads the copy of the library.
const DESCRIPTIONS = "server/routes/openapi/descriptions";

const COMMON = /** @type {const} */ ({
  cwd: root,
  platform: "node",
  transform: { target: "node20.19" },
  logLevel: "warn",
});

const startedAt = new Date();
rmSync(dist, { recursive: true, force: true });
const tsc = spawnSync(
  process.execPath,
  [join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.build.json"],
  {
    cwd: root,
    // stdout is kept free for the program that a build may precede.
    stdio: ["ignore", 2, 2],
  },
);
// The build ends as tsc did: by the same signal, which the caller reports.
if (tsc.signal !== null) process.kill(process.pid, tsc.signal);
if (tsc.status !== 0) process.exit(1);

for (const [name, { input, format }] of Object.entries(BUNDLES)) {
  await build({
    ...COMMON,
    input: join(root, input),
    // Packages are not bundled: they keep their binaries and licences, and some are loaded only on first use.
    external: isForeign,
    output: { file: join(dist, name), format, codeSplitting: false },
  });
}
rmSync(join(dist, "store/file/worker.js"), { force: true });
const thread = join(dist, "store/file/store-thread.js");
writeFileSync(thread, replaceOne(readFileSync(thread, "utf8"), /"\.\/worker\.js"/, '"./worker.cjs"'));
cpSync(join(root, "src", DESCRIPTIONS), join(dist, DESCRIPTIONS), { recursive: true });
await buildProgram();
chmodSync(join(dist, "cli.js"), 0o755);
await compileProgram();
// The stamp has the time of the start: a file saved meanwhile counts as newer.
writeFileSync(join(dist, ".built"), "");
utimesSync(join(dist, ".built"), startedAt, startedAt);

/** One script, as src/cli/launch.ts runs it: a function with the parameters that it hands over, in plain ASCII. */
async function buildProgram() {
  await build({
    ...COMMON,
    input: join(root, "src/cli/main.ts"),
    external: (id) => id.startsWith("node:"),
    plugins: [lazyPackages()],
    output: { file: PROGRAM, format: "cjs", codeSplitting: false, comments: false },
  });
  // Kept compiled code cannot `import()` in Node.js 20, so the launcher does it in its place.
  const importing = replaceOne(readFileSync(PROGRAM, "utf8"), /\bimport\(/, "importModule(");
  const threaded = replaceOne(importing, /"\.\/worker\.js"/, '"./worker.cjs"');
  const program = replaceOne(threaded, /"\.\/descriptions\/"/, `"./${DESCRIPTIONS}/"`);
  // Characters beyond ASCII stand in texts and patterns only, and both know this way of writing them.
  const text = program.replaceAll(/[^\0-\x7f]/g, escaped);
  writeFileSync(PROGRAM, `(function (exports, require, __filename, importModule) { "use strict"; ${text}})`);
}

/**
 * @param {string} text
 * @param {RegExp} what
 * @param {string} by
 */
function replaceOne(text, what, by) {
  const [before, after, ...more] = text.split(what);
  if (after === undefined || more.length > 0) throw new Error(`expected ${what} once in the program`);
  return `${before}${by}${after}`;
}

/** @param {string} character */
function escaped(character) {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** @param {string} id */
function isForeign(id) {
  return !id.startsWith(".") && !isAbsolute(id);
}

/**
 * Packages stay packages here too. One that only a lazily imported part asks for is loaded with that part: left to itself the bundler loads all of them when
 * the program begins.
 * @returns {import("rolldown").Plugin}
 */
function lazyPackages() {
  const mark = "\0package:";
  return {
    name: "lazy-packages",
    resolveId(id, importer) {
      if (!isForeign(id) || id.startsWith("node:") || importer === undefined) return undefined;
      return importer.startsWith(mark) ? { id, external: true } : `${mark}${id}`;
    },
    load(id) {
      if (!id.startsWith(mark)) return undefined;
      return `module.exports = require(${JSON.stringify(id.slice(mark.length))});`;
    },
  };
}

/** Lets a cluster run until the program is kept in compiled form, so that the first start is as quick as the next ones. */
async function compileProgram() {
  const dataDir = mkdtempSync(join(tmpdir(), "setpoint-build-"));
  const args = [join(dist, "cli.js"), "up", "--data-dir", dataDir, "--listen", "127.0.0.1:0"];
  // The cluster must not appear in the kubeconfig of the user.
  const env = { ...process.env, HOME: dataDir, USERPROFILE: dataDir };
  const child = spawn(process.execPath, args, { stdio: "ignore", env });
  const exited = once(child, "exit");
  // A build without it is complete: the first server that runs for a moment makes up for it.
  const latest = performance.now() + 20_000;
  while (!existsSync(`${PROGRAM}.cache`) && child.exitCode === null && performance.now() < latest)
    await sleep(50);
  child.kill();
  await exited;
  rmSync(dataDir, { recursive: true, force: true });
}
