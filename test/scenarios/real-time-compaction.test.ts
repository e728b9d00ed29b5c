/** A controller that missed events for good: its watch was cut, and the history since is compacted. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { openEtcdStore } from "../../src/store/etcd/etcd-store.ts";
import { Kubectl } from "../conformance/kubectl/kubectl.ts";
import { Program } from "../conformance/kubectl/program.ts";
import { EtcdServer } from "../etcd-server.ts";
import { describePeer } from "../peers.ts";

const PODS = 100;

describePeer("etcd", "in real time, over etcd", () => {
  describePeer("kubectl", "with the real kubectl", (path) => {
    test("after a watch was cut and history compacted while 100 pods were deleted, the count is right", async () => {
      await using etcd = await EtcdServer.start();
      const home = mkdtempSync(join(tmpdir(), "setpoint-compaction-"));
      onTestFinished(() => rmSync(home, { recursive: true, force: true }));
      const flags = ["--data-dir", join(home, "data"), "--store=etcd", `--etcd-endpoints=${etcd.endpoint}`];
      const first = new Program("apiserver", ...flags, "--listen", "127.0.0.1:0");
      const { kubeconfig = "", server = "" } = await first.event("ready");
      const kubectl = new Kubectl({ path, kubeconfig, home }, "default");
      const controllers = new Program("controllers", "--kubeconfig", kubeconfig, ...PATIENT);
      await controllers.event("leading");
      await kubectl.ok("create", "deployment", "demo", "--image=nginx:1.25", `--replicas=${PODS}`);
      const replicas = `--for=jsonpath={.status.replicas}=${PODS}`;
      await kubectl.ok("wait", "deployment/demo", replicas, "--timeout=30s");

      controllers.signal("SIGSTOP");
      const before = new Set(await pods(kubectl));
      await kubectl.ok("delete", "pods", "--all", "--wait=false");
      await first.end("SIGKILL");
      const compactedTo = await compact(etcd.endpoint);
      const again = new Program("apiserver", ...flags, "--listen", new URL(server).host);
      await again.event("ready");
      const between = await pods(kubectl);
      const gone = await kubectl.ok(
        "get",
        "--raw",
        `/api/v1/pods?watch=1&resourceVersion=${compactedTo - 1}`,
      );
      controllers.signal("SIGCONT");
      for await (const line of kubectl.lines("get", "rs", "-w", "-o", "jsonpath={.status.replicas}{'\\n'}"))
        if (line === String(PODS) && (await pods(kubectl)).length === PODS) break;

      expect([before.size, between.length]).toEqual([PODS, 0]);
      expect(gone).toContain("too old resource version");
      const after = await pods(kubectl);
      expect(after).toHaveLength(PODS);
      expect(after.filter((name) => before.has(name))).toEqual([]);
      expect(await controllers.end("SIGTERM")).toEqual([0, null]);
    });
  });
});

/** Longer than the lease, so that a stopped leader still leads afterwards. */
const PATIENT = [
  "--leader-elect-lease-duration=60s",
  "--leader-elect-renew-deadline=50s",
  "--leader-elect-retry-period=1s",
];

/** Compacts all history, as an etcd with automatic compaction does in time. */
async function compact(endpoint: string): Promise<number> {
  const loop = createRealLoop({ name: "test" });
  const store = await openEtcdStore({
    loop,
    endpoints: [endpoint],
    prefix: "/registry/",
    compactionIntervalMs: 0,
  });
  try {
    const { revision } = store.view;
    await store.compact(revision);
    return revision;
  } finally {
    await store.close();
  }
}

async function pods(kubectl: Kubectl): Promise<readonly string[]> {
  const names = await kubectl.ok("get", "pods", "-o", "name");
  return names.split("\n").filter((name) => name !== "");
}
