/** Pods request an extended resource as before, and get devices of the class that provides it. */
import { describe, expect, test } from "vitest";
import type { Manifest } from "../../src/api/api-object.ts";
import { Pod } from "../../src/api/generated/types/core-v1.ts";
import { DeviceClass, ResourceClaim, ResourceSlice } from "../../src/api/generated/types/resource-v1.ts";
import { schedulerRoutine } from "../../src/scheduler/scheduler.ts";
import {
  type PodChange,
  podManifest,
  type SchedulerFixture,
  startSchedulerFixture,
} from "./scheduler-fixture.ts";

const DRIVER = "gpu.example.com";
const GPU = "example.com/gpu";
const MADE_FOR_RESOURCES = "resource.kubernetes.io/extended-resource-claim";

function asking(count: string, resource = GPU): PodChange {
  const resources = { requests: { cpu: "1", [resource]: count }, limits: { [resource]: count } };
  return { spec: { containers: [{ name: "main", image: "app", resources }] } };
}

async function addClass(world: SchedulerFixture, name: string, extendedResourceName?: string): Promise<void> {
  const selectors = [{ cel: { expression: `device.driver == "${DRIVER}"` } }];
  const spec = { selectors, ...(extendedResourceName !== undefined && { extendedResourceName }) };
  await world.run(world.client(DeviceClass).create({ metadata: { name }, spec }));
}

async function addDevices(world: SchedulerFixture, nodeName: string, count: number): Promise<void> {
  await world.run(
    world.client(ResourceSlice).create({
      metadata: { name: `${nodeName}-gpus` },
      spec: {
        driver: DRIVER,
        nodeName,
        pool: { name: nodeName, generation: 1, resourceSliceCount: 1 },
        devices: Array.from({ length: count }, (_, i) => ({ name: `gpu-${i}` })),
      },
    } as Manifest<ResourceSlice>),
  );
}

async function claims(world: SchedulerFixture): Promise<readonly ResourceClaim[]> {
  return (await world.run(world.client(ResourceClaim).list())).items;
}

async function setUp(nodes: readonly string[] = ["a", "b"], seed = 1): Promise<SchedulerFixture> {
  const world = await startSchedulerFixture({}, seed);
  for (const name of nodes) await world.addNode(name);
  return world;
}

describe("a pod that asks for an extended resource of a device class", () => {
  test.each([1, 2])("gets a claim of its own, made where the devices are, seed %s", async (seed) => {
    const world = await setUp(["a", "b", "c"], seed);
    await addClass(world, "gpu", GPU);
    await addDevices(world, "b", 2);
    const pod = await world.addPod("web", asking("2"));
    await world.settle();

    const [made, ...others] = await claims(world);
    expect(others).toEqual([]);
    expect(made?.metadata).toMatchObject({
      name: expect.stringMatching(/^web-extended-resources-.{5}$/) as string,
      annotations: { [MADE_FOR_RESOURCES]: "true" },
      finalizers: ["resource.kubernetes.io/delete-protection"],
      ownerReferences: [
        { apiVersion: "v1", kind: "Pod", name: "web", uid: pod.metadata.uid, controller: true },
      ],
    });
    const request = "container-0-request-1";
    expect(made?.spec.devices.requests).toEqual([
      { name: request, exactly: { deviceClassName: "gpu", allocationMode: "ExactCount", count: 2 } },
    ]);
    expect(made?.status.allocation?.devices.results).toEqual([
      { request, driver: DRIVER, pool: "b", device: "gpu-0" },
      { request, driver: DRIVER, pool: "b", device: "gpu-1" },
    ]);
    expect(made?.status.reservedFor).toEqual([{ resource: "pods", name: "web", uid: pod.metadata.uid }]);
    const { spec, status } = await world.pod("web");
    expect(spec.nodeName).toBe("b");
    expect(status.extendedResourceClaimStatus).toEqual({
      requestMappings: [{ containerName: "main", resourceName: GPU, requestName: request }],
      resourceClaimName: made?.metadata.name,
    });
  });

  test("may ask for it by the name of the class", async () => {
    const world = await setUp();
    await addClass(world, "gpu");
    await addDevices(world, "b", 1);
    await world.addPod("web", asking("1", "deviceclass.resource.kubernetes.io/gpu"));
    await world.settle();

    expect((await world.pod("web")).spec.nodeName).toBe("b");
    expect(await claims(world)).toHaveLength(1);
  });

  test("needs no claim on a node that has the resource itself", async () => {
    const world = await setUp([]);
    await world.addNode("a", { allocatable: { cpu: "4", memory: "8Gi", pods: "110", [GPU]: "2" } });
    await addClass(world, "gpu", GPU);
    await addDevices(world, "a", 2);
    await world.addPod("web", asking("2"));
    await world.addPod("late", asking("1"));
    await world.settle();

    expect((await world.places())["web"]).toBe("a");
    expect((await world.pod("web")).status.extendedResourceClaimStatus).toBeUndefined();
    expect(await claims(world)).toEqual([]);
    expect(await world.reason("late")).toContain(`Insufficient ${GPU}`);
  });

  test("waits for a class that stands for it, then for devices", async () => {
    const world = await setUp(["a"]);
    await world.addPod("web", asking("1"));
    await world.settle();
    expect(await world.reason("web")).toContain(`0/1 nodes are available: 1 Insufficient ${GPU}.`);

    await addClass(world, "gpu", GPU);
    await world.settle();
    expect(await world.reason("web")).toContain("0/1 nodes are available: 1 cannot allocate all claims.");

    await addDevices(world, "a", 1);
    await world.settle();
    expect((await world.pod("web")).spec.nodeName).toBe("a");
  });

  test("finds out that its class no longer stands for it", async () => {
    const world = await setUp(["a"]);
    await addClass(world, "gpu", GPU);
    await addDevices(world, "a", 2);
    await world.addPod("web", asking("1"));
    await world.settle();
    await world.run(world.client(DeviceClass).delete({ name: "gpu" }));
    await world.addPod("late", asking("1"));
    await world.settle();

    expect(await world.reason("late")).toContain(`1 Insufficient ${GPU}.`);
  });

  test("gets devices of the newest class that stands for it", async () => {
    const world = await setUp(["a"]);
    for (const name of ["old", "new"]) {
      await addClass(world, name, GPU);
      await world.loop.advance(2000);
    }
    await addDevices(world, "a", 1);
    await world.addPod("web", asking("1"));
    await world.settle();

    const [made] = await claims(world);
    expect(made?.spec.devices.requests[0]?.exactly?.deviceClassName).toBe("new");
  });

  test.each([1, 2, 3])("shares no device with others that come at once, seed %s", async (seed) => {
    const world = await setUp(["a", "b"], seed);
    await addClass(world, "gpu", GPU);
    for (const node of ["a", "b"]) await addDevices(world, node, 2);
    const pods = world.client(Pod);
    const names = ["p", "q", "r", "s", "t"];
    await world.run(Promise.all(names.map((name) => pods.create(podManifest(name, asking("1"))))));
    await world.settle();

    const given = (await claims(world)).flatMap(({ status }) => status.allocation?.devices.results ?? []);
    expect(new Set(given.map(({ pool, device }) => `${pool}/${device}`)).size).toBe(4);
    expect(given).toHaveLength(4);
    const places = Object.values(await world.places());
    expect(places.filter((place) => place !== undefined)).toHaveLength(4);
  });

  test.each([1, 2, 3, 4, 5])("has one claim whenever the scheduler is replaced, seed %s", async (seed) => {
    const world = await setUp(["a", "b"], seed);
    await addClass(world, "gpu", GPU);
    for (const node of ["a", "b"]) await addDevices(world, node, 1);
    const pods = world.client(Pod);
    await world.run(Promise.all(["p", "q"].map((name) => pods.create(podManifest(name, asking("1"))))));
    await world.loop.advance(seed);
    world.scheduler.stop();
    world.start("scheduler", { routines: [schedulerRoutine()] });
    await world.settle();

    const places = Object.values(await world.places());
    expect(new Set(places)).toEqual(new Set(["a", "b"]));
    expect(await claims(world)).toHaveLength(2);
  });

  test("begins anew when a claim of an earlier try is in the way", async () => {
    const world = await setUp(["a"]);
    await addClass(world, "gpu", GPU);
    const { metadata } = await world.addPod("web", asking("1"));
    await world.settle();
    const requests = [{ name: "container-0-request-1", exactly: { deviceClassName: "gpu" } }];
    const left = await world.run(
      world.client(ResourceClaim).create({
        metadata: {
          name: "left-over",
          namespace: "default",
          annotations: { [MADE_FOR_RESOURCES]: "true" },
          finalizers: ["resource.kubernetes.io/delete-protection"],
          ownerReferences: [
            { apiVersion: "v1", kind: "Pod", name: "web", uid: metadata.uid, controller: true },
          ],
        },
        spec: { devices: { requests } },
      } as Manifest<ResourceClaim>),
    );
    await addDevices(world, "a", 1);
    await world.settle();

    expect((await world.pod("web")).spec.nodeName).toBe("a");
    const [made, ...others] = await claims(world);
    expect(others).toEqual([]);
    expect(made?.metadata.uid).not.toBe(left.metadata.uid);
  });
});
