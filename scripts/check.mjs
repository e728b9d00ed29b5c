// `npm run check`: everything a change must pass before it is committed, cheapest first. The static checks run
// side by side and report in order; tests follow only when those hold.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { ROOT, build, install } from "./prepare.mjs";

/** @typedef {{ label: string, args: readonly string[] }} Stage */

/** @type {readonly Stage[]} */
const STATIC = [
  { label: "format", args: ["oxfmt/bin/oxfmt", "--check"] },
  { label: "lint", args: ["oxlint/bin/oxlint", "--deny-warnings", "--report-unused-disable-directives"] },
  { label: "types", args: ["typescript/bin/tsc", "--noEmit"] },
  { label: "dead code", args: ["knip/bin/knip.js", "--treat-config-hints-as-errors"] },
];
/** @type {Stage} */
const TESTS = { label: "unit tests", args: ["vitest/vitest.mjs", "run", "--project", "unit"] };

await install();
// The examples import the package by its name; lint reads its types from dist.
await build();
const start = performance.now();
for (const report of STATIC.map(run)) finish(await report);
finish(await run(TESTS));
process.stdout.write(`all ${String(STATIC.length + 1)} stages passed in ${seconds(start)}\n`);

/** @param {Stage} stage */
async function run({ label, args: [file = "", ...rest] }) {
  const began = performance.now();
  const env = { ...process.env, NO_COLOR: "1" };
  const child = spawn(process.execPath, [join(ROOT, "node_modules", file), ...rest], { cwd: ROOT, env });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)));
  /** @type {number} */
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status) => resolve(status ?? 1));
  });
  return { label, code, output, took: seconds(began) };
}

/** @param {Awaited<ReturnType<typeof run>>} report */
function finish({ label, code, output, took }) {
  process.stdout.write(`${code === 0 ? "ok    " : "failed"} ${label.padEnd(12)} ${took.padStart(7)}\n`);
  if (code === 0) return;
  process.stdout.write(output);
  process.exit(code);
}

/** @param {number} since */
function seconds(since) {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
