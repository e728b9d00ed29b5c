import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { mergeContext, removeContext } from "./user-kubeconfig.ts";

const loop = createRealLoop({ name: "test" });
const ACCESS = { server: "https://127.0.0.1:6443", ca: "ca", user: { cert: "cert", key: "key" } };

test("the kubeconfig of a user is not read when it is a pipe", async () => {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-kubeconfig-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "config");
  execFileSync("mkfifo", [file]);

  await removeContext({ file, loop }, "/data");
  const merging = mergeContext({ file, loop }, { name: "setpoint", dataDir: "/data" }, ACCESS);

  await expect(merging).rejects.toThrow("is not a regular file");
});
