// Builds dist/: the library file by file with tsc, and the command line as one file, because loading hundreds
// of modules costs a fifth of a second at every start.
import { spawnSync } from "node:child_process";
import { chmodSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");

// The file store starts `./worker.js` next to itself: next to dist/cli.js in the bundle, in its folder in the library.
const WORKER = "src/store/file/worker.js";
const BUNDLES = { "cli.js": "src/cli/main.ts", "worker.js": WORKER, "store/file/worker.js": WORKER };

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
if (tsc.status !== 0) process.exit(1);

for (const [name, input] of Object.entries(BUNDLES)) {
  await build({
    input: join(root, input),
    cwd: root,
    platform: "node",
    // Packages stay packages: their binaries and licences are theirs, and some are loaded only on first use.
    external: (id) => !id.startsWith(".") && !isAbsolute(id),
    transform: { target: "node20.19" },
    logLevel: "warn",
    output: { file: join(dist, name), format: "esm", codeSplitting: false },
  });
}
chmodSync(join(dist, "cli.js"), 0o755);
// The stamp has the time of the start: a file saved meanwhile counts as newer.
writeFileSync(join(dist, ".built"), "");
utimesSync(join(dist, ".built"), startedAt, startedAt);
