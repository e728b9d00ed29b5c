/** Claims that hold at every revision, whatever fails: pure functions over a history; each returns the violations. */
import type { ApiObject } from "../../../src/api/api-object.ts";
import type { StatefulSet } from "../../../src/api/generated/types/apps-v1.ts";
import type { Job } from "../../../src/api/generated/types/batch-v1.ts";
import type { Node, Pod, Service } from "../../../src/api/generated/types/core-v1.ts";
import type { ResourceClaim } from "../../../src/api/generated/types/resource-v1.ts";
import { isReady, isTerminal } from "../../../src/resources/pod/pod-state.ts";
import type { Change } from "./chaos-history.ts";
import { mebi, milli } from "./chaos-quantities.ts";

/**
 * An object that is written at more moments than this is in an endless loop. Several writes at one moment are not a loop, because work
 * takes no virtual time unless it waits.
 */
const MAX_WRITES_A_MINUTE = 60;
const MINUTE_MS = 60_000;

export function brokenInvariants(changes: readonly Change[]): readonly string[] {
  return [
    ...changes.flatMap(brokenByItself),
    ...overfullNodes(changes),
    ...sharedDevices(changes),
    ...sharedAddresses(changes),
    ...hotLoops(changes),
    ...hastySets(changes),
  ];
}

function brokenByItself(change: Change): readonly string[] {
  const { before, after, revision, key } = change;
  const found: string[] = [];
  if (before === undefined) return found;
  if (after === undefined) {
    if ((before.metadata.finalizers ?? []).length > 0 && before.metadata.deletionTimestamp === undefined)
      found.push("is gone in spite of its finalizers");
  } else if (after.metadata.uid !== before.metadata.uid) found.push("became another object");
  else {
    found.push(...backwardNumbers(before as Numbered, after as Numbered));
    if (change.kind === "Pod") found.push(...movedPod(before as Pod, after as Pod));
    if (change.kind === "Job") found.push(...forgetfulJob(before as Job, after as Job));
  }
  return found.map((what) => `${key} ${what} (revision ${String(revision)})`);
}

type Numbered = ApiObject & { readonly status?: { readonly observedGeneration?: number } };

function backwardNumbers(before: Numbered, after: Numbered): readonly string[] {
  const found: string[] = [];
  const { observedGeneration: seenBefore = 0 } = before.status ?? {};
  const { observedGeneration: seen = 0 } = after.status ?? {};
  const { generation: was = 0, deletionTimestamp } = before.metadata;
  const { generation = Infinity } = after.metadata;
  if (was > generation) found.push("has a smaller generation");
  if (seenBefore > seen) found.push(`has observed generation ${String(seen)} after ${String(seenBefore)}`);
  if (seen > generation) found.push("has observed a generation to come");
  if (deletionTimestamp !== undefined && after.metadata.deletionTimestamp === undefined)
    found.push("is not deleted any more");
  return found;
}

function movedPod(before: Pod, after: Pod): readonly string[] {
  const found: string[] = [];
  if (before.spec.nodeName !== undefined && before.spec.nodeName !== after.spec.nodeName)
    found.push(`moved to ${after.spec.nodeName ?? "nowhere"}`);
  if (isTerminal(before) && before.status.phase !== after.status.phase)
    found.push(`is ${after.status.phase ?? ""} after ${before.status.phase ?? ""}`);
  return found;
}

function forgetfulJob(before: Job, after: Job): readonly string[] {
  const found: string[] = [];
  for (const count of ["succeeded", "failed"] as const) {
    if ((before.status[count] ?? 0) > (after.status[count] ?? 0)) found.push(`has fewer that ${count}`);
  }
  const ends = (job: Job): readonly string[] =>
    (job.status.conditions ?? [])
      .filter(({ type, status }) => status === "True" && (type === "Complete" || type === "Failed"))
      .map(({ type }) => type);
  for (const end of ends(before)) if (!ends(after).includes(end)) found.push(`is not ${end} any more`);
  if (ends(after).length > 1) found.push("has ended twice");
  return found;
}

export function controllerOf({ metadata }: ApiObject): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

interface Room {
  readonly cpu: number;
  readonly memory: number;
  readonly pods: number;
}

function roomOf(amounts: Readonly<Record<string, string>>): Room {
  return {
    cpu: milli(amounts["cpu"] ?? "0"),
    memory: mebi(amounts["memory"] ?? "0"),
    pods: Number(amounts["pods"] ?? "0"),
  };
}

export function requestsOf(pods: readonly Pod[]): Room {
  let cpu = 0;
  let memory = 0;
  for (const { spec } of pods) {
    for (const { resources } of spec.containers) {
      const room = roomOf(resources.requests ?? {});
      cpu += room.cpu;
      memory += room.memory;
    }
  }
  return { cpu, memory, pods: pods.length };
}

function hostPortsOf(pods: readonly Pod[]): readonly number[] {
  return pods.flatMap(({ spec }) =>
    spec.containers.flatMap(({ ports = [] }) => ports.flatMap(({ hostPort }) => hostPort ?? [])),
  );
}

/** Checked whenever a pod is bound. */
function overfullNodes(changes: readonly Change[]): readonly string[] {
  const found: string[] = [];
  const nodes = new Map<string, Node>();
  const pods = new Map<string, Pod>();
  for (const change of changes) {
    const { kind, key, after, revision } = change;
    if (kind === "Node") keep(nodes, nameIn(key), after as Node | undefined);
    if (kind !== "Pod") continue;
    keep(pods, key, after as Pod | undefined);
    const node = nodes.get(findNewPlace(change) ?? "");
    if (node !== undefined && !hasRoom(node, [...pods.values()]))
      found.push(`${key} overfills ${node.metadata.name ?? ""} (revision ${String(revision)})`);
  }
  return found;
}

function nameIn(key: string): string {
  return key.slice(key.lastIndexOf("/") + 1);
}

/** Node on which this change put a pod. */
function findNewPlace({ before, after }: Change): string | undefined {
  const was = (before as Pod | undefined)?.spec.nodeName;
  return was === undefined ? (after as Pod | undefined)?.spec.nodeName : undefined;
}

/** Whether the node has room for those of the pods that are on it. */
export function hasRoom({ metadata, status }: Node, pods: readonly Pod[]): boolean {
  const there = pods.filter((each) => each.spec.nodeName === metadata.name && !isTerminal(each));
  const has = roomOf(status.allocatable ?? {});
  const wanted = requestsOf(there);
  const ports = hostPortsOf(there);
  const hasPorts = new Set(ports).size === ports.length;
  return hasPorts && wanted.cpu <= has.cpu && wanted.memory <= has.memory && wanted.pods <= has.pods;
}

function keep<T>(all: Map<string, T>, key: string, value: T | undefined): void {
  if (value === undefined) all.delete(key);
  else all.set(key, value);
}

function sharedDevices(changes: readonly Change[]): readonly string[] {
  const found: string[] = [];
  const devices = new Map<string, readonly string[]>();
  for (const { kind, key, after, revision } of changes) {
    if (kind !== "ResourceClaim") continue;
    const claim = after as ResourceClaim | undefined;
    const results = claim?.status.allocation?.devices?.results ?? [];
    const own = results.map(({ driver, pool, device }) => `${driver}/${pool}/${device}`);
    devices.set(key, own);
    for (const [other, theirs] of devices) {
      if (other !== key && theirs.some((device) => own.includes(device)))
        found.push(`${key} has a device of ${other} (revision ${String(revision)})`);
    }
  }
  return found;
}

function sharedAddresses(changes: readonly Change[]): readonly string[] {
  const found: string[] = [];
  const taken = new Map<string, readonly string[]>();
  for (const { kind, key, after, revision } of changes) {
    if (kind !== "Service") continue;
    const { spec } = (after ?? { spec: {} }) as Service;
    const addresses = (spec.clusterIPs ?? []).filter((address) => address !== "None");
    const ports = (spec.ports ?? []).flatMap(({ nodePort }) =>
      nodePort === undefined ? [] : String(nodePort),
    );
    const own = [...addresses, ...ports];
    taken.set(key, own);
    for (const [other, theirs] of taken) {
      if (other !== key && theirs.some((each) => own.includes(each)))
        found.push(`${key} has an address or port of ${other} (revision ${String(revision)})`);
    }
  }
  return found;
}

function hotLoops(changes: readonly Change[]): readonly string[] {
  const times = new Map<string, number[]>();
  const hot = new Set<string>();
  for (const { kind, key, at } of changes) {
    if (kind === "Lease") continue;
    const recent = (times.get(key) ?? []).filter((each) => each > at - MINUTE_MS);
    if (recent.at(-1) !== at) recent.push(at);
    times.set(key, recent);
    if (recent.length > MAX_WRITES_A_MINUTE) hot.add(key);
  }
  return [...hot].map((key) => `${key} is written again and again`);
}

/** A pod of an ordered set comes only after the one before it has been ready. */
function hastySets(changes: readonly Change[]): readonly string[] {
  const found: string[] = [];
  const ordered = new Set<string>();
  const wasReady = new Set<string>();
  for (const { kind, key, before, after, revision } of changes) {
    if (after === undefined) continue;
    if (kind === "StatefulSet" && isOrdered(after as StatefulSet)) ordered.add(after.metadata.uid ?? "");
    if (kind !== "Pod") continue;
    const { owner, ordinal } = memberOf(after);
    if (isReady(after as Pod)) wasReady.add(`${owner} ${String(ordinal)}`);
    const isNext = before === undefined && ordered.has(owner) && ordinal > 0;
    if (isNext && !wasReady.has(`${owner} ${String(ordinal - 1)}`))
      found.push(`${key} comes before its predecessor was ready (revision ${String(revision)})`);
  }
  return found;
}

function isOrdered({ spec }: StatefulSet): boolean {
  return spec.podManagementPolicy === "OrderedReady";
}

function memberOf(member: ApiObject): { readonly owner: string; readonly ordinal: number } {
  const owner = controllerOf(member) ?? "";
  return { owner, ordinal: Number(/-(\d+)$/.exec(member.metadata.name ?? "")?.[1]) };
}
