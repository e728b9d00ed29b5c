// `npm run test:long`: the long runs of tests that are short in `npm test`. Ends within 30 minutes on two cores.
import { join } from "node:path";
import { runNode } from "./child.mjs";
import { ROOT, build, install } from "./prepare.mjs";

await install();
await build();
process.env["SETPOINT_AGENT_KILLS"] ??= "200";
process.env["SETPOINT_FLOOD_BYTES"] ??= "1000000000";
process.env["SETPOINT_CRASH_CYCLES"] ??= "200";
process.env["SETPOINT_DAMAGE_FLIPS"] ??= "40";
process.env["SETPOINT_MODEL_FACTOR"] ??= "8";
const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
const files = [
  "test/faults/agent-kills.test.ts",
  "test/faults/log-flood.test.ts",
  "test/faults/crash.test.ts",
  "test/faults/damage.test.ts",
  "test/conformance/memory-store.test.ts",
  "test/conformance/file-store.test.ts",
];
process.exitCode = await runNode([vitest, "run", "--root", ROOT, "--project", "system", ...files]);
