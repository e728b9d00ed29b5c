/** `setpoint watch` as a program on a pseudo terminal, before a real cluster. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openTerminal, type Terminal } from "../../src/agent/process/terminal.ts";
import type { Manifest } from "../../src/api/api-object.ts";
import { Deployment } from "../../src/api/generated/types/apps-v1.ts";
import { Pod } from "../../src/api/generated/types/core-v1.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { connect, type Connection } from "../../src/client/connection.ts";
import { ScreenReader } from "../screen-reader.ts";
import { Folder, RunningCluster } from "./running-cluster.ts";

const PROGRAM = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const IN_TIME = { timeout: 20_000, interval: 20 };
const hasPty = await import("@lydell/node-pty").then(
  () => true,
  () => process.env["SETPOINT_REQUIRE_PEERS"] === "1",
);

describe.skipIf(!hasPty)("setpoint watch on a terminal (needs npm install @lydell/node-pty)", () => {
  const folder = new Folder();
  let cluster: RunningCluster;
  let connection: Connection;

  beforeAll(async () => {
    cluster = await RunningCluster.start(folder, { loops: "all", nodes: 2, store: { type: "memory" } });
    connection = await connect({ file: cluster.kubeconfig, loop: createRealLoop({ name: "test" }) });
    await connection.client(Deployment).create({ ...web(), metadata: { namespace: "default", name: "web" } });
  });
  afterAll(async () => {
    await connection.close();
    await cluster.stop();
    folder.remove();
  });

  /** Runs the program, then tells the modes of the terminal. */
  async function open(): Promise<{ terminal: Terminal; screen: ScreenReader; pid: () => number }> {
    const pidFile = join(folder.path, `pid-${String(Math.trunc(performance.now()))}`);
    const line = `(echo $BASHPID > ${pidFile}; exec node ${PROGRAM} watch --kubeconfig ${cluster.kubeconfig}); echo "code=$?"; stty -a`;
    const terminal = await openTerminal(["env", "-u", "NO_COLOR", "LANG=C.UTF-8", "bash", "-c", line], {
      columns: 110,
      rows: 30,
    });
    const screen = new ScreenReader();
    terminal.onOutput((bytes) => screen.read(bytes));
    onTestFinished(() => terminal.kill());
    await shows(screen, "web-");
    return { terminal, screen, pid: () => Number(readFileSync(pidFile, "utf8")) };
  }

  async function shows(screen: ScreenReader, text: string | RegExp): Promise<void> {
    await expect.poll(() => screen.text, IN_TIME).toMatch(text);
  }

  async function isRestored(screen: ScreenReader): Promise<void> {
    await expect.poll(() => screen.after, IN_TIME).toMatch(/code=\d+[^]* icanon [^]* echo /);
  }

  test("deletes a pod that is selected, and shows its replacement", async () => {
    const { terminal, screen } = await open();
    await shows(screen, /● \d+ ready/);
    terminal.write("/web\r\u001B[B\u001B[B");
    await shows(screen, /default\/web-\S+ {2}Running/);
    const [, name = ""] = /default\/(web-\S+) {2}Running/.exec(screen.text) ?? [];
    terminal.write("k");
    await shows(screen, `delete Pod default/${name}?`);
    terminal.write("y");

    await shows(screen, `deleted Pod default/${name}`);
    await expect.poll(async () => (await podNames()).includes(name), IN_TIME).toBe(false);
    await expect.poll(async () => (await podNames()).length, IN_TIME).toBe(3);
    const [youngest = ""] = (await podNames()).filter((each) => !screen.text.includes(name) && each !== name);
    await shows(screen, youngest);
    terminal.write("q");
    await isRestored(screen);
    expect(screen.after).toContain("code=0");
  });

  test("scales the owner, asks why, and follows the size of the terminal", async () => {
    const { terminal, screen } = await open();
    terminal.write("/web\r\u001B[B\u001B[B+");
    await shows(screen, "scaled Deployment default/web: 3 → 4");
    terminal.write("w");
    await shows(screen, /why Pod default\/web-[^]*why it exists/);
    terminal.resize({ columns: 20, rows: 5 });
    await shows(screen, "has 20×5");
    terminal.resize({ columns: 60, rows: 20 });
    await shows(screen, /node-1[^]*why it exists/);
    terminal.write("\u001B");
    await shows(screen, /events ───/);
    terminal.write("\u0003");
    await isRestored(screen);
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("restores the terminal after %s", async (signal) => {
    const { screen, pid } = await open();
    process.kill(pid(), signal);

    await isRestored(screen);
  });

  test("leaves the terminal while it is stopped, and draws anew when it goes on", async () => {
    const { screen, pid } = await open();
    process.kill(pid(), "SIGTSTP");
    await expect.poll(() => screen.isFull, IN_TIME).toBe(false);
    process.kill(pid(), "SIGCONT");
    await expect.poll(() => screen.isFull, IN_TIME).toBe(true);
    await shows(screen, "web-");
    process.kill(pid(), "SIGTERM");

    await isRestored(screen);
  });

  async function podNames(): Promise<readonly string[]> {
    const { items } = await connection.client(Pod).list({ namespace: "default" });
    return items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name);
  }
});

function web(): Pick<Manifest<Deployment>, "spec"> {
  const labels = { app: "web" };
  const containers = [{ name: "web", image: "web:1" }];
  return {
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 1, containers } },
    },
  };
}
