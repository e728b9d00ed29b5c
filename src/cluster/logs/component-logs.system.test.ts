import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createTextLog } from "../../base/log/log-text.ts";
import { silentLog } from "../../base/log/log.ts";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { runCluster } from "../cluster.ts";
import { componentLogFile, ComponentLogs, LOG_COMPONENTS } from "./component-logs.ts";

const loop = createRealLoop({ name: "test" });
const LINE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (?:info |warn |error) /;

describe("logs of components", () => {
  test("of a running cluster are a file each, whose first line names program and version", async () => {
    const dataDir = folder();
    const ending = new AbortController();
    const logs = new ComponentLogs({ dataDir, level: "info", fallback: silentLog, loop });
    await runCluster(
      {
        dataDir,
        store: { type: "memory" },
        listen: { host: "127.0.0.1", port: 0 },
        restoreFile: undefined,
        kubeconfigFile: undefined,
        pkiDir: join(dataDir, "pki"),
        runtimeConfig: {},
        serviceCidrs: ["10.96.0.0/12"],
        nodePorts: { first: 30_000, last: 32_767 },
        loops: "all",
        nodes: 1,
        podCidrs: ["10.128.0.0/9"],
      },
      { loop, log: silentLog, logs, signal: ending.signal, report: () => ending.abort() },
    );

    for (const component of LOG_COMPONENTS) {
      const lines = linesOf(dataDir, component);
      expect(lines[0]).toMatch(
        new RegExp(`info  ${component} starts version=\\S+ kubernetes=v1\\.36 pid=\\d+$`),
      );
      expect(lines.filter((line) => !LINE.test(line))).toEqual([]);
    }
    expect(statSync(componentLogFile(dataDir, "kubelet")).mode & 0o777).toBe(0o600);
  });

  test("take messages from their level on, and create no file before they are opened", async () => {
    const dataDir = folder();
    const logs = new ComponentLogs({ dataDir, level: "warn", fallback: silentLog, loop });
    logs.of("kubelet").warn("early");
    const before = existsSync(join(dataDir, "logs"));

    logs.open();
    logs.of("kubelet").info("unimportant");
    logs.of("kubelet").error("late");
    await logs.close();

    expect(before).toBe(false);
    expect(linesOf(dataDir, "kubelet").map((line) => line.slice(25))).toEqual(["warn  early", "error late"]);
    expect(readdirSync(join(dataDir, "logs"))).toEqual(["kubelet.log"]);
  });

  test("are bounded: 16 MB of messages leave at most 12 MiB, with the newest", async () => {
    const dataDir = folder();
    const logs = new ComponentLogs({ dataDir, level: "info", fallback: silentLog, loop });
    logs.open();
    const text = "x".repeat(500_000);
    for (let count = 0; count < 32; count++) {
      logs.of("store").info(text, { count });
      await expect.poll(() => findSize(dataDir, `count=${String(count)}`)).toBeGreaterThan(0);
    }
    await logs.close();

    const names = readdirSync(join(dataDir, "logs"));
    const sizes = names.map((name) => statSync(join(dataDir, "logs", name)).size);
    expect(names).toHaveLength(3);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(4 << 20);
    expect(linesOf(dataDir, "store").at(-1)).toContain("count=31");
  });

  test("report a file that cannot be written once, and drop its messages", async () => {
    const dataDir = folder();
    const reported: string[] = [];
    mkdirSync(componentLogFile(dataDir, "store"), { recursive: true });
    const fallback = createTextLog({ isColoured: false, write: (line) => void reported.push(line) });
    const logs = new ComponentLogs({ dataDir, level: "info", fallback, loop });
    logs.open();

    logs.of("store").info("one");
    await logs.close();
    logs.of("store").info("two");
    await logs.close();

    expect(reported).toHaveLength(1);
    expect(reported[0]).toContain("error the log file cannot be written path=");
  });
});

/** Size of the current file of the store once it has the text; 0 before. */
function findSize(dataDir: string, text: string): number {
  const path = componentLogFile(dataDir, "store");
  const content = existsSync(path) ? readFileSync(path, "utf8") : "";
  return content.includes(text) ? content.length : 0;
}

function linesOf(dataDir: string, component: (typeof LOG_COMPONENTS)[number]): readonly string[] {
  return readFileSync(componentLogFile(dataDir, component), "utf8").trimEnd().split("\n");
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "setpoint-logs-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
