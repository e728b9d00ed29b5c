/** A machine whose limit of watched folders is used up, as by an editor: `fs.watch` fails there. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { Pod } from "../../src/api/generated/types/core-v1.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { connect } from "../../src/client/connection.ts";

const PROGRAM = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
/** The limit of a user namespace counts for the processes inside. */
const INSIDE = ["--user", "--map-root-user", "sh", "-c"];
const LIMIT = "echo 0 >/proc/sys/user/max_inotify_watches";

const isPossible = spawnSync("unshare", [...INSIDE, LIMIT]).status === 0;

test.skipIf(!isPossible)("a process pod runs to its end where no more folders can be watched", async () => {
  const kubeconfig = await startCluster();
  await using connection = await connect({ file: kubeconfig, loop: createRealLoop({ name: "test" }) });
  const pods = connection.client(Pod);
  const key = { namespace: "default", name: "short" };
  const container = { name: "main", image: "none", command: ["sh", "-c", "exit 3"] };

  await pods.create({
    metadata: key,
    spec: { restartPolicy: "Never", hostNetwork: true, containers: [container] },
  });

  await expect
    .poll(async () => (await pods.get(key)).status.containerStatuses?.[0]?.state, { timeout: 30_000 })
    .toMatchObject({ terminated: { exitCode: 3 } });
});

/** Path of the kubeconfig. */
async function startCluster(): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), "setpoint-limit-"));
  const kubeconfig = join(dataDir, "user");
  const place = ["--data-dir", dataDir, "--kubeconfig", kubeconfig, "--listen", "127.0.0.1:0"];
  const up = [process.execPath, PROGRAM, "up", "--runtime", "process", "--json", ...place];
  const child = spawn("unshare", [...INSIDE, `${LIMIT} && exec "$@"`, "sh", ...up], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    const ended = once(child, "close");
    child.kill("SIGTERM");
    await ended;
    rmSync(dataDir, { recursive: true, force: true });
  });
  for await (const line of createInterface({ input: child.stdout }))
    if ((JSON.parse(line) as { readonly event: string }).event === "ready") break;
  return kubeconfig;
}
