/**
 * Finds the objects that belong to an owner: those it controls and that match its selector, and matching orphans,
 * which it adopts. Controlled objects that no longer match are released. The rules equal upstream's, with its checks
 * against stale data: before it adopts, it reads the owner from the server and compares the uid. Each write names the
 * uid of the object it means.
 */
import type { ApiObject } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import type { LabelSelector } from "../../api/generated/types/meta-v1.ts";
import { compileLabelSelector, labelsMatch } from "../../api/selectors/label-selector.ts";
import type { ResourceClient } from "../../client/client.ts";
import type { CacheView } from "../cache/cache-view.ts";
import { controllerOf, ownerReferenceTo } from "../refs/owner-reference.ts";

export interface ClaimParts<T extends ApiObject> {
  readonly owner: ApiObject;
  readonly selector: LabelSelector;
  /** Further condition that an object must meet, if given. */
  readonly accepts?: ((object: T) => boolean) | undefined;
  readonly cache: CacheView<T>;
  readonly client: ResourceClient<T>;
  /** Reads the owner from the server, not from a cache. */
  readonly readOwner: () => Promise<ApiObject | undefined>;
}

export type ClaimDecision = "owned" | "adopt" | "release" | "ignore";

/**
 * Returns the objects in the cache's order. It tries all adoptions and releases even when one fails, then throws the
 * errors.
 */
export async function claim<T extends ApiObject>(parts: ClaimParts<T>): Promise<readonly T[]> {
  const { owner, cache } = parts;
  const isChosen = selectorMatch(parts.selector, parts.accepts);
  const adoption = new Adoption(parts);
  const owned: T[] = [];
  const changes: Promise<T | undefined>[] = [];
  const decide = (object: T, isMatch: boolean): void => {
    const verdict = decideClaim(owner, object, isMatch);
    if (verdict === "adopt") changes.push(adoption.adopt(object));
    else if (verdict === "release") changes.push(release(parts, object));
  };
  // Large owners have many objects, and nearly all of them match: check those without judging.
  for (const object of cache.ownedBy(owner)) {
    if (isChosen(object)) owned.push(object);
    else decide(object, false);
  }
  for (const object of adoptable(parts)) decide(object, isChosen(object));
  // Most passes adopt and release nothing; they return without waiting.
  return changes.length === 0 ? owned : [...owned, ...(await adopted(changes))].toSorted(byPlace);
}

async function adopted<T>(changes: readonly Promise<T | undefined>[]): Promise<readonly T[]> {
  const results = await Promise.allSettled(changes);
  const errors = results.flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : []));
  if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors, "claims failed");
  return results.flatMap((each) => (each.status === "fulfilled" && each.value ? [each.value] : []));
}

/** Decides the fate of one object. All rules of claiming are here. */
export function decideClaim(owner: ApiObject, object: ApiObject, isMatch: boolean): ClaimDecision {
  const controller = controllerOf(object);
  const isOwnerGoing = owner.metadata.deletionTimestamp !== undefined;
  if (controller !== undefined) {
    if (controller.uid !== owner.metadata.uid) return "ignore";
    if (isMatch) return "owned";
    return isOwnerGoing ? "ignore" : "release";
  }
  const isGoing = object.metadata.deletionTimestamp !== undefined;
  const isElsewhere = (owner.metadata.namespace ?? "") !== (object.metadata.namespace ?? "");
  return !isMatch || isOwnerGoing || isGoing || isElsewhere ? "ignore" : "adopt";
}

/** Up to this many orphans are scanned; that is faster than a query by labels. */
const FEW = 64;

/** A superset of the objects that could be adopted. */
function adoptable<T extends ApiObject>({ owner, selector, cache }: ClaimParts<T>): readonly T[] {
  const { namespace = "" } = owner.metadata;
  const orphans = cache.uncontrolled(namespace);
  return orphans.length <= FEW ? orphans : cache.list({ namespace, labels: selector });
}

function selectorMatch<T extends ApiObject>(
  selector: LabelSelector,
  accepts: ((object: T) => boolean) | undefined,
): (object: T) => boolean {
  const compiled = compileLabelSelector(selector);
  if (accepts === undefined) return ({ metadata }) => labelsMatch(compiled, metadata.labels);
  return (object) => labelsMatch(compiled, object.metadata.labels) && accepts(object);
}

function byPlace(left: ApiObject, right: ApiObject): number {
  return (
    compare(left.metadata.namespace ?? "", right.metadata.namespace ?? "") ||
    compare(left.metadata.name ?? "", right.metadata.name ?? "")
  );
}

function compare(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}

class Adoption<T extends ApiObject> {
  readonly #parts: ClaimParts<T>;
  /** Check of the owner, made at most once and only before the first adoption. */
  #ownerCheck: Promise<void> | undefined;

  constructor(parts: ClaimParts<T>) {
    this.#parts = parts;
  }

  /** Undefined when the object is gone. */
  async adopt(object: T): Promise<T | undefined> {
    this.#ownerCheck ??= this.#checkOwner();
    await this.#ownerCheck;
    const { owner, client } = this.#parts;
    const reference = ownerReferenceTo(owner);
    try {
      return await patchOwners(client, object, {
        strategic: [reference],
        whole: [...(object.metadata.ownerReferences ?? []), reference],
      });
    } catch (error) {
      if (isApiError(error, "NotFound")) return undefined;
      throw error;
    }
  }

  async #checkOwner(): Promise<void> {
    const { owner, readOwner } = this.#parts;
    const { namespace = "", name = "", uid = "" } = owner.metadata;
    const fresh = await readOwner();
    const called = `${owner.kind} ${namespace}/${name}`;
    if (fresh?.metadata.uid !== uid)
      throw new Error(
        `nothing can be adopted: ${called} is gone: found uid ${fresh?.metadata.uid ?? "none"}, expected ${uid}`,
      );
    const { deletionTimestamp } = fresh.metadata;
    if (deletionTimestamp !== undefined)
      throw new Error(`nothing can be adopted: ${called} is being deleted since ${deletionTimestamp}`);
  }
}

/** Ignores errors that say the object or its reference is already gone. */
async function release<T extends ApiObject>({ owner, client }: ClaimParts<T>, object: T): Promise<undefined> {
  const { uid } = owner.metadata;
  try {
    await patchOwners(client, object, {
      strategic: [{ $patch: "delete", uid }],
      whole: (object.metadata.ownerReferences ?? []).filter((reference) => reference.uid !== uid),
    });
  } catch (error) {
    if (!isApiError(error, "NotFound") && !isApiError(error, "Invalid")) throw error;
  }
  return undefined;
}

interface OwnerChange {
  /** Change of one reference that leaves all others as they are. */
  readonly strategic: readonly unknown[];
  /** The whole list, for kinds without strategic merge patch. The resourceVersion guards it. */
  readonly whole: readonly unknown[];
}

async function patchOwners<T extends ApiObject>(
  client: ResourceClient<T>,
  object: T,
  { strategic, whole }: OwnerChange,
): Promise<T> {
  const { uid, resourceVersion } = object.metadata;
  try {
    const changes = { metadata: { uid, ownerReferences: strategic } };
    return await client.patch(object, { type: "strategic", changes });
  } catch (error) {
    if (!isApiError(error, "UnsupportedMediaType")) throw error;
  }
  const changes = { metadata: { uid, resourceVersion, ownerReferences: whole } };
  return await client.patch(object, { type: "merge", changes });
}
