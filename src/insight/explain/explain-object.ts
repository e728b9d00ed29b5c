/** Answers why an object is as it is: its obstacles first, then the causes of its existence and of its last changes. */
import type { ResourceType } from "../../api/api-object.ts";
import type { Change } from "../../api/causes/change.ts";
import { isApiError, notFound } from "../../api/errors/api-error.ts";
import type { Client } from "../../client/client.ts";
import { causeChain, chainTree } from "../causes/cause-chain.ts";
import { podMilestones } from "../causes/pod-milestones.ts";
import { ChangeReader, unrecordedText } from "../causes/read-changes.ts";
import type { KnownChanges } from "../causes/read-changes.ts";
import { objectState } from "../state/object-state.ts";
import { waitingDependents } from "../stuck/dependents.ts";
import { findObstacles } from "../stuck/find-obstacles.ts";
import { gatherSituation } from "../stuck/gather-situation.ts";
import type { Subject } from "../stuck/gather-situation.ts";
import { isBookkeeping } from "../text/bookkeeping.ts";
import { authorText, deedText } from "../text/change-text.ts";
import { clockText } from "../text/duration-text.ts";
import type { TreeNode } from "../text/tree-text.ts";
import type { Explanation, Obstacle } from "./explanation.ts";

/** Objects of these kinds can block others while they are as desired themselves. */
const BLOCKERS = new Set(["Node", "PodDisruptionBudget"]);

/** Latest changes that are shown. */
const RECENT_MAX = 3;

export interface Asked {
  readonly type: ResourceType;
  /** Empty for a cluster-scoped kind. */
  readonly namespace: string;
  readonly name: string;
}

export async function explainObject(client: Client, asked: Asked, now: number): Promise<Explanation> {
  const { type, namespace, name } = asked;
  const reader = new ChangeReader(client);
  const [object, known] = await Promise.all([
    client(type).find({ name, namespace }),
    reader.of({ group: groupOf(type), kind: type.kind, namespace, name }),
  ]);
  const { items } = known;
  if (object === undefined && items.length === 0)
    throw notFound({ group: groupOf(type), resource: type.plural }, name);
  const created = items.findLast(({ operation }) => operation === "Created");
  const [present, origin, count] = await Promise.all([
    object === undefined ? GONE : presentState(client, { object, type }, now),
    created === undefined ? [] : originOf(reader, created, items),
    object === undefined ? undefined : countOf(client, reader, { object, type }),
  ]);
  return {
    subject: `${type.kind} ${namespace === "" ? name : `${namespace}/${name}`}`,
    ...present,
    origin,
    count,
    recent: recentOf(items, created, type),
    remarks: remarksOf(reader, known),
  };
}

type Present = Pick<Explanation, "state" | "isSettled" | "obstacles">;

const GONE: Present = { state: "does not exist any more", isSettled: true, obstacles: [] };

async function presentState(client: Client, subject: Subject, now: number): Promise<Present> {
  const { text, isSettled } = objectState(subject.object, now);
  const mayBlock = !isSettled || BLOCKERS.has(subject.type.kind);
  const obstacles = mayBlock ? await obstaclesOf(client, subject, now) : [];
  return { state: text, isSettled, obstacles };
}

function groupOf({ apiVersion }: ResourceType): string {
  return apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "";
}

/** Obstacles of the object and of what it waits for; those of its dependents only once each. */
async function obstaclesOf(client: Client, subject: Subject, now: number): Promise<readonly Obstacle[]> {
  const own = findObstacles(await gatherSituation(client, subject, now));
  const found: Obstacle[] = own.found.map((finding) => ({ ...finding, of: undefined }));
  const dependents = await waitingDependents(client, subject, now);
  const situations = await Promise.all(
    dependents.map(async (each) => await gatherSituation(client, each, now)),
  );
  let { general } = own;
  for (const situation of situations) {
    const { object, type } = situation;
    const obstacles = findObstacles(situation);
    for (const finding of obstacles.found) {
      if (found.some(({ blockedBy }) => isAlike(blockedBy, finding.blockedBy))) continue;
      found.push({ ...finding, of: `${type.kind} ${object.metadata.name ?? ""}` });
    }
    general ??= obstacles.general;
  }
  const isWaiting = !objectState(subject.object, now).isSettled;
  if (found.length > 0 || general === undefined || !isWaiting) return found;
  return [{ ...general, of: undefined }];
}

/** Whether two texts differ only in numbers, as in the restarts of two pods. */
function isAlike(one: string, other: string): boolean {
  const plain = (text: string): string => text.replaceAll(/\d+/g, "#");
  return plain(one) === plain(other);
}

async function originOf(
  reader: ChangeReader,
  created: Change,
  items: readonly Change[],
): Promise<readonly TreeNode[]> {
  const later = items.slice(items.indexOf(created) + 1);
  const steps = created.object.kind === "Pod" ? podMilestones(later) : [];
  return chainTree(await causeChain(reader, created), steps);
}

/** The last change of the number of replicas, of the object or of the workload above it. */
async function countOf(
  client: Client,
  reader: ChangeReader,
  subject: Subject,
): Promise<Explanation["count"]> {
  const { object, type } = await topOf(client, subject);
  const { replicas } = (object as { readonly spec?: { readonly replicas?: number } }).spec ?? {};
  if (replicas === undefined) return undefined;
  const { name = "", namespace = "" } = object.metadata;
  const { items } = await reader.of({ group: groupOf(type), kind: type.kind, namespace, name });
  const change = items.findLast(({ fields = [] }) => fields.some(({ path }) => path === "spec.replicas"));
  if (change === undefined) return undefined;
  return { replicas, causes: chainTree(await causeChain(reader, change), []) };
}

/** Levels of owners above a pod: ReplicaSet, Deployment, and one for operators. */
const LEVELS_MAX = 3;

/** The topmost owner that the user may read. */
async function topOf(client: Client, subject: Subject, levels = LEVELS_MAX): Promise<Subject> {
  const { ownerReferences = [], namespace = "" } = subject.object.metadata;
  const owner = ownerReferences.find(({ controller }) => controller === true);
  const type = owner === undefined ? undefined : await client.findType(owner.apiVersion, owner.kind);
  if (owner === undefined || type === undefined || levels === 0) return subject;
  try {
    const place = { name: owner.name, ...(type.namespaced && { namespace }) };
    const object = await client(type).find(place);
    return object === undefined ? subject : await topOf(client, { object, type }, levels - 1);
  } catch (error) {
    if (isApiError(error, "Forbidden")) return subject;
    throw error;
  }
}

/** The latest changes of metadata and spec, without the notes of controllers. */
function recentOf(
  items: readonly Change[],
  created: Change | undefined,
  type: ResourceType,
): readonly TreeNode[] {
  const isPod = type.kind === "Pod";
  const later = items.slice(created === undefined ? 0 : items.indexOf(created) + 1);
  const desired = later.filter(
    ({ operation, fields }) =>
      operation === "Deleted" ||
      fields === undefined ||
      (!isPod && fields.some((field) => !field.path.startsWith("status") && !isBookkeeping(field))),
  );
  return desired
    .slice(-RECENT_MAX)
    .toReversed()
    .map((change) => ({
      text: `${authorText(change.author)} ${deedText(change)}`,
      time: clockText(change.time),
      mark: `rev ${change.revision}`,
    }));
}

function remarksOf(
  { problem }: ChangeReader,
  { items, cut, unrecordedThrough }: KnownChanges,
): readonly string[] {
  if (problem !== undefined) return [problem];
  const remarks: string[] = [];
  if (unrecordedThrough !== undefined) remarks.push(unrecordedText(unrecordedThrough));
  if (!items.some(({ operation }) => operation === "Created")) {
    const why = cut === undefined ? "" : ` (${cut})`;
    remarks.push(`its creation is older than the history${why}; setpoint up --history keeps more`);
  }
  return remarks;
}
