import { describe, expect, test } from "vitest";
import type { Manifest } from "../../src/api/api-object.ts";
import { Event, Pod } from "../../src/api/generated/types/core-v1.ts";
import type { ContainerStatus } from "../../src/api/generated/types/core-v1.ts";
import { RuntimeClass } from "../../src/api/generated/types/node-v1.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { nodeLoops } from "../../src/cluster/loops/loops.ts";
import { container, find, openCluster } from "./agent-fixture.ts";

const SETUP = { clock: "virtual", loops: [], nodes: 1 } as const;
const TOLD = "simulated.setpoint.dev";

describe.each([1, 2])("a pod on a simulated node, seed %s", (seed) => {
  test("comes up with an address, ready, and says so", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    await create(cluster, "web");
    await cluster.settle();

    const { status } = find(cluster, "web");
    expect(status).toMatchObject({ phase: "Running", hostIP: "172.18.0.2", observedGeneration: 1 });
    expect(status.podIP).toMatch(/^100\.64\.0\.\d+$/);
    expect(conditions(cluster, "web")).toEqual({
      PodReadyToStartContainers: "True",
      Initialized: "True",
      Ready: "True",
      ContainersReady: "True",
      PodScheduled: "True",
    });
    expect(reasons(cluster, "web")).toEqual(["Pulling", "Pulled", "Created", "Started"]);
  });

  test("shows what is mounted into its containers", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    const volumeMounts = [
      { name: "data", mountPath: "/data" },
      { name: "data", mountPath: "/shown", readOnly: true },
    ];
    const containers = [{ name: "web", image: "web:1", volumeMounts }];
    await create(cluster, "web", { spec: { containers, volumes: [{ name: "data", emptyDir: {} }] } });
    await cluster.settle();

    expect(container(cluster, "web").volumeMounts?.slice(0, 2)).toEqual([
      { name: "data", mountPath: "/data" },
      { name: "data", mountPath: "/shown", readOnly: true, recursiveReadOnly: "Disabled" },
    ]);
  });

  test("shows how it is made before it runs", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    await create(cluster, "web", { metadata: { annotations: { [`${TOLD}/start-delay`]: "30s" } } });
    await cluster.clock.advance("10s");

    const { status } = find(cluster, "web");
    expect(status).toMatchObject({ phase: "Pending", startTime: "2026-01-01T00:00:00Z" });
    expect(container(cluster, "web").state).toEqual({ waiting: { reason: "ContainerCreating" } });
    expect(conditions(cluster, "web")).toMatchObject({ Ready: "False", ContainersReady: "False" });
  });

  test("stays ready beside an ephemeral container, which never is", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    await create(cluster, "web");
    await cluster.settle();
    const changes = { spec: { ephemeralContainers: [{ name: "debug", image: "busybox" }] } };
    await cluster
      .client(Pod)
      .patch({ name: "web" }, { type: "strategic", changes }, { subresource: "ephemeralcontainers" });
    await cluster.settle();

    const { status } = find(cluster, "web");
    expect(status.ephemeralContainerStatuses).toMatchObject([{ name: "debug", ready: false }]);
    expect(states(status.ephemeralContainerStatuses)).toEqual(["running"]);
    expect(conditions(cluster, "web")).toMatchObject({ Ready: "True", ContainersReady: "True" });
  });

  test("runs its init containers in order, sidecars beside the rest", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    await create(cluster, "web", {
      spec: {
        initContainers: [
          { name: "first", image: "init:1", command: ["sleep", "5"] },
          { name: "side", image: "side:1", restartPolicy: "Always" },
          { name: "second", image: "init:1", command: ["sh", "-c", "sleep 5 && exit 0"] },
        ],
      },
    });
    await cluster.clock.advance("6s");
    const during = find(cluster, "web");
    await cluster.settle();
    const after = find(cluster, "web");

    expect(states(during.status.initContainerStatuses)).toEqual(["Completed", "running", "running"]);
    expect(states(during.status.containerStatuses)).toEqual(["PodInitializing"]);
    expect(during.status.conditions?.find(({ type }) => type === "Initialized")).toMatchObject({
      status: "False",
      reason: "ContainersNotInitialized",
      message: "containers with incomplete status: [second]",
    });
    expect(states(after.status.initContainerStatuses)).toEqual(["Completed", "running", "Completed"]);
    expect(after.status.phase).toBe("Running");
  });

  test.each([
    ["Never", ["true"], "Succeeded", { reason: "Completed", exitCode: 0 }],
    ["Never", ["sh", "-c", "sleep 3; exit 7"], "Failed", { reason: "Error", exitCode: 7 }],
    ["OnFailure", ["sleep", "3"], "Succeeded", { reason: "Completed", exitCode: 0 }],
  ] as const)("with %s and %j ends as %s", async (restartPolicy, command, phase, end) => {
    await using cluster = await openCluster({ ...SETUP, seed });
    const containers = [{ name: "web", image: "web:1", command }];
    await create(cluster, "task", { spec: { restartPolicy, containers } });
    await cluster.settle();
    await cluster.clock.advance("10m");

    expect(find(cluster, "task").status.phase).toBe(phase);
    expect(container(cluster, "task").state.terminated).toMatchObject(end);
    expect(container(cluster, "task").restartCount).toBe(0);
  });

  test("finds again what an earlier run has left in its volume", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    const script = "if [[ -r /data/foo ]] ; then exit 0 ; else touch /data/foo ; exit 1 ; fi";
    const volumeMounts = [{ name: "data", mountPath: "/data" }];
    const containers = [{ name: "web", image: "web:1", command: ["sh", "-c", script], volumeMounts }];
    const volumes = [{ name: "data", emptyDir: {} }];
    await create(cluster, "task", { spec: { restartPolicy: "OnFailure", containers, volumes } });
    await cluster.clock.advance("1m");

    expect(find(cluster, "task").status.phase).toBe("Succeeded");
    expect(container(cluster, "task").restartCount).toBe(1);
  });

  test("backs off 10 s, 20 s, 40 s … 5 min when it crashes, and starts over after 10 minutes of running", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    const annotations = { [`${TOLD}/exit-after`]: "1s", [`${TOLD}/exit-code`]: "1" };
    await create(cluster, "crash", { metadata: { annotations } });
    const waits: number[] = [];
    for (let restart = 0; restart < 9; restart++) {
      const { lastState, state } = await untilRestart(cluster, restart + 1);
      const ended = Date.parse(lastState.terminated?.finishedAt ?? "");
      waits.push(Math.round((Date.parse(state.running?.startedAt ?? "") - ended) / 5000) * 5);
    }
    expect(waits).toEqual([0, 10, 20, 40, 80, 160, 300, 300, 300]);

    await annotate(cluster, "crash", { [`${TOLD}/exit-after`]: "11m" });
    await cluster.clock.advance("10m55s");
    await annotate(cluster, "crash", { [`${TOLD}/exit-after`]: "1s" });
    const { lastState, state } = await untilRestart(cluster, 10);

    const ended = Date.parse(lastState.terminated?.finishedAt ?? "");
    expect(Date.parse(state.running?.startedAt ?? "") - ended).toBeLessThan(2000);
  });

  test("crashes as often as it is told to, and then runs on", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    const annotations = { [`${TOLD}/exit-after`]: "1s", [`${TOLD}/exit-times`]: "2" };
    await create(cluster, "crash", { metadata: { annotations } });
    await cluster.clock.advance("10m");

    expect(container(cluster, "crash")).toMatchObject({ restartCount: 2, ready: true });
  });

  test("waits in CrashLoopBackOff with kubelet's words", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    const containers = [{ name: "web", image: "web:1", command: ["false"] }];
    const { metadata } = await create(cluster, "crash", { spec: { containers } });
    await cluster.clock.advance("5s");

    expect(container(cluster, "crash")).toMatchObject({
      ready: false,
      started: false,
      restartCount: 1,
      lastState: { terminated: { exitCode: 1, reason: "Error" } },
      state: {
        waiting: {
          reason: "CrashLoopBackOff",
          message: `back-off 10s restarting failed container=web pod=crash_default(${metadata.uid ?? ""})`,
        },
      },
    });
    expect(find(cluster, "crash").status.phase).toBe("Running");
    expect(reasons(cluster, "crash")).toContain("BackOff");
  });

  test.each(["web:nonexistent", "registry.invalid/web:1", "web:404"])(
    "with the image %s waits for it, longer and longer",
    async (image) => {
      await using cluster = await openCluster({ ...SETUP, seed });
      await create(cluster, "web", { spec: { containers: [{ name: "web", image }] } });
      await cluster.clock.advance("1s");
      expect(container(cluster, "web").state.waiting?.reason).toBe("ErrImagePull");
      await cluster.clock.advance("5s");
      expect(container(cluster, "web").state.waiting).toMatchObject({ reason: "ImagePullBackOff" });
      await cluster.clock.advance("30m");

      expect(find(cluster, "web").status.phase).toBe("Pending");
      const pulls = reasons(cluster, "web").filter((reason) => reason === "Pulling").length;
      expect(pulls).toBeGreaterThanOrEqual(7);
      expect(pulls).toBeLessThanOrEqual(12);
    },
  );

  test("with a name that no image can have says so once", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    await create(cluster, "web", { spec: { containers: [{ name: "web", image: "Not An Image" }] } });
    await cluster.settle();

    expect(container(cluster, "web").state.waiting).toMatchObject({ reason: "InvalidImageName" });
    expect(reasons(cluster, "web")).toEqual(["InspectFailed", "Failed"]);
  });

  test("is ready when its probe says so, and not before its readiness gates are", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    await create(cluster, "web", {
      metadata: { annotations: { [`${TOLD}/ready-after`]: "20s" } },
      spec: {
        readinessGates: [{ conditionType: "example.com/open" }],
        containers: [
          {
            name: "web",
            image: "web:1",
            readinessProbe: { httpGet: { port: 80 }, initialDelaySeconds: 5, periodSeconds: 10 },
          },
        ],
      },
    });
    await cluster.clock.advance("10s");
    expect(container(cluster, "web").ready).toBe(false);
    expect(reasons(cluster, "web")).toContain("Unhealthy");
    await cluster.settle();
    expect(container(cluster, "web").ready).toBe(true);
    expect(conditions(cluster, "web")).toMatchObject({ ContainersReady: "True", Ready: "False" });

    const pod = find(cluster, "web");
    const gate = { type: "example.com/open", status: "True" };
    await cluster.client(Pod).updateStatus(pod, {
      ...pod.status,
      conditions: [...(pod.status.conditions ?? []), gate],
    });
    await cluster.settle();
    expect(conditions(cluster, "web")).toMatchObject({ "example.com/open": "True", Ready: "True" });
  });

  test("fails to pull as annotated although another pod has loaded the image", async () => {
    await using cluster = await openCluster({ ...SETUP, seed, nodes: 1 });
    const spec = { containers: [{ name: "web", image: "web:1" }] };
    await create(cluster, "first", { spec });
    await cluster.settle();
    await create(cluster, "second", {
      metadata: { annotations: { [`${TOLD}/pull-failure`]: "no such image" } },
      spec,
    });
    await cluster.clock.advance("5s");

    expect(container(cluster, "second").state.waiting?.message).toContain("no such image");
  });

  test("is restarted when its liveness probe fails often enough", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    const livenessProbe = { tcpSocket: { port: 80 }, periodSeconds: 5, failureThreshold: 2 };
    await create(cluster, "web", {
      metadata: { annotations: { [`${TOLD}/unhealthy-after`]: "30s" } },
      spec: { containers: [{ name: "web", image: "web:1", livenessProbe }] },
    });
    await cluster.clock.advance("45s");

    expect(container(cluster, "web").restartCount).toBe(1);
    expect(container(cluster, "web").lastState.terminated?.exitCode).toBe(0);
    expect(reasons(cluster, "web")).toEqual(expect.arrayContaining(["Unhealthy", "Killing"]));
  });

  test("goes on with another image when that is changed, whatever is said of restarts, and stays ready", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    await create(cluster, "web", { spec: { restartPolicy: "Never" } });
    await cluster.settle();
    const before = find(cluster, "web").status;
    await cluster.clock.advance("1m");
    const containers = [{ name: "web", image: "web:2" }];
    await cluster
      .client(Pod)
      .patch({ name: "web" }, { type: "strategic", changes: { spec: { containers } } });
    await cluster.settle();

    const { status } = find(cluster, "web");
    expect(status).toMatchObject({ phase: "Running", observedGeneration: 2 });
    expect(container(cluster, "web")).toMatchObject({ image: "web:2", restartCount: 1, ready: true });
    expect(container(cluster, "web").lastState.terminated?.exitCode).toBe(143);
    const readySince = ({ conditions: found = [] }: Pod["status"]) =>
      found.find(({ type }) => type === "Ready")?.lastTransitionTime;
    expect(readySince(status)).toBe(readySince(before));
    expect(reasons(cluster, "web")).toContain("Killing");
  });

  test("waits until a path in its volumes makes sense", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    const fieldRef = { fieldPath: "metadata.annotations['dir']" };
    const mount = { name: "data", mountPath: "/data", subPathExpr: "$(DIR)/web" };
    await create(cluster, "web", {
      spec: {
        containers: [
          {
            name: "web",
            image: "web:1",
            env: [{ name: "DIR", valueFrom: { fieldRef } }],
            volumeMounts: [mount],
          },
        ],
        volumes: [{ name: "data", emptyDir: {} }],
      },
    });
    await cluster.settle();
    expect(find(cluster, "web").status.phase).toBe("Pending");
    expect(states(find(cluster, "web").status.containerStatuses)).toEqual(["CreateContainerConfigError"]);

    await annotate(cluster, "web", { dir: "here" });
    await cluster.settle();

    expect(find(cluster, "web").status.phase).toBe("Running");
  });

  test("ends gracefully when it is deleted, and is killed when that takes too long", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    await create(cluster, "quick");
    await create(cluster, "slow", { metadata: { annotations: { [`${TOLD}/termination-time`]: "20s" } } });
    await create(cluster, "stubborn", {
      metadata: { annotations: { [`${TOLD}/termination-time`]: "never" } },
    });
    await cluster.settle();
    for (const name of ["quick", "slow", "stubborn"]) await cluster.client(Pod).delete({ name });

    const left: string[][] = [];
    for (const wait of ["1s", "20s", "10s"]) {
      await cluster.clock.advance(wait);
      left.push(cluster.objects(Pod, "default").map(({ metadata }) => metadata.name));
    }
    expect(left).toEqual([["slow", "stubborn"], ["stubborn"], []]);
    expect(reasons(cluster, "slow")).toContain("Killing");
  });

  test("shows how it ended while a finalizer holds it, and is not touched again", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    await create(cluster, "held", { metadata: { finalizers: ["example.com/hold"] } });
    await cluster.settle();
    await cluster.client(Pod).delete({ name: "held" });
    await cluster.settle();

    const held = find(cluster, "held");
    expect(held.status.phase).toBe("Succeeded");
    expect(container(cluster, "held").state.terminated).toMatchObject({ exitCode: 0, reason: "Completed" });
    await cluster.clock.advance("1h");
    expect(find(cluster, "held").metadata.resourceVersion).toBe(held.metadata.resourceVersion);
  });

  test("that another client has failed ends, and stays failed", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    await create(cluster, "web");
    await cluster.settle();
    const pod = find(cluster, "web");
    await cluster.client(Pod).updateStatus(pod, { ...pod.status, phase: "Failed", reason: "Broken" });
    await cluster.clock.advance("10m");

    expect(find(cluster, "web").status).toMatchObject({ phase: "Failed", reason: "Broken" });
    expect(container(cluster, "web").state.terminated?.exitCode).toBe(0);
    expect(conditions(cluster, "web")).toMatchObject({ Ready: "False", ContainersReady: "False" });
  });

  test("fails when it is active for too long", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    await create(cluster, "late", { spec: { activeDeadlineSeconds: 60 } });
    await cluster.clock.advance("2m");

    expect(find(cluster, "late").status).toMatchObject({
      phase: "Failed",
      reason: "DeadlineExceeded",
      message: "Pod was active on the node longer than the specified deadline",
    });
    expect(reasons(cluster, "late").slice(-2)).toEqual(["DeadlineExceeded", "Killing"]);
  });

  test.each([
    ["OutOfcpu", { containers: [{ name: "web", image: "web:1", resources: { requests: { cpu: "9" } } }] }],
    ["NodeAffinity", { nodeSelector: { disk: "fast" } }],
  ])("that does not fit fails with %s", async (reason, spec) => {
    await using cluster = await openCluster({ ...SETUP, seed });
    await cluster.settle();
    await create(cluster, "misfit", { spec });
    await cluster.settle();

    expect(find(cluster, "misfit").status).toMatchObject({ phase: "Failed", reason });
    expect(find(cluster, "misfit").status.message).toMatch(/^Pod was rejected: /);
    expect(reasons(cluster, "misfit")).toEqual([reason]);
  });

  test("that wants another runtime waits, and can be deleted", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    await cluster.client(RuntimeClass).create({ metadata: { name: "boxed" }, handler: "gvisor" });
    await create(cluster, "web", { spec: { runtimeClassName: "boxed" } });
    await cluster.clock.advance("1m");
    expect(find(cluster, "web").status.phase).toBe("Pending");
    expect(reasons(cluster, "web")).toContain("FailedCreatePodSandBox");

    await cluster.client(Pod).delete({ name: "web" });
    await cluster.settle();
    expect(cluster.objects(Pod, "default")).toEqual([]);
  });

  test("whose sandbox cannot be made shows what it waits for, and runs once it can be", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    await cluster.client(RuntimeClass).create({ metadata: { name: "boxed" }, handler: "gvisor" });
    await create(cluster, "web", { spec: { runtimeClassName: "boxed" } });
    await cluster.clock.advance("15s");
    const { status } = find(cluster, "web");
    await cluster.client(RuntimeClass).delete({ name: "boxed" });
    await cluster.client(RuntimeClass).create({ metadata: { name: "boxed" }, handler: "simulated" });
    await cluster.clock.advance("10s");

    expect(status).toMatchObject({ phase: "Pending", startTime: "2026-01-01T00:00:00Z" });
    expect(states(status.containerStatuses)).toEqual(["ContainerCreating"]);
    expect(status.podIP).toBeUndefined();
    expect(find(cluster, "web").status.phase).toBe("Running");
    expect(find(cluster, "web").status.podIP).toMatch(/^100\.64\.0\.\d+$/);
  });

  test("fails when another one has its host port", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    await cluster.settle();
    const ports = [{ containerPort: 80, hostPort: 80 }];
    for (const name of ["one", "two"]) {
      await create(cluster, name, { spec: { containers: [{ name: "web", image: "web:1", ports }] } });
      await cluster.settle();
    }

    expect(find(cluster, "one").status.phase).toBe("Running");
    expect(find(cluster, "two").status).toMatchObject({ phase: "Failed", reason: "NodePorts" });
  });

  test("shares a host port with others on other addresses and protocols", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    await cluster.settle();
    const held = [
      { hostIP: "127.0.0.1", protocol: "TCP" },
      { hostIP: "172.18.0.2", protocol: "TCP" },
      { hostIP: "172.18.0.2", protocol: "UDP" },
    ] as const;
    for (const [at, place] of held.entries()) {
      const ports = [{ containerPort: 80, hostPort: 80, ...place }];
      await create(cluster, `web-${at}`, { spec: { containers: [{ name: "web", image: "web:1", ports }] } });
      await cluster.settle();
    }

    expect(cluster.objects(Pod, "default").map(({ status }) => status.phase)).toEqual(
      held.map(() => "Running"),
    );
  });

  test("goes on as it was after the agent was replaced by a new one", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    await create(cluster, "web");
    await create(cluster, "crash", {
      spec: { containers: [{ name: "web", image: "web:1", command: ["sh", "-c", "sleep 1; exit 1"] }] },
    });
    await cluster.clock.advance("40s");
    const web = find(cluster, "web");
    const { restartCount } = container(cluster, "crash");

    await using next = await cluster.fork();
    await next.settle();
    expect(find(next, "web").status).toEqual(web.status);
    await next.clock.advance("4m");
    expect(container(next, "crash").restartCount).toBeGreaterThan(restartCount);
    expect(container(next, "crash").state.waiting?.message).toMatch(/^back-off 2m40s/);
  });

  test("runs, and is alone with its address, although its agent was replaced half-way", async () => {
    await using cluster = await openCluster({ clock: "virtual", loops: [], seed });
    const first = cluster.run(nodeLoops(1));
    await cluster.settle();
    for (let i = 0; i < 50; i++) await create(cluster, `web-${i}`);
    const running = (): readonly Pod[] =>
      cluster.objects(Pod, "default").filter(({ status }) => status.phase === "Running");
    await cluster.until(() => running().length >= 10);
    await first.stop();
    cluster.run(nodeLoops(1));
    await cluster.settle();

    expect(running()).toHaveLength(50);
    expect(new Set(running().map(({ status }) => status.podIP)).size).toBe(50);
    expect(running().every(({ status }) => status.containerStatuses?.[0]?.restartCount === 0)).toBe(true);
  });

  test("has an address of its own among all pods of its node", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    for (let i = 0; i < 30; i++) await create(cluster, `web-${i}`);
    await cluster.settle();

    const addresses = cluster.objects(Pod, "default").map(({ status }) => status.podIP);
    expect(new Set(addresses).size).toBe(30);
  });

  test("is told which of its annotations mean nothing", async () => {
    await using cluster = await openCluster({ ...SETUP, seed });
    await create(cluster, "web", { metadata: { annotations: { [`${TOLD}/exit-after`]: "soon" } } });
    await cluster.settle();

    expect(find(cluster, "web").status.phase).toBe("Running");
    expect(reasons(cluster, "web")).toContain("InvalidAnnotation");
  });
});

async function create(cluster: Cluster, name: string, more: Manifest<Pod> = {}): Promise<Pod> {
  return cluster.client(Pod).create({
    metadata: { ...more.metadata, name },
    spec: { nodeName: "node-1", containers: [{ name: "web", image: "web:1" }], ...more.spec },
  });
}

function states(statuses: readonly ContainerStatus[] | undefined): readonly string[] {
  return (statuses ?? []).map(({ state }) =>
    state.running === undefined ? (state.waiting?.reason ?? state.terminated?.reason ?? "") : "running",
  );
}

function conditions(cluster: Cluster, name: string): Readonly<Record<string, string>> {
  const found = find(cluster, name).status.conditions ?? [];
  return Object.fromEntries(found.map(({ type, status }) => [type, status]));
}

function reasons(cluster: Cluster, name: string): readonly string[] {
  return cluster
    .objects(Event, "default")
    .filter(({ involvedObject }) => involvedObject.name === name)
    .flatMap(({ reason = "", count = 1 }) => Array<string>(count).fill(reason));
}

async function untilRestart(cluster: Cluster, count: number): Promise<ContainerStatus> {
  await cluster.until(
    () => {
      const [status] = find(cluster, "crash").status.containerStatuses ?? [];
      return status?.state.running !== undefined && status.restartCount >= count;
    },
    { within: "1h" },
  );
  return container(cluster, "crash");
}

async function annotate(cluster: Cluster, name: string, annotations: object): Promise<void> {
  await cluster.client(Pod).patch({ name }, { type: "merge", changes: { metadata: { annotations } } });
}
