// `node scripts/try-tarball.mjs`: uses the packed package as a new user does, in an empty folder and without install
// scripts: install, start in the background, write an operator and test it, stop and delete.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, build, install } from "./prepare.mjs";

await install();
await build();
const folder = mkdtempSync(join(tmpdir(), "setpoint-tarball-"));
const home = join(folder, "home");
// The user's settings of npm: registry and cache.
const npm = (/** @type {string} */ key) =>
  execFileSync("npm", ["config", "get", key], { encoding: "utf8" }).trim();
const env = {
  ...process.env,
  npm_config_cache: npm("cache"),
  npm_config_userconfig: npm("userconfig"),
  HOME: home,
  USERPROFILE: home,
};
try {
  mkdirSync(home);
  const tarball = join(
    folder,
    run(ROOT, "npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", folder).trim(),
  );
  const empty = join(folder, "empty");
  mkdirSync(empty);
  run(empty, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", tarball);
  expect(run(empty, "npx", "--no-install", "setpoint", "version"), /^setpoint \d/);
  const place = ["--name", "trial"];
  const up = run(empty, "npx", "--no-install", "setpoint", "up", "-d", ...place, "--listen", "127.0.0.1:0");
  expect(up, /3 nodes ready[^]*is ready/);
  expect(run(empty, "npx", "--no-install", "setpoint", "status", ...place), /is ready at/);
  expect(run(empty, "npx", "--no-install", "setpoint", "list"), /^trial +ready/m);
  run(empty, "npx", "--no-install", "setpoint", "down", ...place, "--delete", "--yes");
  if (existsSync(join(home, ".setpoint/clusters/trial"))) throw new Error("down --delete left the data dir");
  run(empty, "npx", "--no-install", "setpoint", "new", "my-operator");
  const operator = join(empty, "my-operator");
  run(operator, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund");
  expect(run(operator, "npm", "test"), /^# pass 4$/m);
  process.stdout.write("the tarball works in an empty folder\n");
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** @param {string} cwd @param {string} file @param {readonly string[]} args @returns {string} */
function run(cwd, file, ...args) {
  process.stdout.write(`$ ${[file, ...args].join(" ")}\n`);
  return execFileSync(file, args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

/** @param {string} text @param {RegExp} pattern */
function expect(text, pattern) {
  if (!pattern.test(text)) throw new Error(`expected ${String(pattern)}, found:\n${text}`);
}
