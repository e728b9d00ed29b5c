/** The kubeconfig of a user whom the rights of files hold back. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { mergeContext } from "../../src/cluster/kubeconfig/user-kubeconfig.ts";
import { becomeNormalUser } from "./normal-user.ts";

becomeNormalUser();

test("is left alone when its folder cannot be written", async () => {
  const loop = createRealLoop({ name: "test" });
  const folder = mkdtempSync(join(tmpdir(), "setpoint-kube-"));
  const file = join(folder, "config");
  writeFileSync(file, "contexts: []\n");
  chmodSync(folder, 0o500);
  onTestFinished(() => {
    chmodSync(folder, 0o700);
    rmSync(folder, { recursive: true });
  });
  const access = { server: "https://127.0.0.1:6443", ca: "ca", user: { cert: "cert", key: "key" } };

  const merging = mergeContext({ file, loop }, { name: "setpoint", dataDir: "/data" }, access);

  await expect(merging).rejects.toThrow("is not permitted");
  expect(readFileSync(file, "utf8")).toBe("contexts: []\n");
});
