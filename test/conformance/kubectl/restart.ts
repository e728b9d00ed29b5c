/** Objects that kubectl stored in a file store survive every end of the process. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Kubectl } from "./kubectl.ts";
import { Program } from "./program.ts";

const MANIFEST = ["Namespace", "ConfigMap"].map((kind) => ({
  apiVersion: "v1",
  kind,
  metadata: { name: "kept", ...(kind === "ConfigMap" && { namespace: "kept" }) },
}));

export function restartClaims(path: string): void {
  test.each(["SIGTERM", "SIGKILL"] as const)("after %s everything is still there", async (signal) => {
    const home = mkdtempSync(join(tmpdir(), "setpoint-restart-"));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));

    const first = await up(home);
    const before = new Kubectl({ path, kubeconfig: first.kubeconfig, home });
    const list = { apiVersion: "v1", kind: "List", items: MANIFEST };
    await before.ok("create", "-f", before.file("kept.json", list));
    const stored = await before.json("get", "configmap", "kept", "-n", "kept");
    const ending = await first.program.end(signal);
    const second = await up(home);
    const after = new Kubectl({ path, kubeconfig: second.kubeconfig, home });

    expect(ending).toEqual(signal === "SIGTERM" ? [0, null] : [null, signal]);
    expect(await after.json("get", "configmap", "kept", "-n", "kept")).toEqual(stored);
    expect(await after.ok("create", "configmap", "next", "-n", "kept")).toBe("configmap/next created\n");
    await second.program.end("SIGTERM");
  });
}

interface Up {
  readonly program: Program;
  readonly kubeconfig: string;
}

/** Resolves once the cluster reports that it is ready. */
async function up(home: string): Promise<Up> {
  const program = new Program("up", "--data-dir", join(home, "data"), "--listen", "127.0.0.1:0");
  const { kubeconfig = "" } = await program.event("ready");
  return { program, kubeconfig };
}
