/** Reads the facts that the rules need. What the user may not read is left out. */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import { Lease } from "../../api/generated/types/coordination-v1.ts";
import { Event, Node, PersistentVolumeClaim, Pod } from "../../api/generated/types/core-v1.ts";
import type { OwnerReference } from "../../api/generated/types/meta-v1.ts";
import { PodDisruptionBudget } from "../../api/generated/types/policy-v1.ts";
import type { Client, ListOptions } from "../../client/client.ts";
import { findCondition } from "../state/conditions.ts";
import { asKind } from "./situation.ts";
import type { OwnerFound, Situation } from "./situation.ts";

/** Upper bound of objects of each kind. */
const READ_MAX = 500;

export interface Subject {
  readonly object: ApiObject;
  readonly type: ResourceType;
}

export async function gatherSituation(client: Client, subject: Subject, now: number): Promise<Situation> {
  const [events, owners, nodes, pods, budgets, claims, leases] = await Promise.all([
    eventsOf(client, subject.object),
    ownersOf(client, subject.object),
    nodesFor(client, subject),
    podsFor(client, subject),
    asKind(subject, Node)?.spec.unschedulable === true ? read(client, PodDisruptionBudget, {}) : [],
    claimsFor(client, subject),
    mayAwaitLoop(subject) ? read(client, Lease, { namespace: "kube-system" }) : [],
  ]);
  return { ...subject, now, events, owners, nodes, pods, budgets, claims, leases };
}

/** Newest first. Events about cluster-scoped objects are in the namespace `default`. */
export async function eventsOf(client: Client, { metadata, kind }: ApiObject): Promise<readonly Event[]> {
  const { namespace = "default", name = "", uid = "" } = metadata;
  const fieldSelector = `involvedObject.kind=${kind},involvedObject.name=${name}`;
  const events = await read(client, Event, { namespace, fieldSelector });
  return events
    .filter(
      ({ involvedObject }) =>
        involvedObject.uid === undefined || involvedObject.uid === uid || kind === "Node",
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

async function nodesFor(client: Client, subject: Subject): Promise<readonly Node[]> {
  const pod = asKind(subject, Pod);
  if (pod === undefined) return [];
  const { nodeName } = pod.spec;
  if (nodeName !== undefined) return await read(client, Node, { fieldSelector: `metadata.name=${nodeName}` });
  const message = findCondition(pod, "PodScheduled")?.message ?? "";
  return message.includes("untolerated taint") ? await read(client, Node, {}) : [];
}

async function podsFor(client: Client, subject: Subject): Promise<readonly Pod[]> {
  const node = asKind(subject, Node);
  if (node?.spec.unschedulable === true)
    return await read(client, Pod, { fieldSelector: `spec.nodeName=${node.metadata.name}` });
  const claim = asKind(subject, PersistentVolumeClaim);
  if (claim?.metadata.deletionTimestamp === undefined) return [];
  const { namespace = "", name } = claim.metadata;
  const pods = await read(client, Pod, { namespace });
  return pods.filter(({ spec }) =>
    spec.volumes?.some((each) => each.persistentVolumeClaim?.claimName === name),
  );
}

async function claimsFor(client: Client, subject: Subject): Promise<readonly PersistentVolumeClaim[]> {
  const pod = asKind(subject, Pod);
  if (pod === undefined || pod.spec.nodeName !== undefined) return [];
  const names = (pod.spec.volumes ?? []).flatMap(
    ({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [],
  );
  if (names.length === 0) return [];
  const claims = await read(client, PersistentVolumeClaim, { namespace: pod.metadata.namespace ?? "" });
  return claims.filter(({ metadata }) => names.includes(metadata.name));
}

function mayAwaitLoop(subject: Subject): boolean {
  const pod = asKind(subject, Pod);
  return pod === undefined
    ? /^(apps|batch)\//.test(subject.type.apiVersion)
    : pod.spec.nodeName === undefined;
}

/** Nothing for a kind that the user may not list. */
async function read<T extends ApiObject>(
  client: Client,
  type: ResourceType<T>,
  options: ListOptions,
): Promise<readonly T[]> {
  try {
    const { items } = await client(type).list({ ...options, limit: READ_MAX });
    return items;
  } catch (error) {
    if (isApiError(error, "Forbidden") || isApiError(error, "NotFound")) return [];
    throw error;
  }
}
