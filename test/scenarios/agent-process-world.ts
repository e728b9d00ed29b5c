/** A cluster with one node whose pods are processes of this machine, on the shared network. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import { KubeletPages } from "../../src/agent/http/kubelet-pages.ts";
import type { KubeletReply } from "../../src/agent/http/kubelet-reply.ts";
import { findRoute } from "../../src/agent/http/kubelet-route.ts";
import type { ServedNode } from "../../src/agent/http/served-node.ts";
import { nodeAgent } from "../../src/agent/node-agent.ts";
import type { NodeSetup } from "../../src/agent/node/agent-node.ts";
import { ProcessHandler } from "../../src/agent/process/process-handler.ts";
import { listProcesses, signalGroup } from "../../src/agent/process/process-table.ts";
import { Event, Pod, type ContainerStatus } from "../../src/api/generated/types/core-v1.ts";
import { pause } from "../../src/base/loop/pause.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { createMetrics } from "../../src/base/metrics/prom-metrics.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { SHARED } from "../conformance/process-machine.ts";
import { openCluster } from "./agent-fixture.ts";

const WAIT_MS = 90_000;

export type OwnContainer = Partial<Pod["spec"]["containers"][number]>;

export class AgentWorld implements AsyncDisposable {
  readonly cluster: Cluster;
  readonly dataDir = mkdtempSync(join(tmpdir(), "setpoint-agent-"));
  readonly #loop = createRealLoop({ name: "test" });
  readonly #pages = new KubeletPages({ loop: this.#loop, metrics: createMetrics() });
  #agent: { stop(): Promise<void> } | undefined;
  #node: ServedNode | undefined;

  private constructor(cluster: Cluster) {
    this.cluster = cluster;
  }

  static async open(): Promise<AgentWorld> {
    const world = new AgentWorld(await openCluster({ loops: "none", nodes: 0 }));
    world.start();
    return world;
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
      serve: (node) => {
        this.#node = node;
        return { port: 0, addresses: undefined, close: () => undefined };
      },
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
    restartPolicy: "Always" | "Never" | "OnFailure" = "Never",
  ): Promise<void> {
    await this.runAll(name, [container], restartPolicy);
  }

  /** A container is called `main` unless it has a name. */
  async runAll(
    name: string,
    containers: readonly OwnContainer[],
    restartPolicy: "Always" | "Never" | "OnFailure" = "Always",
  ): Promise<void> {
    const spec = {
      ...{ nodeName: "host", restartPolicy, automountServiceAccountToken: false },
      terminationGracePeriodSeconds: 1,
      containers: containers.map((each) => ({ name: "main", image: "none", ...each })),
    };
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

  /** Types, reasons and messages of the pod's Events. */
  events(pod: string): readonly string[] {
    return this.cluster
      .objects(Event, "default")
      .filter(({ involvedObject }) => involvedObject.name === pod)
      .map(({ type = "", reason = "", message = "" }) => `${type} ${reason} ${message}`);
  }

  /** Whether the node answers requests. */
  isServing(): boolean {
    return this.#node?.isUp() === true;
  }

  /** Log of the container `main`, as the node's API answers. */
  async log(pod: string, query = ""): Promise<{ readonly status: number; readonly text: string }> {
    return this.#ask(`/containerLogs/default/${pod}/main`, query);
  }

  /** Uids of the pods that the handler has files of. */
  sandboxes(): readonly string[] {
    return readdirSync(join(this.dataDir, "process", "pods"));
  }

  /** Statuses of all containers of the pod, once each was as wanted. */
  async statuses(
    name: string,
    isWanted: (status: ContainerStatus) => boolean,
  ): Promise<readonly ContainerStatus[]> {
    const find = (): readonly ContainerStatus[] => this.find(name)?.status.containerStatuses ?? [];
    await this.until(`all containers of ${name} are as wanted`, () => {
      const statuses = find();
      return statuses.length > 0 && statuses.every(isWanted);
    });
    return find();
  }

  /** Resolves after so many more probes of the pod. */
  async probed(name: string, count: number): Promise<void> {
    const pod = this.find(name);
    if (pod === undefined) throw new Error(`there is no pod ${name}`);
    const total = (): number => {
      let sum = 0;
      for (const { success, failure } of this.#node?.probeTotals(pod) ?? []) sum += success + failure;
      return sum;
    };
    const before = total();
    await this.until(`${String(count)} probes have been made`, () => total() >= before + count);
  }

  /** A page of the node's API. */
  async page(path: string): Promise<string> {
    return (await this.#ask(path)).text;
  }

  processes(): readonly string[] {
    return listProcesses().flatMap(({ arguments: words }) => (words.includes(this.dataDir) ? [words] : []));
  }

  async until(what: string, isDone: () => boolean): Promise<void> {
    for (let waited = 0; !isDone(); waited += 20) {
      if (waited > WAIT_MS)
        throw new Error(
          `timed out until ${what}: ${JSON.stringify(this.cluster.objects(Pod, "default").map(({ status }) => status))}`,
        );
      await pause(this.#loop, { ms: 20, kind: "progress" });
    }
  }

  /** The log of the container `main` as it grows. */
  async follow(pod: string): Promise<Readable> {
    const { body } = await this.#answer(`/containerLogs/default/${pod}/main`, "follow=true");
    if (typeof body === "string") throw new Error(body);
    return body;
  }

  async #ask(path: string, query = ""): Promise<{ readonly status: number; readonly text: string }> {
    const { status, body } = await this.#answer(path, query);
    return { status, text: typeof body === "string" ? body : await textOf(body) };
  }

  #answer(path: string, query: string): Promise<KubeletReply> {
    const route = findRoute(path);
    if (this.#node === undefined || route === undefined) throw new Error("the node is not served");
    return this.#pages.answer(this.#node, route, new URLSearchParams(query));
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
