/** The temporary folder of a run of the tests or benchmarks, in processes of its own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { findProcess } from "../../src/agent/process/process-table.ts";
import { ROOT } from "./package-consumer.ts";

const MODULE = join(ROOT, "scripts/temp-folder.mjs");
/** Puts a program and a file into the folder; then prints the folder and the process id. */
const RUN = `
const { openTempFolder } = await import(process.argv[1]);
const folder = openTempFolder();
const waits = "setInterval(() => undefined, 1000)";
const { pid } = require("node:child_process").spawn(process.execPath, ["-e", waits, folder + "/data"], { detached: true });
require("node:fs").writeFileSync(folder + "/file", "");
console.log(JSON.stringify({ folder, pid }));
`;

test.runIf(process.platform === "linux")(
  "is removed with its programs by the next run when its own run was killed, and not before",
  async () => {
    const parent = mkdtempSync(join(tmpdir(), "setpoint-parent-"));
    onTestFinished(() => rmSync(parent, { recursive: true }));
    const [killed, alive] = [new Run(parent), new Run(parent)];
    const [left, used] = [await killed.started, await alive.started];
    await killed.end("SIGKILL");
    const before = [existsSync(left.folder), findProcess(left.pid) !== undefined];

    const next = new Run(parent);
    await next.started;

    expect(before).toEqual([true, true]);
    expect(existsSync(left.folder)).toBe(false);
    await expect.poll(() => findProcess(left.pid)).toBeUndefined();
    expect([existsSync(used.folder), findProcess(used.pid) !== undefined]).toEqual([true, true]);
    await alive.end("SIGKILL");
    await next.end("SIGKILL");
    await new Run(parent).started;
    expect(existsSync(used.folder)).toBe(false);
  },
);

class Run {
  readonly started: Promise<{ readonly folder: string; readonly pid: number }>;
  readonly end: (signal: NodeJS.Signals) => Promise<void>;

  constructor(parent: string) {
    const env = { ...process.env, TMPDIR: parent };
    const child = spawn(process.execPath, ["--eval", `(async () => {${RUN}})()`, MODULE], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "exit");
    this.started = once(createInterface({ input: child.stdout }), "line").then(
      ([line]) => JSON.parse(String(line)) as { folder: string; pid: number },
    );
    this.end = async (signal) => {
      child.kill(signal);
      await ended;
    };
    onTestFinished(() => void child.kill("SIGKILL"));
  }
}
