/** The kubeconfig and the listener with the real kubectl. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../src/base/log/log.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { serverUrl, writeKubeconfig } from "../../src/cluster/kubeconfig/kubeconfig.ts";
import { openPki, serverNames } from "../../src/server/pki/pki.ts";
import type { HttpHandler } from "../../src/server/request/http.ts";
import { isUrgent } from "../../src/server/request/parse-request.ts";
import { listen } from "../../src/server/transport/listener.ts";
import { describePeer } from "../peers.ts";

const run = promisify(execFile);
const loop = createRealLoop({ name: "test" });

describePeer("kubectl", "kubectl with a kubeconfig of ours", (kubectl) => {
  test("trusts the server, names its user, and keeps its key unreadable for others", async () => {
    const dir = mkdtempSync(join(tmpdir(), "setpoint-kubeconfig-"));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const names = serverNames([], "10.96.0.1");
    const pki = await openPki({ dir: join(dir, "pki"), names, loop, log: silentLog });
    const tls = { ...pki.server, ca: pki.ca.cert };
    const listener = await listen({
      loop,
      log: silentLog,
      handler,
      isUrgent,
      tls,
      host: "127.0.0.1",
      port: 0,
    });
    onTestFinished(() => listener.close({ graceMs: 0 }));
    const file = join(dir, "kubeconfig");
    const server = serverUrl({ host: "127.0.0.1", port: listener.port });

    await writeKubeconfig(file, { server, ca: pki.ca.cert, user: pki.admin }, loop);
    const ask = (...args: readonly string[]) => run(kubectl, ["--kubeconfig", file, ...args]);
    const [health, version] = await Promise.all([ask("get", "--raw", "/healthz"), ask("version")]);

    expect(health.stdout).toBe("ok, kubernetes-admin");
    expect(version.stdout).toContain("Server Version: v1.36.4+setpoint");
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  const handler: HttpHandler = async ({ target, peer }) => {
    const isVersion = target.startsWith("/version");
    const version = { major: "1", minor: "36", gitVersion: "v1.36.4+setpoint" };
    const body = isVersion ? JSON.stringify(version) : `ok, ${peer?.user ?? "nobody"}`;
    return { status: 200, headers: new Map([["content-type", "application/json"]]), body: Buffer.from(body) };
  };
});
