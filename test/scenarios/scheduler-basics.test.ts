/** Basic behaviour of the scheduler: pods get nodes, and unschedulable pods state the reason. */
import { describe, expect, test } from "vitest";
import { Node, Pod } from "../../src/api/generated/types/core-v1.ts";
import { schedulerRoutine } from "../../src/scheduler/scheduler.ts";
import { startSchedulerFixture } from "./scheduler-fixture.ts";

describe("the scheduler", () => {
  test("gives a pod a node, and says so", async () => {
    const world = await startSchedulerFixture();
    await world.addNode("a");
    const pod = await world.addPod("web");

    await world.settle();

    const placed = await world.pod("web");
    expect(placed.spec.nodeName).toBe("a");
    expect(placed.status.conditions).toMatchObject([{ type: "PodScheduled", status: "True" }]);
    const events = await world.events(pod);
    expect(events).toMatchObject([
      {
        reason: "Scheduled",
        action: "Binding",
        message: "Successfully assigned default/web to a",
        involvedObject: { kind: "Pod", name: "web", resourceVersion: pod.metadata.resourceVersion },
        reportingComponent: "default-scheduler",
        source: {},
      },
    ]);
    expect(events[0]?.reportingInstance).toMatch(/^default-scheduler-./);
    expect(events[0]?.eventTime).toMatch(/^2026-.*\.\d{6}Z$/);
    expect(events[0]).not.toHaveProperty("count");
    expect(events[0]).not.toHaveProperty("firstTimestamp");
  });

  test("holds an impossible pod with its reason until a node is added that has room", async () => {
    const world = await startSchedulerFixture();
    await world.addNode("small", { allocatable: { cpu: "1", memory: "1Gi", pods: "10" } });
    const pod = await world.addPod("big", { requests: { cpu: "3" } });
    await world.settle();

    expect((await world.pod("big")).status).toMatchObject({
      phase: "Pending",
      conditions: [
        {
          type: "PodScheduled",
          status: "False",
          reason: "Unschedulable",
          message:
            "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: " +
            "1 Preemption is not helpful for scheduling.",
        },
      ],
    });
    expect((await world.events(pod)).map(({ reason }) => reason)).toEqual(["FailedScheduling"]);

    await world.addNode("large");
    await world.settle();
    expect((await world.pod("big")).spec.nodeName).toBe("large");
  });

  test("says that there are no nodes", async () => {
    const world = await startSchedulerFixture();
    await world.addPod("web");
    await world.settle();

    expect(await world.reason("web")).toBe("no nodes available to schedule pods");
  });

  test("counts reasons as upstream does, sorted as texts", async () => {
    const world = await startSchedulerFixture();
    const small = { allocatable: { cpu: "1", memory: "8Gi", pods: "10" } };
    await world.addNode("a", small);
    await world.addNode("b", small);
    await world.addNode("c", { spec: { taints: [{ key: "team", value: "blue", effect: "NoSchedule" }] } });
    await world.addPod("holder-a", { requests: { cpu: "1" } });
    await world.addPod("holder-b", { requests: { cpu: "1" } });
    await world.settle();
    await world.addPod("web", { requests: { cpu: "1" } });
    await world.settle();

    expect(await world.reason("web")).toBe(
      "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu. " +
        "no new claims to deallocate, preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, " +
        "2 No preemption victims found for incoming pod.",
    );
  });

  test("leaves pods of other schedulers alone", async () => {
    const world = await startSchedulerFixture();
    await world.addNode("a");
    await world.addPod("theirs", { spec: { schedulerName: "somebody-else" } });
    await world.settle();

    const { spec, status } = await world.pod("theirs");
    expect(spec.nodeName).toBeUndefined();
    expect(status.conditions).toBeUndefined();
  });

  test("serves several profiles by name", async () => {
    const world = await startSchedulerFixture({
      profiles: [
        { schedulerName: "default-scheduler" },
        { schedulerName: "careless", plugins: ["NodeName", "NodeResourcesFit"] },
      ],
    });
    await world.addNode("a", { spec: { taints: [{ key: "k", effect: "NoSchedule" }] } });
    await world.addPod("careful");
    await world.addPod("careless", { spec: { schedulerName: "careless" } });
    await world.settle();

    expect(await world.places()).toEqual({ careful: undefined, careless: "a" });
  });

  test("waits for gates to be taken away", async () => {
    const world = await startSchedulerFixture();
    await world.addNode("a");
    await world.addPod("gated", { spec: { schedulingGates: [{ name: "example.com/quota" }] } });
    await world.settle();
    expect((await world.pod("gated")).status.conditions).toMatchObject([{ reason: "SchedulingGated" }]);

    const changes = { spec: { schedulingGates: null } };
    await world.run(
      world.client(Pod).patch({ namespace: "default", name: "gated" }, { type: "merge", changes }),
    );
    await world.settle();

    expect((await world.pod("gated")).spec.nodeName).toBe("a");
  });

  test("writes the status of a pod that fits nowhere once, however often it looks", async () => {
    const world = await startSchedulerFixture();
    await world.addNode("a", { allocatable: { cpu: "1", memory: "1Gi", pods: "10" } });
    await world.addPod("big", { requests: { cpu: "3" } });
    await world.settle();

    await world.loop.advance(3_600_000);

    const writes = world.scheduler.link.requests.filter(
      ({ method, path }) => method === "PATCH" && path.endsWith("/pods/big/status"),
    );
    expect(writes).toHaveLength(1);
  });

  test("retries a binding that failed", async () => {
    const world = await startSchedulerFixture();
    await world.addNode("a");
    await world.settle();
    world.scheduler.link.mode = "refused";
    await world.addPod("web");
    await world.loop.advance(1500);
    world.scheduler.link.mode = "open";
    await world.loop.advance(120_000);

    expect((await world.pod("web")).spec.nodeName).toBe("a");
  });

  test("goes on from what it finds after a restart", async () => {
    const world = await startSchedulerFixture();
    await world.addNode("a", { allocatable: { cpu: "2", memory: "8Gi", pods: "10" } });
    await world.addPod("one", { requests: { cpu: "1" } });
    await world.settle();
    world.scheduler.stop();
    await world.run(world.scheduler.ended);
    await world.addPod("two", { requests: { cpu: "1" } });
    await world.addPod("three", { requests: { cpu: "1" } });

    world.start("scheduler-2", { routines: [schedulerRoutine()] });
    await world.settle();

    const places = Object.values(await world.places());
    expect(places.filter((place) => place === "a")).toHaveLength(2);
  });

  test("keeps pods off a node that is cordoned, until it is not", async () => {
    const world = await startSchedulerFixture();
    await world.addNode("a", { spec: { unschedulable: true } });
    await world.addPod("web");
    await world.settle();
    expect(await world.reason("web")).toContain("1 node(s) were unschedulable");

    const changes = { spec: { unschedulable: null } };
    await world.run(world.client(Node).patch({ name: "a" }, { type: "merge", changes }));
    await world.settle();

    expect((await world.pod("web")).spec.nodeName).toBe("a");
  });

  test("puts a pod that restarts all of its containers where the node says that it can do that", async () => {
    const world = await startSchedulerFixture();
    await world.addNode("a");
    const rule = { action: "RestartAllContainers", exitCodes: { operator: "In", values: [42] } } as const;
    const container = {
      name: "main",
      image: "app",
      restartPolicy: "Never",
      restartPolicyRules: [rule],
    } as const;
    await world.addPod("web", { spec: { containers: [container] } });
    await world.settle();
    expect(await world.reason("web")).toContain("1 node(s) didn't match Pod's required features");

    const changes = { status: { declaredFeatures: ["RestartAllContainersOnContainerExits"] } };
    const patch = { type: "merge", changes } as const;
    await world.run(world.client(Node).patch({ name: "a" }, patch, { subresource: "status" }));
    await world.settle();

    expect((await world.pod("web")).spec.nodeName).toBe("a");
  });
});
