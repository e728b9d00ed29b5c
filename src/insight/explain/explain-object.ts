/** Answers why an object is as it is: its obstacles first, then the causes of its existence and of its last changes. */
import type { ResourceType } from "../../api/api-object.ts";
import type { Change } from "../../api/causes/change.ts";
import type { Client } from "../../client/client.ts";
import { causeChain, chainTree } from "../causes/cause-chain.ts";
import { podMilestones } from "../causes/pod-milestones.ts";
import { ChangeReader, unrecordedTexts } from "../causes/read-changes.ts";
import type { KnownChanges } from "../causes/read-changes.ts";
import { inNamespace } from "../stuck/situation.ts";
import type { Subject } from "../stuck/situation.ts";
import { isBookkeeping } from "../text/bookkeeping.ts";
import { authorText, deedText, isComponent } from "../text/change-text.ts";
import { clockText } from "../text/duration-text.ts";
import type { TreeNode } from "../text/tree-text.ts";
import type { Explanation } from "./explanation.ts";
import { findFight } from "./find-fight.ts";
import { missingObject } from "./missing-object.ts";
import { goneState, presentState, topOf } from "./present-state.ts";

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
  if (object === undefined && items.length === 0) throw await missingObject(client, asked);
  const created = items.findLast(({ operation }) => operation === "Created");
  const top = object === undefined ? undefined : topOf(client, { object, type });
  const [present, origin, count] = await Promise.all([
    object === undefined || top === undefined
      ? goneState(items, now)
      : presentState(client, { subject: { object, type }, top }, now),
    created === undefined ? [] : originOf(reader, created, items),
    top === undefined ? undefined : top.then(async (found) => await countOf(reader, found)),
  ]);
  const fight = findFight(items, `${type.kind.toLowerCase()}/${name}${inNamespace(namespace)}`);
  return {
    subject: `${type.kind} ${namespace === "" ? name : `${namespace}/${name}`}`,
    ...present,
    obstacles: [...present.obstacles, ...fight],
    origin,
    count,
    recent: recentOf(items, created, type),
    remarks: remarksOf(reader, known),
  };
}

function groupOf({ apiVersion }: ResourceType): string {
  return apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "";
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
async function countOf(reader: ChangeReader, { object, type }: Subject): Promise<Explanation["count"]> {
  const { replicas } = (object as { readonly spec?: { readonly replicas?: number } }).spec ?? {};
  if (replicas === undefined) return undefined;
  const { name = "", namespace = "" } = object.metadata;
  const { items } = await reader.of({ group: groupOf(type), kind: type.kind, namespace, name });
  const change = items.findLast(({ fields = [] }) => fields.some(({ path }) => path === "spec.replicas"));
  if (change === undefined) return undefined;
  return { replicas, causes: chainTree(await causeChain(reader, change), []) };
}

/** The latest changes of metadata and spec, without the notes of controllers. */
function recentOf(
  items: readonly Change[],
  created: Change | undefined,
  type: ResourceType,
): readonly TreeNode[] {
  const isPod = type.kind === "Pod";
  const later = items.slice(created === undefined ? 0 : items.indexOf(created) + 1);
  const desired = later.filter(({ operation, fields, author }) => {
    if (operation === "Deleted") return true;
    // Components write mostly status; without the states their writes tell nothing.
    if (fields === undefined) return !isComponent(author);
    return !isPod && fields.some((field) => !field.path.startsWith("status") && !isBookkeeping(field));
  });
  return desired
    .slice(-RECENT_MAX)
    .toReversed()
    .map((change) => ({
      text: `${authorText(change.author)} ${deedText(change)}`,
      time: clockText(change.time),
      mark: `rev ${change.revision}`,
    }));
}

function remarksOf({ problem }: ChangeReader, known: KnownChanges): readonly string[] {
  if (problem !== undefined) return [problem];
  const { items, cut } = known;
  const remarks = [...unrecordedTexts(known)];
  if (!items.some(({ operation }) => operation === "Created")) {
    const remedy = cut?.includes("history") === true ? "; setpoint up --history keeps more" : "";
    const why = cut === undefined ? "it is not remembered" : cut;
    remarks.push(`its creation is not shown: ${why}${remedy}`);
  }
  return remarks;
}
