/** The agent with containers that are processes: volumes, variables, probes, hooks, messages, and its own restarts. */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { nodeAgent } from "../../src/agent/node-agent.ts";
import type { NodeSetup } from "../../src/agent/node/agent-node.ts";
import { ProcessHandler } from "../../src/agent/process/process-handler.ts";
import { listProcesses, signalGroup } from "../../src/agent/process/process-table.ts";
import { ConfigMap, Pod, type ContainerStatus } from "../../src/api/generated/types/core-v1.ts";
import { pause } from "../../src/base/loop/pause.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { SHARED } from "../conformance/process-machine.ts";
import { openCluster } from "./agent-fixture.ts";

const WAIT_MS = 30_000;

describe.skipIf(process.platform === "win32")("a container that is a process", () => {
  test("has its variables, and leaves a message at its end", async () => {
    await using world = await open();
    const env = [
      { name: "WHO", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      { name: "TEXT", valueFrom: { configMapKeyRef: { name: "c", key: "text" } } },
      { name: "BOTH", value: "$(WHO)-$(TEXT)" },
    ];
    await world.cluster
      .client(ConfigMap)
      .apply({ metadata: { name: "c", namespace: "default" }, data: { text: "t" } });
    await world.run("web", {
      command: ["sh", "-c", 'echo "says $BOTH"; exit 3'],
      ...{ env, terminationMessagePolicy: "FallbackToLogsOnError" },
    });

    const { state } = await world.container("web", ({ state }) => state.terminated !== undefined);

    expect(state.terminated).toMatchObject({ exitCode: 3, message: "says web-t\n" });
  });

  test("becomes ready by its probe, and restarts when its liveness probe fails", async () => {
    await using world = await open();
    const script =
      'const s=require("http").createServer((q,r)=>{if(q.url==="/die")bad=1;r.statusCode=bad?500:200;r.end()});let bad=0;s.listen(process.env.PORT??8080)';
    const httpGet = { path: "/", port: 8080 };
    await world.run(
      "web",
      {
        command: [process.execPath, "-e", script],
        ports: [{ containerPort: 8080 }],
        readinessProbe: { httpGet, periodSeconds: 1 },
        livenessProbe: {
          httpGet: { path: "/die", port: 8080 },
          periodSeconds: 1,
          failureThreshold: 2,
          initialDelaySeconds: 2,
        },
      },
      "Always",
    );

    await world.container("web", ({ ready }) => ready);
    const again = await world.container("web", ({ restartCount }) => restartCount > 0);

    expect(again.lastState.terminated).toBeDefined();
  });

  test("runs its hooks", async () => {
    await using world = await open();
    const mark = (name: string) => ({
      exec: { command: ["sh", "-c", `echo hook > ${join(world.dataDir, name)}`] },
    });
    await world.run("web", {
      command: ["sleep", "1000"],
      lifecycle: { postStart: mark("begun"), preStop: mark("ending") },
    });
    await world.until("the postStart hook has run", () => readdirSync(world.dataDir).includes("begun"));

    await world.cluster.client(Pod).delete({ name: "web", namespace: "default" });
    await world.until("the pod is gone", () => world.find("web") === undefined);

    expect(readFileSync(join(world.dataDir, "ending"), "utf8")).toBe("hook\n");
    await world.until("its files are gone", () => readdirSync(join(world.dataDir, "pods")).length === 0);
  });

  test("survives a restart of the agent, which finds it again and ends it with its pod", async () => {
    await using world = await open();
    await world.run("web", { command: ["sleep", "1000"] }, "Always");
    const before = await world.container("web", ({ state }) => state.running !== undefined);

    await world.restart();
    await world.until("the agent has seen the pod", () => world.find("web") !== undefined);
    const after = await world.container("web", ({ state }) => state.running !== undefined);

    expect(after).toMatchObject({ containerID: before.containerID, restartCount: 0 });
    await world.cluster.client(Pod).delete({ name: "web", namespace: "default" }, { gracePeriodSeconds: 1 });
    await world.until("the pod is gone", () => world.find("web") === undefined);
    await world.until("its processes are gone", () => world.processes().length === 0);
  });

  test("that ended while the agent was away is seen to have ended", async () => {
    await using world = await open();
    await world.run("web", { command: ["sleep", "1000"] });
    const before = await world.container("web", ({ state }) => state.running !== undefined);

    await world.stop();
    for (const { arguments: words, pid } of listProcesses())
      if (words === "sleep 1000") process.kill(pid, "SIGKILL");
    world.start();
    const after = await world.container("web", ({ state }) => state.terminated !== undefined);

    expect(after.state.terminated).toMatchObject({ exitCode: 137, containerID: before.containerID });
  });

  test("of a pod deleted while the agent was away ends when it is back", async () => {
    await using world = await open();
    await world.run("web", { command: ["sleep", "1000"] }, "Always");
    await world.container("web", ({ state }) => state.running !== undefined);

    await world.stop();
    await world.cluster.client(Pod).delete({ name: "web", namespace: "default" }, { gracePeriodSeconds: 0 });
    world.start();

    await world.until("its processes are gone", () => world.processes().length === 0);
  });
});

type OwnContainer = Partial<Pod["spec"]["containers"][number]>;

/** A cluster with one node whose pods are processes on the shared network. */
class World implements AsyncDisposable {
  readonly cluster: Cluster;
  readonly dataDir = mkdtempSync(join(tmpdir(), "setpoint-agent-"));
  readonly #loop = createRealLoop({ name: "test" });
  #agent: { stop(): Promise<void> } | undefined;

  constructor(cluster: Cluster) {
    this.cluster = cluster;
  }

  start(): void {
    const { dataDir } = this;
    const agent = nodeAgent({
      setups: () => [SETUP],
      handlers: ({ loop, log }) => [
        (listener) =>
          new ProcessHandler({
            loop,
            log,
            dataDir,
            isolation: SHARED,
            images: [],
            endPods: undefined,
            listener,
          }),
      ],
      ...{ dataDir, hasRootCa: false },
    });
    this.#agent = this.cluster.run({ routines: [agent] });
  }

  async stop(): Promise<void> {
    await this.#agent?.stop();
  }

  async restart(): Promise<void> {
    await this.stop();
    this.start();
  }

  async run(
    name: string,
    container: OwnContainer,
    restartPolicy: "Always" | "Never" = "Never",
  ): Promise<void> {
    const containers = [{ name: "main", image: "none", ...container }];
    const spec = { nodeName: "host", restartPolicy, containers, automountServiceAccountToken: false };
    await this.cluster.client(Pod).create({ metadata: { name, namespace: "default" }, spec });
  }

  find(name: string): Pod | undefined {
    return this.cluster.objects(Pod, "default").find(({ metadata }) => metadata.name === name);
  }

  /** Status of the pod's container once it is as wanted. */
  async container(name: string, isWanted: (status: ContainerStatus) => boolean): Promise<ContainerStatus> {
    const find = (): ContainerStatus | undefined => this.find(name)?.status.containerStatuses?.find(isWanted);
    await this.until(`the container of ${name} is as wanted`, () => find() !== undefined);
    return find() as ContainerStatus;
  }

  processes(): readonly string[] {
    return listProcesses().flatMap(({ arguments: words }) => (words.includes(this.dataDir) ? [words] : []));
  }

  async until(what: string, isDone: () => boolean): Promise<void> {
    for (let waited = 0; !isDone(); waited += 20) {
      if (waited > WAIT_MS)
        throw new Error(`timed out until ${what}: ${JSON.stringify(this.find("web")?.status)}`);
      await pause(this.#loop, { ms: 20, kind: "progress" });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cluster.stop();
    for (const { arguments: words, group } of listProcesses())
      if (words.includes(`${this.dataDir}/`)) signalGroup(group, "SIGKILL");
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

const SETUP: NodeSetup = {
  ...{ name: "host", addresses: ["192.0.2.7"], fallbackCidr: "10.199.0.0/24", labels: {}, annotations: {} },
  capacity: { cpu: "4", memory: "8Gi", pods: "110" },
  ...{ runtimeHandlers: ["process"], apiPort: 0 },
  systemInfo: () => ({
    ...{ architecture: "amd64", bootID: "", kernelVersion: "", machineID: "", operatingSystem: "linux" },
    ...{ containerRuntimeVersion: "process://1", osImage: "", systemUUID: "" },
  }),
};

async function open(): Promise<World> {
  const world = new World(await openCluster({ loops: "none", nodes: 0 }));
  world.start();
  return world;
}
