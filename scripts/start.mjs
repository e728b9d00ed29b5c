// `npm start -- FLAGS`: from a bare clone to a running `setpoint up FLAGS`.
import { join } from "node:path";
import { runNode } from "./child.mjs";
import { ROOT, build, install } from "./prepare.mjs";

await install();
await build();
process.exitCode = await runNode([join(ROOT, "dist/cli.js"), "up", ...process.argv.slice(2)]);
