/** Reads the facts that the rules need. A fact that the user may not read is left out. */
import type { ApiObject } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import { DaemonSet } from "../../api/generated/types/apps-v1.ts";
import { Lease } from "../../api/generated/types/coordination-v1.ts";
import {
  Event,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Service,
} from "../../api/generated/types/core-v1.ts";
import type { OwnerReference } from "../../api/generated/types/meta-v1.ts";
import { Ingress } from "../../api/generated/types/networking-v1.ts";
import { PodDisruptionBudget } from "../../api/generated/types/policy-v1.ts";
import { StorageClass } from "../../api/generated/types/storage-v1.ts";
import type { Client } from "../../client/client.ts";
import { endedContainers } from "./ended-containers.ts";
import type { FactReader } from "./fact-reader.ts";
import { remainingIn } from "./remaining-objects.ts";
import { asKind } from "./situation.ts";
import type { OwnerFound, Situation, Subject } from "./situation.ts";
import { webhookOf } from "./webhook.ts";

/** An object to explain, with the topmost owner that the user may read. */
export interface Case {
  readonly subject: Subject;
  readonly top: Subject;
}

export async function gatherSituation(
  reader: FactReader,
  { subject, top }: Case,
  now: number,
): Promise<Situation> {
  const claim = asKind(subject, PersistentVolumeClaim);
  const isWaitingClaim = claim?.status.phase === "Pending";
  const { namespace = "" } = subject.object.metadata;
  const [
    events,
    owners,
    nodes,
    pods,
    budgets,
    claims,
    leases,
    lastLines,
    services,
    volumes,
    classes,
    remaining,
  ] = await Promise.all([
    eventsOf(reader, subject.object),
    ownersOf(reader.client, subject.object),
    nodesFor(reader, subject),
    podsFor(reader, subject),
    asKind(subject, Node)?.spec.unschedulable === true ? reader.list(PodDisruptionBudget, {}) : [],
    claimsFor(reader, subject),
    mayAwaitLoop(subject) ? reader.list(Lease, { namespace: "kube-system" }) : [],
    lastLinesOf(reader, subject),
    asKind(subject, Ingress) === undefined ? [] : reader.list(Service, { namespace }),
    isWaitingClaim ? reader.list(PersistentVolume, {}) : [],
    isWaitingClaim ? reader.list(StorageClass, {}) : [],
    remainingIn(reader, subject.object),
  ]);
  const webhook = await webhookOf(reader, { ...subject, events });
  return {
    ...subject,
    webhook,
    top,
    now,
    events,
    owners,
    nodes,
    pods,
    budgets,
    claims,
    leases,
    lastLines,
    services,
    volumes,
    classes,
    remaining,
  };
}

/** Newest first; those about all objects of the name for an object without a uid. Events about cluster-scoped objects are in the namespace `default`. */
export async function eventsOf(reader: FactReader, { metadata, kind }: ApiObject): Promise<readonly Event[]> {
  const { namespace = "default", name = "", uid } = metadata;
  const place = namespace === "" ? "default" : namespace;
  const fieldSelector = `involvedObject.kind=${kind},involvedObject.name=${name}`;
  const events = await reader.list(Event, { namespace: place, fieldSelector });
  return events
    .filter(
      ({ involvedObject }) =>
        uid === undefined ||
        involvedObject.uid === undefined ||
        involvedObject.uid === uid ||
        kind === "Node",
    )
    .toSorted((a, b) => (timeOf(b) < timeOf(a) ? -1 : 1));
}

function timeOf({ lastTimestamp, eventTime, metadata }: Event): string {
  return lastTimestamp ?? eventTime ?? metadata.creationTimestamp;
}

async function ownersOf(client: Client, { metadata }: ApiObject): Promise<readonly OwnerFound[]> {
  const references = metadata.ownerReferences ?? [];
  return await Promise.all(
    references.map(async (reference) => ({
      reference,
      state: await ownerState(client, reference, metadata.namespace),
    })),
  );
}

async function ownerState(
  client: Client,
  { apiVersion, kind, name, uid }: OwnerReference,
  namespace: string | undefined,
): Promise<OwnerFound["state"]> {
  try {
    const type = await client.findType(apiVersion, kind);
    if (type === undefined) return "hidden";
    const place = { name, ...(type.namespaced && { namespace }) };
    const found = await client(type).find(place, { form: "metadata" });
    return found?.metadata.uid === uid ? "exists" : "gone";
  } catch (error) {
    if (isApiError(error, "Forbidden")) return "hidden";
    throw error;
  }
}

async function nodesFor(reader: FactReader, subject: Subject): Promise<readonly Node[]> {
  const nodeName = asKind(subject, Pod)?.spec.nodeName;
  if (nodeName !== undefined) return await reader.list(Node, { fieldSelector: `metadata.name=${nodeName}` });
  const isUnplaced =
    asKind(subject, Pod) !== undefined || asKind(subject, DaemonSet)?.status.desiredNumberScheduled === 0;
  return isUnplaced ? await reader.list(Node, {}) : [];
}

async function podsFor(reader: FactReader, subject: Subject): Promise<readonly Pod[]> {
  const node = asKind(subject, Node);
  if (node?.spec.unschedulable === true)
    return await reader.list(Pod, { fieldSelector: `spec.nodeName=${node.metadata.name}` });
  const { namespace = "" } = subject.object.metadata;
  if (asKind(subject, Service) !== undefined || asKind(subject, PodDisruptionBudget) !== undefined)
    return await reader.list(Pod, { namespace });
  const claim = asKind(subject, PersistentVolumeClaim);
  if (
    claim === undefined ||
    (claim.status.phase === "Bound" && claim.metadata.deletionTimestamp === undefined)
  )
    return [];
  const pods = await reader.list(Pod, { namespace });
  const { name } = claim.metadata;
  return pods.filter(({ spec }) =>
    spec.volumes?.some((each) => each.persistentVolumeClaim?.claimName === name),
  );
}

async function claimsFor(reader: FactReader, subject: Subject): Promise<readonly PersistentVolumeClaim[]> {
  const pod = asKind(subject, Pod);
  if (pod === undefined || pod.spec.nodeName !== undefined) return [];
  const names = (pod.spec.volumes ?? []).flatMap(
    ({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [],
  );
  if (names.length === 0) return [];
  const claims = await reader.list(PersistentVolumeClaim, { namespace: pod.metadata.namespace ?? "" });
  return claims.filter(({ metadata }) => names.includes(metadata.name));
}

async function lastLinesOf(reader: FactReader, subject: Subject): Promise<ReadonlyMap<string, string>> {
  const pod = asKind(subject, Pod);
  const ended = pod === undefined ? [] : endedContainers(pod);
  const lines = await Promise.all(
    ended.map(async ({ name, isPrevious: previous }) => {
      const key = { name: pod?.metadata.name ?? "", namespace: pod?.metadata.namespace };
      const line = await reader.lastLine({ key, container: name, previous });
      return [name, line] as const;
    }),
  );
  return new Map(lines.flatMap(([name, line]) => (line === undefined ? [] : [[name, line]])));
}

function mayAwaitLoop(subject: Subject): boolean {
  const pod = asKind(subject, Pod);
  return pod === undefined
    ? /^(apps|batch)\//.test(subject.type.apiVersion)
    : pod.spec.nodeName === undefined;
}
