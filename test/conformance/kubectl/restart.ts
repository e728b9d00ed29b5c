/** What kubectl stored in a file store is there again after the process ended, however it ended. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { Kubectl } from "./kubectl.ts";

const PROGRAM = fileURLToPath(new URL("../../../dist/cli.js", import.meta.url));
const MANIFEST = ["Namespace", "ConfigMap"].map((kind) => ({
  apiVersion: "v1",
  kind,
  metadata: { name: "kept", ...(kind === "ConfigMap" && { namespace: "kept" }) },
}));

export function restartClaims(path: string): void {
  test.each(["SIGTERM", "SIGKILL"] as const)("after %s everything is still there", async (signal) => {
    expect(existsSync(PROGRAM), "dist/cli.js is there: run it through npm test, which builds").toBe(true);
    const home = mkdtempSync(join(tmpdir(), "setpoint-restart-"));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));

    const first = await up(home);
    const before = new Kubectl({ path, kubeconfig: first.kubeconfig, home });
    const list = { apiVersion: "v1", kind: "List", items: MANIFEST };
    await before.ok("create", "-f", before.file("kept.json", list));
    const stored = await before.json("get", "configmap", "kept", "-n", "kept");
    const ending = await end(first.process, signal);
    const second = await up(home);
    const after = new Kubectl({ path, kubeconfig: second.kubeconfig, home });

    expect(ending).toEqual(signal === "SIGTERM" ? [0, null] : [null, signal]);
    expect(await after.json("get", "configmap", "kept", "-n", "kept")).toEqual(stored);
    expect(await after.ok("create", "configmap", "next", "-n", "kept")).toBe("configmap/next created\n");
    await end(second.process, "SIGTERM");
  });
}

interface Up {
  readonly process: ChildProcess;
  readonly kubeconfig: string;
}

/** Settles when the cluster says that it is ready. */
async function up(home: string): Promise<Up> {
  const args = [PROGRAM, "up", "--data-dir", join(home, "data"), "--listen", "127.0.0.1:0", "--json"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaints += text;
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const { event, kubeconfig } = JSON.parse(line) as { event: string; kubeconfig: string };
    if (event === "ready") return { process: child, kubeconfig };
  }
  throw new Error(`setpoint up ended before it was ready: ${complaints}`);
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<readonly unknown[]> {
  const gone = once(child, "exit") as Promise<readonly unknown[]>;
  child.kill(signal);
  return await gone;
}
