import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, test } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "setpoint-threads-"));
const program = join(folder, "program.mjs");

/** Prints the priority of the main thread, then those of the other threads. */
const SOURCE = `
import { readdirSync } from "node:fs";
import { getPriority } from "node:os";
import { lowerHelperThreadPriority } from "${fileURLToPath(new URL("./helper-threads.ts", import.meta.url))}";
const others = process.platform === "linux" ? readdirSync("/proc/self/task").map(Number).filter((id) => id !== process.pid) : [];
lowerHelperThreadPriority();
console.log(JSON.stringify([getPriority(), others.map((id) => getPriority(id))]));
`;

beforeAll(async () => {
  const input = join(folder, "source.mjs");
  writeFileSync(input, SOURCE);
  const bundle = await rolldown({ input, platform: "node", external: /^node:/ });
  await bundle.write({ file: program, format: "esm" });
  await bundle.close();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("threads of Node.js get a lower priority than the main thread, which keeps its own", () => {
  const { stdout } = spawnSync(process.execPath, [program], { encoding: "utf8" });

  const [main, others] = JSON.parse(stdout) as [number, number[]];

  if (process.platform === "linux") expect(others.length).toBeGreaterThan(0);
  expect(main).toBe(getPriority());
  expect(others.every((priority) => priority === Math.min(main + 10, 19))).toBe(true);
});
