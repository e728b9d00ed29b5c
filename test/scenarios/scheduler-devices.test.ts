/** Pods go to nodes with devices for their claims, and claims get devices where their pods go. */
import { describe, expect, test } from "vitest";
import type { Manifest } from "../../src/api/api-object.ts";
import { Pod } from "../../src/api/generated/types/core-v1.ts";
import { Event } from "../../src/api/generated/types/events-v1.ts";
import {
  type Device,
  DeviceClass,
  ResourceClaim,
  ResourceSlice,
} from "../../src/api/generated/types/resource-v1.ts";
import { schedulerRoutine } from "../../src/scheduler/scheduler.ts";
import { startSchedulerFixture, type PodChange, type SchedulerFixture } from "./scheduler-fixture.ts";

const DRIVER = "gpu.example.com";
const PROTECTION = "resource.kubernetes.io/delete-protection";

function using(...claims: readonly string[]): PodChange {
  return { spec: { resourceClaims: claims.map((name) => ({ name, resourceClaimName: name })) } };
}

const TEMPLATED: PodChange = {
  spec: { resourceClaims: [{ name: "gpu", resourceClaimTemplateName: "gpus" }] },
};

async function addClass(world: SchedulerFixture, name = "gpu"): Promise<void> {
  const expression = `device.driver == "${DRIVER}"`;
  await world.run(
    world.client(DeviceClass).create({ metadata: { name }, spec: { selectors: [{ cel: { expression } }] } }),
  );
}

async function addClaim(
  world: SchedulerFixture,
  name: string,
  exactly: object = { deviceClassName: "gpu" },
  metadata: object = {},
): Promise<ResourceClaim> {
  const requests = [{ name: "one", exactly }];
  return await world.run(
    world.client(ResourceClaim).create({
      metadata: { name, namespace: "default", ...metadata },
      spec: { devices: { requests } },
    } as Manifest<ResourceClaim>),
  );
}

/** Acts as the driver on a node. */
async function addDevices(
  world: SchedulerFixture,
  nodeName: string,
  devices: readonly Device[] = [{ name: "gpu-0" }],
): Promise<void> {
  await world.run(
    world.client(ResourceSlice).create({
      metadata: { name: `${nodeName}-gpus` },
      spec: {
        driver: DRIVER,
        nodeName,
        pool: { name: nodeName, generation: 1, resourceSliceCount: 1 },
        devices,
      },
    } as Manifest<ResourceSlice>),
  );
}

async function claim(world: SchedulerFixture, name: string): Promise<ResourceClaim> {
  return await world.run(world.client(ResourceClaim).get({ namespace: "default", name }));
}

async function remove(world: SchedulerFixture, name: string): Promise<void> {
  await world.run(world.client(Pod).delete({ namespace: "default", name }, { gracePeriodSeconds: 0 }));
}

/** Acts as the controller that releases claims without users. */
async function giveBack(world: SchedulerFixture, name: string): Promise<void> {
  await world.run(world.client(ResourceClaim).updateStatus(await claim(world, name), {}));
}

async function setUp(nodes: readonly string[] = ["a", "b"], seed = 1): Promise<SchedulerFixture> {
  const world = await startSchedulerFixture({}, seed);
  for (const name of nodes) await world.addNode(name);
  await addClass(world);
  return world;
}

describe("a pod with a device claim", () => {
  test.each([1, 2])("goes where a device is, and its claim says which, seed %s", async (seed) => {
    const world = await setUp(["a", "b", "c"], seed);
    await addDevices(world, "b");
    await addClaim(world, "gpu");
    const pod = await world.addPod("web", using("gpu"));
    await world.settle();

    expect((await world.pod("web")).spec.nodeName).toBe("b");
    const { status, metadata } = await claim(world, "gpu");
    expect(metadata.finalizers).toEqual([PROTECTION]);
    expect(status).toEqual({
      allocation: {
        allocationTimestamp: expect.any(String) as string,
        devices: { results: [{ request: "one", driver: DRIVER, pool: "b", device: "gpu-0" }] },
        nodeSelector: {
          nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["b"] }] }],
        },
      },
      reservedFor: [{ resource: "pods", name: "web", uid: pod.metadata.uid }],
    });
  });

  test("fits nowhere without devices, and comes when a driver brings some", async () => {
    const world = await setUp();
    await addClaim(world, "gpu");
    await world.addPod("web", using("gpu"));
    await world.settle();
    expect(await world.reason("web")).toBe(
      "0/2 nodes are available: 2 cannot allocate all claims. still not schedulable, " +
        "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
    );

    await addDevices(world, "a");
    await world.settle();

    expect((await world.pod("web")).spec.nodeName).toBe("a");
  });

  test("waits for its class", async () => {
    const world = await startSchedulerFixture();
    await world.addNode("a");
    await addDevices(world, "a");
    await addClaim(world, "gpu");
    await world.addPod("web", using("gpu"));
    await world.settle();
    expect(await world.reason("web")).toContain(
      "0/1 nodes are available: request one: device class gpu does not exist. no new claims to deallocate,",
    );

    await addClass(world);
    await world.settle();

    expect((await world.pod("web")).spec.nodeName).toBe("a");
  });

  test("is not even tried before its claim is there", async () => {
    const world = await setUp();
    await addDevices(world, "a");
    await world.addPod("web", using("gpu"));
    await world.settle();
    expect(await world.reason("web")).toBeUndefined();

    await addClaim(world, "gpu");
    await world.settle();

    expect((await world.pod("web")).spec.nodeName).toBe("a");
  });

  test("waits until its status names the claim that was made for it", async () => {
    const world = await setUp();
    await addDevices(world, "a");
    const pod = await world.addPod("web", TEMPLATED);
    await world.settle();
    const { name, uid } = pod.metadata;
    const owner = { apiVersion: "v1", kind: "Pod", name, uid, controller: true };
    await addClaim(world, "web-gpu-x", undefined, { ownerReferences: [owner] });
    await world.settle();
    expect((await world.pod("web")).spec.nodeName).toBeUndefined();

    await showClaim(world, "web", "web-gpu-x");
    await world.settle();

    expect((await world.pod("web")).spec.nodeName).toBe("a");
  });

  test("does not use a claim that was made for another", async () => {
    const world = await setUp();
    await addDevices(world, "a");
    await addClaim(world, "other");
    await world.addPod("web", TEMPLATED);
    await showClaim(world, "web", "other");
    await world.settle();

    expect((await world.pod("web")).spec.nodeName).toBeUndefined();
    expect((await claim(world, "other")).status).toEqual({});
  });

  test("is told when something is wrong with its claim", async () => {
    const world = await setUp();
    await addDevices(world, "a");
    const expression = `device.attributes["${DRIVER}"].model == "x"`;
    await addClaim(world, "gpu", { deviceClassName: "gpu", selectors: [{ cel: { expression } }] });
    await world.addPod("web", using("gpu"));
    await world.loop.advance(5000);

    expect((await world.pod("web")).status.conditions).toEqual([
      expect.objectContaining({
        type: "PodScheduled",
        reason: "SchedulerError",
        message:
          'running "DynamicResources" filter plugin: claim default/gpu: selector #0 on device gpu.example.com/a/gpu-0: ' +
          "CEL runtime error: no such key: model",
      }),
    ]);
  });
});

describe("devices", () => {
  test("are given to one claim each, also when all pods come at once", async () => {
    const world = await setUp(["a", "b"]);
    await addDevices(world, "a", [{ name: "gpu-0" }, { name: "gpu-1" }]);
    await addDevices(world, "b", [{ name: "gpu-0" }]);
    const names = ["p", "q", "r", "s"];
    for (const name of names) await addClaim(world, name);
    for (const name of names) await world.addPod(name, using(name));
    await world.settle();

    const places = Object.values(await world.places());
    expect(places.filter((place) => place === "a")).toHaveLength(2);
    expect(places.filter((place) => place === "b")).toHaveLength(1);
    const { items } = await world.run(world.client(ResourceClaim).list());
    const given = items.flatMap(({ status }) => status.allocation?.devices.results ?? []);
    expect(new Set(given.map(({ pool, device }) => `${pool}/${device}`)).size).toBe(3);
  });

  test("that are released go to the pod that waits for them", async () => {
    const world = await setUp(["a"]);
    await addDevices(world, "a");
    for (const name of ["p", "q"]) await addClaim(world, name);
    await world.addPod("first", using("p"));
    await world.settle();
    await world.addPod("second", using("q"));
    await world.settle();
    expect(await world.reason("second")).toContain("1 cannot allocate all claims.");

    await remove(world, "first");
    await giveBack(world, "p");
    await world.settle();

    expect((await world.pod("second")).spec.nodeName).toBe("a");
  });

  test("that are released go at once to a waiting pod that has not failed since", async () => {
    const world = await setUp(["a"]);
    await addDevices(world, "a");
    for (const name of ["p", "q"]) await addClaim(world, name);
    await world.addPod("first", using("p"));
    await world.settle();
    await world.addPod("second", using("q"));
    await world.loop.advance(5000);
    await remove(world, "first");
    await world.loop.advance(500);

    await giveBack(world, "p");
    await world.loop.advance(500);

    expect((await world.pod("second")).spec.nodeName).toBe("a");
  });

  test("of a claim that pods share hold all of them to its node", async () => {
    const world = await setUp(["a", "b"]);
    await addDevices(world, "b");
    await addClaim(world, "shared");
    for (const name of ["p", "q", "r"]) await world.addPod(name, using("shared"));
    await world.settle();

    expect(await world.places()).toEqual({ p: "b", q: "b", r: "b" });
    expect((await claim(world, "shared")).status.reservedFor).toHaveLength(3);
  });

  test("of an unused claim are released when a pod needs them", async () => {
    const world = await setUp(["a", "b"]);
    await addDevices(world, "a");
    await addClaim(world, "gpu");
    await world.addPod("first", using("gpu"));
    await world.settle();
    await remove(world, "first");
    const { status } = await claim(world, "gpu");
    await world.run(
      world.client(ResourceClaim).updateStatus(await claim(world, "gpu"), { allocation: status.allocation }),
    );
    await addDevices(world, "b");
    const { spec } = using("gpu");
    await world.addPod("second", { spec: { ...spec, nodeSelector: { "kubernetes.io/hostname": "b" } } });
    await world.settle();

    expect((await world.pod("second")).spec.nodeName).toBe("b");
    expect((await claim(world, "gpu")).status.allocation?.devices.results).toMatchObject([{ pool: "b" }]);
    const { items } = await world.run(world.client(Event).list({ namespace: "default" }));
    expect(items.map(({ note = "" }) => note)).toContainEqual(
      expect.stringContaining(
        "1 resourceclaim not available on the node. deallocation of ResourceClaim completed,",
      ),
    );
  });
});

describe("a scheduler that takes over", () => {
  test("goes on where the last one stopped: the claim is written, the pod not bound", async () => {
    const world = await startSchedulerFixture();
    for (const name of ["a", "b"]) await addDevices(world, name);
    await addClass(world);
    const made = await addClaim(world, "gpu");
    const pod = await world.addPod("web", using("gpu"));
    const nodeSelector = {
      nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["b"] }] }],
    };
    const results = [{ request: "one", driver: DRIVER, pool: "b", device: "gpu-0" }];
    const reservedFor = [{ resource: "pods", name: "web", uid: pod.metadata.uid }];
    await world.run(
      world
        .client(ResourceClaim)
        .updateStatus(made, { allocation: { devices: { results }, nodeSelector }, reservedFor }),
    );
    for (const name of ["a", "b"]) await world.addNode(name);
    await world.settle();

    expect((await world.pod("web")).spec.nodeName).toBe("b");
    expect((await claim(world, "gpu")).status.reservedFor).toEqual(reservedFor);
  });

  test.each([1, 2, 3])("gives no device away twice, seed %s", async (seed) => {
    const world = await setUp(["a", "b"], seed);
    for (const name of ["a", "b"]) await addDevices(world, name, [{ name: "gpu-0" }, { name: "gpu-1" }]);
    const names = ["p", "q", "r", "s", "t"];
    for (const name of names) await addClaim(world, name);
    for (const name of names) await world.addPod(name, using(name));
    world.scheduler.stop();
    world.start("scheduler", { routines: [schedulerRoutine()] });
    await world.settle();

    const { items } = await world.run(world.client(ResourceClaim).list());
    const given = items.flatMap(({ status }) => status.allocation?.devices.results ?? []);
    expect(new Set(given.map(({ pool, device }) => `${pool}/${device}`)).size).toBe(given.length);
    const places = Object.values(await world.places());
    expect(places.filter((place) => place !== undefined)).toHaveLength(4);
  });
});

describe("devices that have to be made ready", () => {
  const conditions = { bindingConditions: ["Ready"], bindingFailureConditions: ["Broken"] };

  async function say(world: SchedulerFixture, type: string): Promise<void> {
    const now = await claim(world, "gpu");
    const condition = {
      type,
      status: "True",
      reason: "Said",
      message: "so",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    const devices = [{ driver: DRIVER, pool: "a", device: "gpu-0", conditions: [condition] }];
    await world.run(world.client(ResourceClaim).updateStatus(now, { ...now.status, devices }));
  }

  test("are waited for before the pod is bound", async () => {
    const world = await setUp(["a"]);
    await addDevices(world, "a", [{ name: "gpu-0", ...conditions, bindsToNode: true }]);
    await addClaim(world, "gpu");
    await world.addPod("web", using("gpu"));
    await world.settle();
    expect((await world.pod("web")).spec.nodeName).toBeUndefined();
    expect((await claim(world, "gpu")).status.allocation?.devices.results).toMatchObject([conditions]);

    await say(world, "Ready");
    await world.settle();

    expect((await world.pod("web")).spec.nodeName).toBe("a");
  });

  test("are no longer waited for when the pod has gone, which is no user of its claim then", async () => {
    const world = await setUp(["a"]);
    await addDevices(world, "a", [{ name: "gpu-0", ...conditions }]);
    await addClaim(world, "gpu");
    await world.addPod("web", using("gpu"));
    await world.settle();
    expect((await claim(world, "gpu")).status.reservedFor).toHaveLength(1);

    await remove(world, "web");
    await world.settle();

    expect((await claim(world, "gpu")).status.reservedFor ?? []).toEqual([]);
  });

  test("that fail are given up", async () => {
    const world = await setUp(["a"]);
    await addDevices(world, "a", [{ name: "gpu-0", ...conditions }]);
    await addClaim(world, "gpu");
    await world.addPod("web", using("gpu"));
    await world.settle();
    await say(world, "Broken");
    await world.loop.settle();

    const { items } = await world.run(world.client(Event).list({ namespace: "default" }));
    const notes = items.map(({ note = "" }) => note);
    expect(notes).toContain(
      'running PreBind plugin "DynamicResources": claim gpu binding failed: reason=Said, message="so"',
    );
  });
});

async function showClaim(world: SchedulerFixture, name: string, resourceClaimName: string): Promise<void> {
  const changes = { status: { resourceClaimStatuses: [{ name: "gpu", resourceClaimName }] } };
  await world.run(
    world
      .client(Pod)
      .patch({ namespace: "default", name }, { type: "merge", changes }, { subresource: "status" }),
  );
}
