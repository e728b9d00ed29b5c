// `node scripts/try-tarball.mjs`: uses the packed package as a new user does, in an empty folder and without install
// scripts: install, start in the background, write an operator, test it, build and run its image, stop and delete.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { buildImage } from "./dockerfile.mjs";
import { ROOT, build, install } from "./prepare.mjs";

await install();
await build();
const { parse } = await import("yaml");
/** Looks at the cluster, half a second apart, until the operator must have worked. */
const TRIES = 60;
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
  run(empty, "npx", "--no-install", "setpoint", "new", "my-operator");
  const operator = join(empty, "my-operator");
  expect(runWorkflow(operator), /^# pass 4$/m);
  for (const name of ["crd", "rbac", "example"]) {
    const file = join(operator, "manifests", `${name}.yaml`);
    run(empty, "npx", "--no-install", "setpoint", "apply", "-f", file, ...place);
  }
  const image = buildImage(operator, {
    makeFolder: () => mkdtempSync(join(folder, "stage-")),
    run: (cwd, command) => void run(cwd, "sh", "-c", command),
  });
  await tryImage(image, () =>
    run(empty, "npx", "--no-install", "setpoint", "get", "deployments", "-o", "name", ...place),
  );
  run(empty, "npx", "--no-install", "setpoint", "down", ...place, "--delete", "--yes");
  if (existsSync(join(home, ".setpoint/clusters/trial"))) throw new Error("down --delete left the data dir");
  process.stdout.write("the tarball works in an empty folder\n");
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Runs the commands of the project's workflow for CI.
 * @param {string} project
 */
function runWorkflow(project) {
  const { jobs } = parse(readFileSync(join(project, ".github/workflows/test.yaml"), "utf8"));
  /** @type {readonly { run?: string }[]} */
  const steps = jobs.test.steps;
  return steps
    .flatMap(({ run: command }) => (command === undefined ? [] : [run(project, "sh", "-c", command)]))
    .join("");
}

/**
 * Runs the image's program against the cluster until it has made the Deployment of the example, then ends it.
 * @param {ReturnType<typeof buildImage>} image
 * @param {() => string} deployments
 */
async function tryImage({ folder: cwd, command: [file = "", ...args] }, deployments) {
  const kubeconfig = join(home, ".setpoint/clusters/trial/kubeconfig");
  process.stdout.write(`$ ${[file, ...args].join(" ")}\n`);
  const program = spawn(file, args, { cwd, env: { ...env, KUBECONFIG: kubeconfig }, stdio: "inherit" });
  const ended = once(program, "exit");
  try {
    for (let left = TRIES; !deployments().includes("deployment.apps/web"); left--) {
      if (left === 0 || program.exitCode !== null) throw new Error("the operator made no Deployment");
      await sleep(500);
    }
  } finally {
    program.kill("SIGTERM");
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(`the operator ended with code ${String(code)}`);
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
