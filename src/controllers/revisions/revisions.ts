/**
 * Keeps the template history of StatefulSets and DaemonSets as ControllerRevisions, for old pods and for `kubectl rollout undo`.
 *
 * A revision's name follows from its template, so that a repeated creation finds the first one.
 */
import type { ApiObject, Manifest } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import { ControllerRevision } from "../../api/generated/types/apps-v1.ts";
import type { PodTemplateSpec } from "../../api/generated/types/core-v1.ts";
import type { LabelSelector } from "../../api/generated/types/meta-v1.ts";
import { isJsonObject } from "../../api/json/json-object.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { apiInteger } from "../../api/values/plain-number.ts";
import { templateHash } from "../../resources/workloads/template-hash.ts";
import type { ReconcileContext } from "../../runtime/controller/controller.ts";
import { isControlledBy, ownerReferenceTo } from "../../runtime/refs/owner-reference.ts";

/** Label of pods with the name or hash of their revision. */
export const REVISION_HASH = "controller-revision-hash";

/** Upper bound of name collisions; even two in a row are very unlikely. */
const TRIES_MAX = 100;

/** Largest int64: it has no successor. */
const REVISIONS_END = 2n ** 63n - 1n;

/** Object with a pod template and a revision history. */
export type Revised = ApiObject & {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly selector: LabelSelector; readonly template: PodTemplateSpec };
  readonly status: { readonly collisionCount?: number };
};

export interface Revisions {
  /** Oldest first. */
  readonly all: readonly ControllerRevision[];
  /** Revision of the current template. */
  readonly update: ControllerRevision;
  /** Incremented when another object had the new revision's name. */
  readonly collisionCount: number | undefined;
}

/** Adopts and releases revisions by selector, creates one for the current template if needed, and makes it the newest. */
export async function ensureRevisions(
  owner: Revised,
  hashLabel: string,
  context: ReconcileContext,
): Promise<Revisions> {
  const claimed = await context.claim(ControllerRevision, owner, owner.spec.selector);
  const all = claimed.toSorted(compareRevisions);
  const { collisionCount } = owner.status;
  const known = all.findLast((each) => jsonEqual(templateIn(each), owner.spec.template));
  if (known === undefined) return await createRevision(owner, { all, hashLabel, context });
  const newest = all.at(-1);
  const revision = nextRevision(newest);
  if (newest === known || known.revision === revision) return { all, update: known, collisionCount };
  // The owner returned to an earlier template.
  const update = await context.client(ControllerRevision).update({ ...known, revision });
  return { all: [...all.filter((each) => each !== known), update], update, collisionCount };
}

export function templateIn({ data }: ControllerRevision): PodTemplateSpec | undefined {
  const spec = isJsonObject(data) ? data["spec"] : undefined;
  const template = isJsonObject(spec) ? spec["template"] : undefined;
  if (!isJsonObject(template)) return undefined;
  const { $patch: _patch, ...rest } = template;
  return rest as PodTemplateSpec;
}

/** Oldest unused revisions beyond the limit. A negative limit deletes none. */
export function planHistory(
  all: readonly ControllerRevision[],
  { limit, isLive }: { readonly limit: number; readonly isLive: (revision: ControllerRevision) => boolean },
): readonly ControllerRevision[] {
  const old = all.filter((revision) => !isLive(revision));
  return limit < 0 ? [] : old.slice(0, Math.max(0, old.length - limit));
}

/** A revision that no longer exists counts as deleted. */
export async function deleteRevisions(
  revisions: readonly ControllerRevision[],
  context: ReconcileContext,
): Promise<void> {
  for (const revision of revisions) {
    try {
      await context.client(ControllerRevision).delete(revision);
    } catch (error) {
      if (!isApiError(error, "NotFound")) throw error;
    }
  }
}

/** API integers beyond 2^53 are bigints. After the largest number, it is used again. */
function nextRevision(newest: ControllerRevision | undefined): number {
  const next = newest === undefined ? 1n : BigInt(newest.revision) + 1n;
  if (next <= Number.MAX_SAFE_INTEGER) return Number(next);
  return apiInteger(next < REVISIONS_END ? next : REVISIONS_END);
}

/** Both may be bigints. */
function compareNumbers(left: number, right: number): number {
  return left < right ? -1 : Number(left > right);
}

function compareRevisions(left: ControllerRevision, right: ControllerRevision): number {
  return (
    compareNumbers(left.revision, right.revision) ||
    Date.parse(left.metadata.creationTimestamp) - Date.parse(right.metadata.creationTimestamp) ||
    (left.metadata.name < right.metadata.name ? -1 : 1)
  );
}

interface CreationParts {
  readonly all: readonly ControllerRevision[];
  readonly hashLabel: string;
  readonly context: ReconcileContext;
}

/** A name collision with another template changes the next name by a counter, which the owner's status keeps. */
async function createRevision(
  owner: Revised,
  { all, hashLabel, context }: CreationParts,
): Promise<Revisions> {
  const revision = nextRevision(all.at(-1));
  let collisions = owner.status.collisionCount;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const manifest = manifestOf(owner, { hashLabel, revision, collisions });
    const update = await createOrFind(owner, manifest, context);
    if (update !== undefined) return { all: [...all, update], update, collisionCount: collisions };
    collisions = (collisions ?? 0) + 1;
  }
  throw new Error(
    `no free name for a revision of ${owner.kind} ${owner.metadata.name} after ${TRIES_MAX} tries`,
  );
}

/** Undefined if another template has the name. */
async function createOrFind(
  owner: Revised,
  manifest: Manifest<ControllerRevision>,
  context: ReconcileContext,
): Promise<ControllerRevision | undefined> {
  const client = context.client(ControllerRevision);
  try {
    return await client.create(manifest);
  } catch (error) {
    if (!isApiError(error, "AlreadyExists")) throw error;
    const { namespace } = owner.metadata;
    const live = await client.find({ namespace, name: manifest.metadata?.name ?? "" });
    if (live === undefined) throw error;
    const isSame = isControlledBy(live, owner) && jsonEqual(templateIn(live), owner.spec.template);
    return isSame ? live : undefined;
  }
}

interface RevisionFacts {
  readonly hashLabel: string;
  readonly revision: number;
  readonly collisions: number | undefined;
}

function manifestOf(
  owner: Revised,
  { hashLabel, revision, collisions }: RevisionFacts,
): Manifest<ControllerRevision> {
  const { metadata, spec } = owner;
  const hash = templateHash(spec.template, collisions === 0 ? undefined : collisions);
  return {
    metadata: {
      name: `${metadata.name}-${hash}`,
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      labels: { ...spec.template.metadata.labels, [hashLabel]: hash },
      ...(metadata.annotations !== undefined && { annotations: metadata.annotations }),
      ownerReferences: [ownerReferenceTo(owner)],
    },
    revision,
    // Keys in the order of Go's maps: clients compare the bytes with their own template.
    data: { spec: { template: { $patch: "replace", ...spec.template } } },
  };
}
