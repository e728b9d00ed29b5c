/** A server with a scheduler on a virtual clock, and the nodes and pods that its tests need. */
import type { Manifest } from "../../src/api/api-object.ts";
import { Node, Pod } from "../../src/api/generated/types/core-v1.ts";
import { PriorityClass } from "../../src/api/generated/types/scheduling-v1.ts";
import type { SchedulerOptions } from "../../src/scheduler/scheduler.ts";
import { schedulerRoutine } from "../../src/scheduler/scheduler.ts";
import { startRuntimeFixture, type StartedManager, type RuntimeFixture } from "./runtime-fixture.ts";

export interface SchedulerFixture extends RuntimeFixture {
  readonly scheduler: StartedManager;
  /** Runs until no work is left. */
  settle(): Promise<void>;
  addNode(name: string, change?: NodeChange): Promise<Node>;
  addPod(name: string, change?: PodChange): Promise<Pod>;
  pod(name: string): Promise<Pod>;
  /** Node of each pod, by the pod's name; undefined while it has none. */
  places(): Promise<Readonly<Record<string, string | undefined>>>;
  /** Reason in the pod's status for having no node. */
  reason(name: string): Promise<string | undefined>;
}

export interface NodeChange {
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: Manifest<Node>["spec"];
  readonly allocatable?: Readonly<Record<string, string>>;
}

export interface PodChange {
  readonly labels?: Readonly<Record<string, string>>;
  readonly requests?: Readonly<Record<string, string>>;
  readonly spec?: Manifest<Pod>["spec"];
}

const ALLOCATABLE = { cpu: "4", memory: "8Gi", pods: "110" };

export async function startSchedulerFixture(
  options: SchedulerOptions = {},
  seed = 1,
): Promise<SchedulerFixture> {
  const world = await startRuntimeFixture(seed);
  const { client, loop } = world;
  const run = <T>(promise: Promise<T>): Promise<T> => world.run(promise);
  const scheduler = world.start("scheduler", { routines: [schedulerRoutine(options)] });
  const pod = (name: string): Promise<Pod> => run(client(Pod).get({ namespace: "default", name }));
  await loop.settle();
  return {
    ...world,
    scheduler,
    pod,
    settle: () => loop.settle(),
    addNode: (name, change) => run(client(Node).create(nodeManifest(name, change))),
    addPod: (name, change) => run(client(Pod).create(podManifest(name, change))),
    places: async () => {
      const { items } = await run(client(Pod).list());
      return Object.fromEntries(items.map(({ metadata, spec }) => [metadata.name, spec.nodeName]));
    },
    reason: async (name) => {
      const { status } = await pod(name);
      return status.conditions?.find(({ type }) => type === "PodScheduled")?.message;
    },
  };
}

function nodeManifest(name: string, change: NodeChange = {}): Manifest<Node> {
  const { labels = {}, spec = {}, allocatable = ALLOCATABLE } = change;
  return {
    metadata: { name, labels: { "kubernetes.io/hostname": name, ...labels } },
    spec,
    status: { allocatable, capacity: allocatable },
  };
}

export function podManifest(name: string, change: PodChange = {}): Manifest<Pod> {
  const { labels = {}, requests = {}, spec = {} } = change;
  const containers = [{ name: "main", image: "app", resources: { requests } }];
  return {
    metadata: { name, namespace: "default", labels },
    spec: { containers, ...spec },
  } as Manifest<Pod>;
}

export async function addPriority(
  world: RuntimeFixture,
  name: string,
  value: number,
  preemptionPolicy?: "Never",
): Promise<void> {
  await world.run(world.client(PriorityClass).create({ metadata: { name }, value, preemptionPolicy }));
}
