import type { Change } from "../../api/causes/change.ts";
import { isApiError } from "../../api/errors/api-error.ts";
/** The state of an object now, its obstacles and those of the objects that it waits for. */
import { Service } from "../../api/generated/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import { objectState } from "../state/object-state.ts";
import { waitingDependents } from "../stuck/dependents.ts";
import { FactReader } from "../stuck/fact-reader.ts";
import { findObstacles } from "../stuck/find-obstacles.ts";
import { gatherSituation } from "../stuck/gather-situation.ts";
import { endpointsText } from "../stuck/service.ts";
import type { Finding, Subject } from "../stuck/situation.ts";
import { asKind } from "../stuck/situation.ts";
import { authorText, isDeletionMark } from "../text/change-text.ts";
import { durationText } from "../text/duration-text.ts";
import type { Explanation, Obstacle } from "./explanation.ts";

/** Objects of these kinds can have or be an obstacle while their own state is as desired. */
const BLOCKERS = new Set([
  "CronJob",
  "DaemonSet",
  "Ingress",
  "Job",
  "Node",
  "PodDisruptionBudget",
  "Service",
]);

export type Present = Pick<Explanation, "state" | "isSettled" | "obstacles">;

interface Asked {
  readonly subject: Subject;
  readonly top: Promise<Subject>;
}

export async function presentState(client: Client, { subject, top }: Asked, now: number): Promise<Present> {
  const { text, isSettled } = objectState(subject.object, now);
  if (isSettled && !BLOCKERS.has(subject.type.kind)) return { state: text, isSettled, obstacles: [] };
  const { obstacles, endpoints } = await obstaclesOf(client, { subject, top: await top }, now);
  const parts = [
    ...(text === "exists" && endpoints !== undefined ? [] : [text]),
    ...(endpoints === undefined ? [] : [endpoints]),
  ];
  return { state: parts.join(", "), isSettled, obstacles };
}

/** The last deletion that is remembered. */
export function goneState(items: readonly Change[], now: number): Present {
  const removal = items.findLast(({ operation }) => operation === "Deleted");
  const order = items.findLast(isDeletionMark) ?? removal;
  const { time } = removal ?? {};
  const ago = time === undefined ? "" : `, deleted ${durationText(now - Date.parse(time))} ago`;
  const by = order === undefined ? "" : ` by ${authorText(order.author)}`;
  return { state: `does not exist any more${ago}${by}`, isSettled: true, obstacles: [] };
}

interface Known {
  readonly subject: Subject;
  readonly top: Subject;
}

interface Found {
  readonly obstacles: readonly Obstacle[];
  /** For a Service. */
  readonly endpoints: string | undefined;
}

/** Obstacles of the object and of what it waits for; those of its dependents only once each. */
async function obstaclesOf(client: Client, { subject, top }: Known, now: number): Promise<Found> {
  const reader = new FactReader(client);
  const [own, dependents] = await Promise.all([
    gatherSituation(reader, { subject, top }, now),
    waitingDependents(reader, subject, now),
  ]);
  const isService = asKind(subject, Service) !== undefined;
  const below = await Promise.all(
    dependents.map(async (each) => {
      const eachTop = isService ? await topOf(client, each) : top;
      return await gatherSituation(reader, { subject: each, top: eachTop }, now);
    }),
  );
  const general: Obstacle[] = [];
  const found: Obstacle[] = [];
  for (const situation of [own, ...below]) {
    const of =
      situation === own ? undefined : `${situation.type.kind} ${situation.object.metadata.name ?? ""}`;
    const obstacles = findObstacles(situation);
    for (const finding of obstacles.found) addNew(found, { ...finding, of });
    if (obstacles.general !== undefined) general.push({ ...obstacles.general, of });
  }
  const { last } = findObstacles(own);
  if (last !== undefined) found.push({ ...last, of: undefined });
  const isWaiting = !objectState(subject.object, now).isSettled;
  // The condition of a pod tells more than that of its workload.
  const isEnough = found.length > 0 || !isWaiting;
  return { obstacles: isEnough ? found : general.slice(-1), endpoints: endpointsText(own) };
}

/** Adds a finding unless an earlier one differs from it only in numbers, as in the restarts of two pods. */
function addNew(found: Obstacle[], finding: Finding & Obstacle): void {
  const plain = ({ blockedBy }: Finding): string => blockedBy.replaceAll(/\d+/g, "#");
  if (!found.some((each) => plain(each) === plain(finding))) found.push(finding);
}

/** Levels of owners above a pod: ReplicaSet, Deployment, and one for operators. */
const LEVELS_MAX = 3;

/** The topmost owner that the user may read. */
export async function topOf(client: Client, subject: Subject, levels = LEVELS_MAX): Promise<Subject> {
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
