/** A program that writes far more than its readers take. `npm run test:long` lets it write a gigabyte. */
import { statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SHARED } from "../conformance/process-machine.ts";
import { ProcessWorld, UID } from "../scenarios/process-world.ts";

const BYTES = Number(process.env["SETPOINT_FLOOD_BYTES"] ?? "20000000");
const LIMITS = { maxFileBytes: 2_000_000, maxFiles: 3 };
/** Room for the batches in flight, and for garbage that is not collected yet. */
const MEMORY_BYTES = 250_000_000;

describe.skipIf(process.platform === "win32")("a program that floods its log", () => {
  test("is bounded on disk and in memory, and keeps its last line", { timeout: 600_000 }, async () => {
    await using world = await ProcessWorld.open(SHARED, { logLimits: LIMITS });
    const before = process.memoryUsage().rss;
    let most = 0;

    world.start([
      "sh",
      "-c",
      `yes 0123456789012345678901234567890123456789 | head -c ${String(BYTES)}; echo; echo last`,
    ]);
    await world.until(
      "it ends",
      () => {
        most = Math.max(most, process.memoryUsage().rss - before);
        return world.reports.some(({ type }) => type === "exited");
      },
      600_000,
    );

    const folder = join(world.machine.folder, "pods-logs", UID);
    const sizes = (await readdir(folder)).map((name) => statSync(join(folder, name)).size);
    expect(sizes.length).toBeLessThanOrEqual(LIMITS.maxFiles);
    expect(Math.max(...sizes)).toBeLessThan(2 * LIMITS.maxFileBytes);
    expect(most).toBeLessThan(MEMORY_BYTES);
    expect(await world.log({ tailLines: 1 })).toBe("last\n");
  });
});
