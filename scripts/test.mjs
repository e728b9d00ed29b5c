// `npm test -- ARGUMENTS`: from a bare clone to `vitest run ARGUMENTS`. The build is for tests that start processes.
import { join } from "node:path";
import { runNode } from "./child.mjs";
import { ROOT, build, install } from "./prepare.mjs";

await install();
await build();
// Colours are for terminals; in a log file they are noise.
if (!process.stdout.isTTY && process.env["FORCE_COLOR"] === undefined) process.env["NO_COLOR"] = "1";
const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
process.exitCode = await runNode([vitest, "run", "--root", ROOT, ...process.argv.slice(2)]);
