/**
 * Scenarios of a whole cluster as users run it: real processes, the real kubectl, the machine's clock.
 * test/conformance/kubectl-cluster.test.ts covers the three deletion policies.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Kubectl } from "../conformance/kubectl/kubectl.ts";
import { Program } from "../conformance/kubectl/program.ts";
import { describePeer } from "../peers.ts";

/** Short lease times, so that tests need not wait for upstream's 15 seconds. */
const SOON = [
  "--leader-elect-lease-duration=2s",
  "--leader-elect-renew-deadline=1500ms",
  "--leader-elect-retry-period=250ms",
];

describePeer("kubectl", "in real time", (path) => {
  test("the lesson: three pods run, one is deleted, a new one is there within a second", async () => {
    const { kubectl } = await start(path, "up");
    await kubectl.ok("create", "deployment", "demo", "--image=nginx:1.25", "--replicas=3");
    await kubectl.ok("rollout", "status", "deployment/demo", "--timeout=20s");

    const before = await pods(kubectl);
    const { deletedAt, replacedAt } = await replace(kubectl, before);
    await kubectl.ok("wait", "--for=condition=available", "deployment/demo", "--timeout=20s");

    expect(before).toHaveLength(3);
    expect(replacedAt - deletedAt).toBeLessThanOrEqual(1000);
    expect(await kubectl.ok("describe", "rs")).toMatch(
      /Normal +SuccessfulCreate +\S+ +replicaset-controller +Created pod: demo-/,
    );
    const yaml = await kubectl.ok("get", "deployment", "demo", "-o", "yaml");
    expect(yaml).toMatch(/^ {2}observedGeneration: 1$/m);
    expect(yaml).toMatch(/reason: MinimumReplicasAvailable\n +status: "True"\n +type: Available$/m);
    expect(yaml).toMatch(/reason: NewReplicaSetAvailable\n +status: "True"\n +type: Progressing$/m);
    const leases = await kubectl.ok("get", "leases", "-n", "kube-system", "--no-headers");
    for (const name of ["kube-controller-manager", "kube-scheduler"])
      expect(leases).toMatch(new RegExp(`^${name} +\\S+ +\\S+$`, "m"));
  });

  test("controllers that are killed after pod 1 of 3 and started again make exactly 3", async () => {
    const { kubectl, kubeconfig } = await start(path, "apiserver");
    await kubectl.ok("create", "quota", "one", "--hard=pods=1");
    const first = new Program("controllers", "--kubeconfig", kubeconfig, ...SOON);
    await first.event("leading");
    await counted(kubectl, "one");
    await kubectl.ok("create", "deployment", "demo", "--image=nginx:1.25", "--replicas=3");
    await condition(kubectl, "rs -l=app=demo", "ReplicaFailure");
    const atKill = await pods(kubectl);

    await first.end("SIGKILL");
    await kubectl.ok("delete", "quota", "one");
    const second = new Program("controllers", "--kubeconfig", kubeconfig, ...SOON);
    await second.event("leading");
    await kubectl.ok("wait", "deployment/demo", "--for=jsonpath={.status.replicas}=3", "--timeout=20s");

    expect(atKill).toHaveLength(1);
    const after = await pods(kubectl);
    expect(after).toHaveLength(3);
    expect(after).toContain(atKill[0]);
    expect(await second.end("SIGTERM")).toEqual([0, null]);
  });

  test("a cluster that is killed and started again goes on at once", async () => {
    const { kubectl, program, dataDir, server } = await start(path, "up");
    await kubectl.ok("create", "deployment", "demo", "--image=nginx:1.25", "--replicas=2");
    await kubectl.ok("rollout", "status", "deployment/demo", "--timeout=20s");

    await program.end("SIGKILL");
    await new Program("up", "--data-dir", dataDir, "--listen", new URL(server).host).event("ready");
    await kubectl.ok("scale", "deployment", "demo", "--replicas=4");
    await kubectl.ok("wait", "deployment/demo", "--for=jsonpath={.status.readyReplicas}=4", "--timeout=10s");

    expect(await pods(kubectl)).toHaveLength(4);
  });

  test("of two instances the second goes on when the first is killed", async () => {
    const { kubectl, kubeconfig } = await start(path, "apiserver");
    const first = new Program("controllers", "--kubeconfig", kubeconfig, ...SOON);
    await first.event("leading");
    const second = new Program("controllers", "--kubeconfig", kubeconfig, ...SOON);
    await second.event("started");

    await first.end("SIGKILL");
    await kubectl.ok("create", "deployment", "demo", "--image=nginx:1.25", "--replicas=5");
    await second.event("leading");
    await kubectl.ok("wait", "deployment/demo", "--for=jsonpath={.status.replicas}=5", "--timeout=20s");

    expect(await pods(kubectl)).toHaveLength(5);
    const transitions = "jsonpath={.spec.leaseTransitions}";
    expect(
      await kubectl.ok("get", "lease", "kube-controller-manager", "-n", "kube-system", "-o", transitions),
    ).toBe("1");
  });

  test("a pod that fits nowhere waits, says why, and runs once a node is added", async () => {
    const { kubectl, kubeconfig } = await start(path, "up");
    // A new node is tainted for a moment, which is not under test here.
    const tolerations = [{ key: "node.kubernetes.io/not-ready", operator: "Exists" }];
    const nodeSelector = { "kubernetes.io/hostname": "extra-1" };
    const overrides = { spec: { nodeSelector, tolerations } };
    await kubectl.ok("run", "p", "--image=nginx:1.25", "--overrides", JSON.stringify(overrides));
    await kubectl.ok("wait", "--for=condition=PodScheduled=False", "pod/p", "--timeout=20s");
    const said = await kubectl.ok("describe", "pod", "p");

    const agent = new Program("agent", "--kubeconfig", kubeconfig, "--nodes=1", "--node-prefix=extra");
    await agent.event("leading");
    await kubectl.ok("wait", "--for=condition=Ready", "pod/p", "--timeout=20s");

    expect(said).toMatch(
      /Warning +FailedScheduling +\S+ +default-scheduler +0\/3 nodes are available: 3 node\(s\) didn't match Pod's node affinity\/selector\./,
    );
    expect(await kubectl.ok("get", "pod", "p", "-o", "jsonpath={.spec.nodeName}")).toBe("extra-1");
  });

  test("of two who apply different replicas the second is told who owns them, and changes nothing", async () => {
    const { kubectl } = await start(path, "up");
    const apply = (replicas: number, owner: string): readonly string[] => [
      "apply",
      "--server-side",
      `--field-manager=${owner}`,
      "-f",
      kubectl.file(`${owner}.json`, deployment(replicas)),
    ];
    await kubectl.ok(...apply(2, "first"));

    const refusal = await kubectl.refused(...apply(4, "second"));
    const kept = await kubectl.ok("get", "deployment", "demo", "-o", "jsonpath={.spec.replicas}");
    await kubectl.ok(...apply(4, "second"), "--force-conflicts");
    const returned = await kubectl.refused(...apply(2, "first"));

    expect(refusal).toContain('Apply failed with 1 conflict: conflict with "first": .spec.replicas');
    expect(kept).toBe("2");
    expect(returned).toContain('conflict with "second": .spec.replicas');
    await kubectl.ok("wait", "deployment/demo", "--for=jsonpath={.status.replicas}=4", "--timeout=20s");
  });

  test("a bad image stops a rollout at its deadline, what runs keeps running, and undo heals it", async () => {
    const { kubectl } = await start(path, "up");
    const spec = { ...deployment(4).spec, progressDeadlineSeconds: 5 };
    await kubectl.ok("apply", "-f", kubectl.file("demo.json", { ...deployment(4), spec }));
    await kubectl.ok("rollout", "status", "deployment/demo", "--timeout=20s");

    await kubectl.ok("set", "image", "deployment/demo", "c=nginx:nonexistent");
    const said = await kubectl.refused("rollout", "status", "deployment/demo", "--timeout=20s");
    const available = await kubectl.ok(
      "get",
      "deployment",
      "demo",
      "-o",
      "jsonpath={.status.availableReplicas}",
    );
    await kubectl.ok("rollout", "undo", "deployment/demo");
    const healed = await kubectl.ok("rollout", "status", "deployment/demo", "--timeout=20s");

    expect(said).toContain('deployment "demo" exceeded its progress deadline');
    expect(Number(available)).toBeGreaterThanOrEqual(3);
    expect(healed).toContain('deployment "demo" successfully rolled out');
    expect(await pods(kubectl)).toHaveLength(4);
  });

  test("a server that is killed while 100 pods are deleted comes back, and the count is right", async () => {
    const { kubectl, kubeconfig, program, dataDir, server } = await start(path, "apiserver");
    const controllers = new Program("controllers", "--kubeconfig", kubeconfig, ...SOON);
    await controllers.event("leading");
    await kubectl.ok("create", "deployment", "demo", "--image=nginx:1.25", "--replicas=100");
    await kubectl.ok("wait", "deployment/demo", "--for=jsonpath={.status.replicas}=100", "--timeout=20s");
    const before = await pods(kubectl);

    controllers.signal("SIGSTOP");
    await kubectl.ok("delete", "pods", "--all", "--wait=false");
    await program.end("SIGKILL");
    const again = new Program("apiserver", "--data-dir", dataDir, "--listen", new URL(server).host);
    await again.event("ready");
    const between = await pods(kubectl);
    controllers.signal("SIGCONT");
    const made = new Set<string>();
    for await (const line of kubectl.lines("get", "pods", "-w", "-o", "name")) {
      made.add(line);
      if (made.size === 100) break;
    }
    await kubectl.ok(
      "wait",
      "deployment/demo",
      "--for=jsonpath={.status.updatedReplicas}=100",
      "--timeout=20s",
    );

    expect([before.length, between.length]).toEqual([100, 0]);
    expect(await pods(kubectl)).toHaveLength(100);
  });

  test("what a quota refuses is said, and made once the quota allows it", async () => {
    const { kubectl } = await start(path, "up");
    await kubectl.ok("create", "quota", "few", "--hard=pods=1");
    await counted(kubectl, "few");
    await kubectl.ok("create", "deployment", "demo", "--image=nginx:1.25", "--replicas=3");
    await kubectl.ok("wait", "--for=condition=ReplicaFailure", "deployment/demo", "--timeout=20s");
    const format = `jsonpath={.status.conditions[?(@.type=="ReplicaFailure")]['status','reason','message']}`;
    const said = await kubectl.ok("get", "deployment", "demo", "-o", format);

    await kubectl.ok("patch", "quota", "few", "-p", '{"spec":{"hard":{"pods":"3"}}}');
    await kubectl.ok("rollout", "status", "deployment/demo", "--timeout=30s");

    expect(said).toMatch(
      /^True FailedCreate pods "demo-\w+-\w+" is forbidden: exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1$/,
    );
    expect(await pods(kubectl)).toHaveLength(3);
  });
});

interface Started {
  readonly kubectl: Kubectl;
  readonly kubeconfig: string;
  readonly program: Program;
  readonly dataDir: string;
  readonly server: string;
}

async function start(path: string, command: "up" | "apiserver"): Promise<Started> {
  const home = mkdtempSync(join(tmpdir(), "setpoint-real-time-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const dataDir = join(home, "data");
  const program = new Program(command, "--data-dir", dataDir, "--listen", "127.0.0.1:0");
  const { kubeconfig = "", server = "" } = await program.event("ready");
  return {
    kubectl: new Kubectl({ path, kubeconfig, home }, "default"),
    kubeconfig,
    program,
    dataDir,
    server,
  };
}

async function pods(kubectl: Kubectl): Promise<readonly string[]> {
  const names = await kubectl.ok(
    "get",
    "pods",
    "-o",
    "jsonpath={range .items[*]}{.metadata.name}{'\\n'}{end}",
  );
  return names.split("\n").filter((name) => name !== "");
}

/** Deletes one of the pods; returns, in milliseconds, when it was to end and when its replacement was created. */
async function replace(kubectl: Kubectl, before: readonly string[]) {
  const [victim = ""] = before;
  const fields = ["name", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"];
  const format = `jsonpath=${fields.map((field) => `{.metadata.${field}}`).join(",")}{'\\n'}`;
  let [deletedAt, replacedAt] = [0, 0];
  let seen = 0;
  for await (const line of kubectl.lines("get", "pods", "-w", "-o", format)) {
    const [name = "", created, deleted = "", graceSeconds] = line.split(",");
    if (++seen === before.length) await kubectl.ok("delete", "pod", victim, "--wait=false");
    if (name === victim && deleted !== "") deletedAt = time(deleted) - Number(graceSeconds) * 1000;
    if (!before.includes(name)) replacedAt = time(created);
    if (deletedAt > 0 && replacedAt > 0) break;
  }
  return { deletedAt, replacedAt };
}

/** A quota limits nothing before its first count. */
async function counted(kubectl: Kubectl, quota: string): Promise<void> {
  await kubectl.ok("wait", `quota/${quota}`, "--for=jsonpath={.status.used.pods}=0", "--timeout=20s");
}

/** Waits until the named object has the condition. */
async function condition(kubectl: Kubectl, what: string, type: string): Promise<void> {
  for await (const line of kubectl.lines(
    "get",
    ...what.split(" "),
    "-w",
    "-o",
    "jsonpath={.status.conditions[*].type}{'\\n'}",
  ))
    if (line.includes(type)) return;
  throw new Error(`${what} does not become ${type}`);
}

function time(text: unknown): number {
  return Date.parse(String(text));
}

function deployment(replicas: number) {
  const labels = { app: "demo" };
  const spec = { containers: [{ name: "c", image: "nginx:1.25" }] };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "demo" },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}
