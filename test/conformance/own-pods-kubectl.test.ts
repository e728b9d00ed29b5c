/** The real kubectl on the control plane's own pods and on simulated pods: logs, exec, attach, port-forward. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describePeer } from "../peers.ts";
import { Kubectl } from "./kubectl/kubectl.ts";
import { Folder, RunningCluster } from "./running-cluster.ts";

const POLL = { timeout: 20_000, interval: 100 };

describePeer("kubectl", "kubectl and the nodes of this process", (path) => {
  const folder = new Folder();
  let cluster: RunningCluster;
  let kubectl: Kubectl;

  beforeAll(async () => {
    cluster = await RunningCluster.start(folder, { loops: "all", nodes: 2 });
    const { kubeconfig } = cluster;
    kubectl = new Kubectl({ path, kubeconfig, home: join(folder.path, "kubectl") }).within("default");
  });

  afterAll(async () => {
    await cluster.stop();
    folder.remove();
  });

  describe("the control plane", () => {
    const system = (...args: readonly string[]): Promise<string> =>
      kubectl.ok("--namespace", "kube-system", ...args);

    test("has a running pod for each component, as on other clusters", async () => {
      const list = () => system("get", "pods", "-l", "tier=control-plane", "-o", `jsonpath=${PODS}`);

      await expect
        .poll(list, POLL)
        .toBe(
          ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"]
            .map((name) => `${name}-node-1 ${name} Running\n`)
            .join(""),
        );
    });

    test("shows its log files, and follows them", async () => {
      const label = "component=kube-controller-manager";
      await expect
        .poll(() => system("logs", "-l", label, "--tail=50"), POLL)
        .toMatch(/^\d{4}-[^\n]* info {2}kube-controller-manager starts version=/m);

      for await (const line of kubectl.lines("-n", "kube-system", "logs", "-l", label, "--tail=50", "-f")) {
        expect(line).toMatch(/^\d{4}-\d\d-\d\dT/);
        break;
      }
    });

    test("comes back when its pods are deleted", async () => {
      const uid = () => system("get", "pod", "kube-scheduler-node-1", "-o", "jsonpath={.metadata.uid}");
      const before = await uid();
      await system("delete", "pod", "kube-scheduler-node-1");

      await expect.poll(() => uid().catch(() => before), POLL).not.toBe(before);
      await expect
        .poll(() => system("get", "pod", "kube-scheduler-node-1", "-o", "jsonpath={.status.phase}"), POLL)
        .toBe("Running");
    });

    test("has no shell in its pods", async () => {
      const { stderr } = await kubectl.run("-n", "kube-system", "exec", "etcd-node-1", "--", "sh");

      expect(stderr).toContain("is a part of the process setpoint");
    });

    test("takes no room on the nodes", async () => {
      const room = await kubectl.ok("get", "node", "node-1", "-o", "jsonpath={.status.allocatable.pods}");

      expect(room).toBe("114");
    });
  });

  describe("a simulated pod", () => {
    beforeAll(async () => {
      const annotations = {
        log: "starting\n+1s listening",
        exec: "hostname: web-0\nbroken: { stderr: no such thing, exitCode: 3 }",
        ports: "8080: hello",
      };
      await kubectl.ok(
        ...["run", "web", "--image=web:1", "--port=8080"],
        ...Object.entries(annotations).map(
          ([name, text]) => `--annotations=simulated.setpoint.dev/${name}=${text}`,
        ),
      );
      await kubectl.ok("wait", "--for=condition=Ready", "pod/web", "--timeout=20s");
    });

    test("has its declared log", async () => {
      await expect.poll(() => kubectl.ok("logs", "web"), POLL).toBe("starting\nlistening\n");
      expect(await kubectl.ok("logs", "web", "--tail=1")).toBe("listening\n");
      expect(await kubectl.refused("logs", "web", "--previous")).toContain(
        'previous terminated container "web" in pod "web" not found',
      );
    });

    test("answers declared commands, and explains the others", async () => {
      expect(await kubectl.ok("exec", "web", "--", "hostname")).toBe("web-0\n");
      expect(await kubectl.run("exec", "web", "--", "broken")).toMatchObject({
        code: 3,
        stderr: "no such thing\ncommand terminated with exit code 3\n",
      });
      const { code, stderr } = await kubectl.run("exec", "web", "--", "sh");
      expect([code, stderr]).toEqual([
        126,
        expect.stringContaining("simulated: container web executes nothing"),
      ]);
    });

    test("answers on a declared port", async () => {
      const child = spawn(path, ["--kubeconfig", cluster.kubeconfig, "port-forward", "pod/web", ":8080"], {
        stdio: ["ignore", "pipe", "ignore"],
      });
      try {
        for await (const line of createInterface({ input: child.stdout })) {
          const port = /127\.0\.0\.1:(\d+)/.exec(line)?.[1];
          if (port === undefined) continue;
          expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe("hello");
          break;
        }
      } finally {
        child.kill();
      }
    });

    test("has usage that kubectl top shows", async () => {
      await expect
        .poll(() => kubectl.run("top", "pod", "web", "--no-headers"), POLL)
        .toMatchObject({ code: 0 });
      expect(await kubectl.ok("top", "pod", "web", "--no-headers")).toMatch(/^web +1m +16Mi/);
    });
  });

  test("a node shows its pages to callers with the right to them", async () => {
    const summary = await kubectl.ok("get", "--raw", "/api/v1/nodes/node-1/proxy/stats/summary");
    const page = await kubectl.ok("get", "--raw", "/api/v1/nodes/node-1/proxy/metrics/resource");

    expect(JSON.parse(summary)).toMatchObject({ node: { nodeName: "node-1" } });
    expect(page).toContain("node_cpu_usage_seconds_total");
  });
});

const PODS = '{range .items[*]}{.metadata.name} {.metadata.labels.component} {.status.phase}{"\\n"}{end}';
