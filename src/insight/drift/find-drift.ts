/** Finds objects whose observed state differs from the desired one. */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import { Event } from "../../api/generated/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import { objectState } from "../state/object-state.ts";

export interface Drift {
  /** `Deployment default/web`. */
  readonly object: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly state: string;
  /** Milliseconds since the epoch; undefined when the object does not tell. */
  readonly since: number | undefined;
  /** Objects below it that differ too. */
  readonly dependents: number;
  /** The newest Event about it: what its loop last said. */
  readonly lastSaid: { readonly text: string; readonly at: number } | undefined;
}

export interface DriftOptions {
  /** Undefined for all namespaces. */
  readonly namespace: string | undefined;
  readonly now: number;
}

/** Bounds of the answer: a cluster that differs everywhere needs no complete list. */
const DRIFTS_MAX = 1000;
const EVENTS_MAX = 5000;
const PAGE = 500;

interface Differing {
  readonly object: ApiObject;
  readonly type: ResourceType;
  readonly state: string;
  readonly since: number | undefined;
}

/** The oldest first. Objects owned by another one that differs are counted there. */
export async function findDrift(
  client: Client,
  types: readonly ResourceType[],
  { namespace, now }: DriftOptions,
): Promise<readonly Drift[]> {
  const differing = (
    await Promise.all(types.map(async (type) => await differingOf(client, type, { namespace, now })))
  ).flat();
  if (differing.length === 0) return [];
  const said = await lastWords(client, namespace);
  const byUid = new Map(differing.map((each) => [each.object.metadata.uid ?? "", each]));
  const below = new Map<string, number>();
  const roots: Differing[] = [];
  for (const each of differing) {
    const root = rootOf(each, byUid);
    if (root === each) roots.push(each);
    else below.set(uidOf(root), (below.get(uidOf(root)) ?? 0) + 1);
  }
  return roots
    .map((each) =>
      driftOf(each, { dependents: below.get(uidOf(each)) ?? 0, lastSaid: said.get(uidOf(each)) }),
    )
    .toSorted((a, b) => (a.since ?? Infinity) - (b.since ?? Infinity));
}

function uidOf({ object }: Differing): string {
  return object.metadata.uid ?? "";
}

/** The topmost owner that differs; owners never form a circle of more than these levels. */
function rootOf(start: Differing, byUid: ReadonlyMap<string, Differing>): Differing {
  let root = start;
  for (let level = 0; level < 5; level++) {
    const owner = root.object.metadata.ownerReferences?.find(({ controller }) => controller === true);
    const above = owner === undefined ? undefined : byUid.get(owner.uid);
    if (above === undefined || above === start) return root;
    root = above;
  }
  return root;
}

/** Reasons of a kind that the user may not read, or that is not served any more. */
const UNREADABLE = ["Forbidden", "NotFound", "MethodNotAllowed"] as const;

async function differingOf(
  client: Client,
  type: ResourceType,
  options: DriftOptions,
): Promise<readonly Differing[]> {
  const { namespace, now } = options;
  if (!type.namespaced && namespace !== undefined) return [];
  const place = namespace === undefined ? {} : { namespace };
  const found: Differing[] = [];
  try {
    for await (const { items } of client(type).pages({ ...place, limit: PAGE })) {
      found.push(...items.flatMap((object) => findDifference({ object, type }, now)));
      if (found.length >= DRIFTS_MAX) break;
    }
  } catch (error) {
    if (!UNREADABLE.some((reason) => isApiError(error, reason))) throw error;
  }
  return found;
}

function findDifference(
  { object, type }: Pick<Differing, "object" | "type">,
  now: number,
): readonly Differing[] {
  const { text, isSettled, since } = objectState(object, now);
  return isSettled ? [] : [{ object, type, state: text, since }];
}

/** Newest Event by the uid of its object. */
async function lastWords(
  client: Client,
  namespace: string | undefined,
): Promise<ReadonlyMap<string, NonNullable<Drift["lastSaid"]>>> {
  const words = new Map<string, NonNullable<Drift["lastSaid"]>>();
  const options = { limit: EVENTS_MAX, ...(namespace !== undefined && { namespace }) };
  const { items } = await client(Event).list(options);
  for (const { involvedObject, reason = "", message = "", lastTimestamp, eventTime, metadata } of items) {
    const at = Date.parse(lastTimestamp ?? eventTime ?? metadata.creationTimestamp);
    const { uid = "" } = involvedObject;
    const known = words.get(uid);
    if (known === undefined || at >= known.at) words.set(uid, { text: `${reason}: ${message}`, at });
  }
  return words;
}

function driftOf(
  { object, type, state, since }: Differing,
  more: Pick<Drift, "dependents" | "lastSaid">,
): Drift {
  const { name = "", namespace = "" } = object.metadata;
  const place = namespace === "" ? name : `${namespace}/${name}`;
  return { object: `${type.kind} ${place}`, kind: type.kind, namespace, name, state, since, ...more };
}
