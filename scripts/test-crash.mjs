// `npm run test:crash -- N`: kills a writing process N times (test/faults/crash.test.ts) and checks its store after each.
// SETPOINT_SEED=S kills at other moments.
import { join } from "node:path";
import { runNode } from "./child.mjs";
import { ROOT, install } from "./prepare.mjs";

const [cycles = "50", ...rest] = process.argv.slice(2);
if (!/^[1-9]\d*$/.test(cycles)) {
  process.stderr.write(`usage: npm run test:crash -- CYCLES\nnot a number of cycles: ${cycles}\n`);
  process.exit(2);
}

await install();
process.env["SETPOINT_CRASH_CYCLES"] = cycles;
const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
process.exitCode = await runNode([vitest, "run", "--root", ROOT, "test/faults/crash.test.ts", ...rest]);
