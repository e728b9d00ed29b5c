import { describe, expect, test } from "vitest";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { settableLoop } from "../../base/fixture.ts";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import type { PluginName } from "../framework/scheduler-plugin.ts";
import { podInfo, type PodInfo } from "../snapshot/pod-info.ts";
import { PodShapes } from "../snapshot/pod-shape.ts";
import { SchedulingQueue } from "./scheduling-queue.ts";

const FIT: ReadonlySet<PluginName> = new Set(["NodeResourcesFit"]);

function pod(name: string, { priority = 0, gates = [] as readonly string[], uid = name } = {}): PodInfo {
  const schedulingGates = gates.map((gate) => ({ name: gate }));
  const object = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", uid, resourceVersion: "1", creationTimestamp: "" },
    spec: { containers: [], priority, schedulingGates },
    status: {},
  } as Pod;
  return podInfo(object, new PodShapes());
}

interface Behaviour {
  readonly helps?: () => boolean;
  readonly holders?: (pod: PodInfo) => ReadonlySet<PluginName>;
}

const NO_PLUGINS: ReadonlySet<PluginName> = new Set();

function makeQueue({ helps = () => true, holders = () => NO_PLUGINS }: Behaviour = {}) {
  const loop = new VirtualLoop({ seed: 1 });
  const hints = { helps, plugins: () => FIT, holders: (waiting: PodInfo) => holders(waiting) };
  const queue = new SchedulingQueue({ loop, hints, onActive: () => undefined });
  const takeAll = (): string[] => {
    const names: string[] = [];
    for (let entry = queue.take(); entry !== undefined; entry = queue.take()) names.push(entry.pod.name);
    return names;
  };
  return { loop, queue, takeAll };
}

describe("the scheduling queue", () => {
  test("takes pods by priority, then in order of arrival", () => {
    const { queue, takeAll } = makeQueue();
    queue.put(pod("a"));
    queue.put(pod("b", { priority: 5 }));
    queue.put(pod("c"));
    queue.put(pod("d", { priority: 5 }));

    expect(takeAll()).toEqual(["b", "d", "a", "c"]);
  });

  test("holds gated pods back until their gates are removed", () => {
    const { queue, takeAll } = makeQueue();
    queue.put(pod("a", { gates: ["wait"] }));
    expect(takeAll()).toEqual([]);

    queue.put(pod("a"));
    expect(takeAll()).toEqual(["a"]);
  });

  test("backs off a failed pod for one second, then two, at most ten", async () => {
    const { loop, queue } = makeQueue();
    queue.put(pod("a"));
    const waits: number[] = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      const entry = queue.take();
      if (entry === undefined) break;
      const before = loop.now();
      queue.retryLater(entry);
      await loop.until(() => queue.hasActive);
      waits.push(loop.now() - before);
    }

    expect(waits).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000]);
  });

  test("ends back-offs in time although the clock is set back", async () => {
    const world = new VirtualLoop({ seed: 1 });
    const loop = settableLoop(world);
    const hints = { helps: () => true, plugins: () => FIT, holders: () => NO_PLUGINS };
    const queue = new SchedulingQueue({ loop, hints, onActive: () => undefined });
    queue.put(pod("a"));
    queue.put(pod("b"));
    for (const waitMs of [0, 500]) {
      await world.advance(waitMs);
      const entry = queue.take();
      if (entry !== undefined) queue.retryLater(entry);
    }

    loop.setBack(3_600_000);
    await world.advance(1500);

    expect([queue.take()?.pod.name, queue.take()?.pod.name]).toEqual(["a", "b"]);
  });

  test("activates an unschedulable pod only for an event that helps", async () => {
    let isHelpful = false;
    const { loop, queue, takeAll } = makeQueue({ helps: () => isHelpful });
    queue.put(pod("a"));
    const entry = queue.take();
    if (entry !== undefined) queue.addUnschedulable(entry, FIT);
    queue.notice({ type: "volume" });
    await loop.settle();
    expect(takeAll()).toEqual([]);

    isHelpful = true;
    queue.notice({ type: "volume" });
    await loop.settle();
    expect(takeAll()).toEqual(["a"]);
  });

  test("activates an unschedulable pod by itself after five minutes", async () => {
    const { loop, queue } = makeQueue({ helps: () => false });
    queue.start();
    queue.put(pod("a"));
    const entry = queue.take();
    if (entry !== undefined) queue.addUnschedulable(entry, FIT);

    await loop.advance(299_000);
    expect(queue.hasActive).toBe(false);
    await loop.advance(31_000);
    expect(queue.hasActive).toBe(true);
    queue.stop();
  });

  test("does not activate a removed pod", async () => {
    const { loop, queue, takeAll } = makeQueue();
    queue.put(pod("a"));
    const entry = queue.take();
    if (entry !== undefined) queue.retryLater(entry);
    queue.remove("default/a");
    await loop.settle();

    expect(takeAll()).toEqual([]);
    expect(queue.count("backoff")).toBe(0);
  });

  test("resets the state for a new pod of the same name", () => {
    const { queue, takeAll } = makeQueue();
    queue.put(pod("a"));
    const entry = queue.take();
    if (entry !== undefined) queue.retryLater(entry);
    queue.put(pod("a", { uid: "other" }));

    expect(takeAll()).toEqual(["a"]);
  });

  test("holds a pod back while a plugin holds it, without counting attempts", () => {
    let isHeld = true;
    const { queue, takeAll } = makeQueue({ holders: () => (isHeld ? FIT : NO_PLUGINS) });
    queue.put(pod("a"));
    expect(takeAll()).toEqual([]);
    queue.notice({ type: "volume" });
    expect([takeAll(), queue.count("gated")]).toEqual([[], 1]);

    isHeld = false;
    queue.notice({ type: "volume" });

    expect([takeAll(), queue.find("default/a")?.attempts]).toEqual([["a"], 0]);
  });
});
