// Runs the benchmarks of test/bench against the built package. `npm run bench -- --only store-put` runs some of them.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { runNode } from "./child.mjs";
import { build, install, ROOT } from "./prepare.mjs";
import { openTempFolder } from "./temp-folder.mjs";

await install();
await build();
const { build: bundle } = await import("rolldown");
// Inside the package, so that `setpoint/…` means this one.
const folder = join(ROOT, ".cache/bench");
mkdirSync(folder, { recursive: true });
const file = join(folder, "bench.mjs");
await bundle({
  input: join(ROOT, "test/bench/main.ts"),
  cwd: ROOT,
  platform: "node",
  // `setpoint/…` stays an import of the built package: what is measured is what is shipped.
  external: (id) => !id.startsWith(".") && !id.startsWith("/"),
  transform: { target: "node20.19" },
  logLevel: "warn",
  output: { file, format: "esm", codeSplitting: false },
});
process.env["TMPDIR"] = openTempFolder();
process.exitCode = await runNode(["--expose-gc", file, ...process.argv.slice(2)]);
