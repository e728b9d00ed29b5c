/** Jobs and their pods as tests see and drive them; no agent runs the pods unless the cluster has nodes. */
import type { Manifest } from "../../src/api/api-object.ts";
import { Job } from "../../src/api/generated/types/batch-v1.ts";
import type { JobSpec, JobStatus } from "../../src/api/generated/types/batch-v1.ts";
import { Event, Pod } from "../../src/api/generated/types/core-v1.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { isActive } from "../../src/resources/pod/pod-state.ts";

export const LOOPS = ["job-controller", "job-orphan-pods-controller"];
const INDEX = "batch.kubernetes.io/job-completion-index";

export function start(seed: number): Promise<Cluster> {
  return startCluster({ clock: "virtual", seed, loops: LOOPS });
}

export function create(cluster: Cluster, spec: Manifest<Job>["spec"]): Promise<Job> {
  const containers = [{ name: "work", image: "work:1" }];
  const template = { spec: { restartPolicy: "Never", containers } } as const;
  return cluster.client(Job).create({ metadata: { name: "work" }, spec: { template, ...spec } });
}

export async function change(cluster: Cluster, spec: Partial<JobSpec>): Promise<void> {
  await cluster.client(Job).patch({ name: "work" }, { type: "merge", changes: { spec } });
}

export function job(cluster: Cluster): Job {
  const [found] = cluster.objects(Job);
  if (found === undefined) throw new Error("the Job is gone");
  return found;
}

export function pods(cluster: Cluster): readonly Pod[] {
  return cluster.objects(Pod, "default");
}

export function active(cluster: Cluster): readonly Pod[] {
  return pods(cluster).filter(isActive);
}

export function indexes(cluster: Cluster): readonly (string | undefined)[] {
  return active(cluster)
    .map(({ metadata }) => metadata.annotations?.[INDEX] ?? "")
    .toSorted((left, right) => Number(left) - Number(right));
}

export function conditions(cluster: Cluster): readonly string[] {
  const { conditions: shown = [] }: JobStatus = job(cluster).status;
  return shown.map(({ type, reason }) => `${type}: ${reason ?? ""}`);
}

export function reasons(cluster: Cluster): readonly string[] {
  return cluster
    .objects(Event, "default")
    .flatMap(({ reason, count = 1 }) => Array<string>(count).fill(reason ?? ""));
}

export async function end(cluster: Cluster, pod: Pod, status: Partial<Pod["status"]>): Promise<void> {
  const newest = await cluster.client(Pod).get(pod);
  await cluster.client(Pod).updateStatus(newest, status);
}

export async function succeed(cluster: Cluster, pod: Pod): Promise<void> {
  await end(cluster, pod, ended(cluster, "Succeeded", 0));
}

export async function fail(cluster: Cluster, pod: Pod, exitCode = 1): Promise<void> {
  await end(cluster, pod, ended(cluster, "Failed", exitCode));
}

function ended(cluster: Cluster, phase: "Failed" | "Succeeded", exitCode: number): Partial<Pod["status"]> {
  const finishedAt = new Date(cluster.clock.now()).toISOString();
  const state = { terminated: { exitCode, finishedAt } };
  const status = {
    name: "work",
    image: "",
    imageID: "",
    ready: false,
    restartCount: 0,
    lastState: {},
    state,
  };
  return { phase, containerStatuses: [status] };
}

/** Binds the pod as if an agent ran it: then its deletion is not immediate. */
export async function place(cluster: Cluster, pod: Pod): Promise<void> {
  const { namespace, name } = pod.metadata;
  const body = { metadata: { namespace, name }, target: { kind: "Node", name: "node-1" } };
  await cluster.client(Pod).subresource("binding").create(pod, body);
}

/** Returns the largest number of pods active at a time. */
export async function endAll(
  cluster: Cluster,
  how: (cluster: Cluster, pod: Pod) => Promise<void>,
): Promise<number> {
  let most = 0;
  for (;;) {
    await cluster.settle();
    const left = active(cluster);
    if (left.length === 0) return most;
    most = Math.max(most, left.length);
    for (const pod of left) await how(cluster, pod);
  }
}
