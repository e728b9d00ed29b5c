/**
 * Builds the volume claims of a StatefulSet's pods and plans their owners.
 *
 * Claims are created before their pod and never deleted by this controller. Owner references decide if a claim is deleted with the set or
 * with a scaled-down pod; the garbage collector deletes it.
 */
import type { ApiObject, Manifest } from "../../api/api-object.ts";
import type { StatefulSet } from "../../api/generated/types/apps-v1.ts";
import { Pod, type PersistentVolumeClaim } from "../../api/generated/types/core-v1.ts";
import type { OwnerReference } from "../../api/generated/types/meta-v1.ts";
import { groupOf, isOfType, ownerReferenceTo } from "../../runtime/refs/owner-reference.ts";
import { isInRange, ordinalOf } from "./set-pods.ts";

export function claimName(
  { metadata }: StatefulSet,
  { metadata: template }: PersistentVolumeClaim,
  ordinal: number,
): string {
  return `${template.name}-${metadata.name}-${String(ordinal)}`;
}

export function isClaimOf(claim: PersistentVolumeClaim, { metadata, spec }: StatefulSet): boolean {
  const prefixes = (spec.volumeClaimTemplates ?? []).map(
    (template) => `${template.metadata.name}-${metadata.name}-`,
  );
  const { name } = claim.metadata;
  return prefixes.some((prefix) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)));
}

export function newClaims(set: StatefulSet, ordinal: number): readonly Manifest<PersistentVolumeClaim>[] {
  const { volumeClaimTemplates = [], selector } = set.spec;
  const { namespace } = set.metadata;
  return volumeClaimTemplates.map((template) => {
    const { annotations, labels, finalizers } = template.metadata;
    const owners = wantedOwners(set, { ordinal, pod: undefined });
    return {
      metadata: {
        name: claimName(set, template, ordinal),
        ...(namespace !== undefined && { namespace }),
        labels: { ...labels, ...selector.matchLabels },
        ...(annotations !== undefined && { annotations }),
        ...(finalizers !== undefined && { finalizers }),
        ...(owners.length > 0 && { ownerReferences: owners }),
      },
      spec: template.spec,
    };
  });
}

/**
 * Wanted owners of a claim; undefined if unchanged. Owners other than the set and its pod stay. If one of them controls the claim, it
 * decides about the claim's deletion. A claim of an earlier set or pod of the same name is about to be deleted with it.
 */
export function planOwners(
  set: StatefulSet,
  pod: Pod,
  claim: PersistentVolumeClaim,
): readonly OwnerReference[] | undefined {
  const owners = claim.metadata.ownerReferences ?? [];
  if (owners.some((owner) => isNamesake(owner, set) || isNamesake(owner, pod))) return undefined;
  const others = owners.filter((owner) => !refersTo(owner, set) && !refersTo(owner, pod));
  const isForeign = others.some(({ controller }) => controller === true);
  const wanted = isForeign ? [] : wantedOwners(set, { ordinal: ordinalOf(pod, set) ?? 0, pod });
  const next = [...others, ...wanted];
  return haveSameUids(owners, next) ? undefined : next;
}

/** The claim belongs to an earlier pod of the same name and is about to be deleted. */
export function isStale({ metadata }: PersistentVolumeClaim, podName: string, podUid?: string): boolean {
  return (metadata.ownerReferences ?? []).some(
    (owner) => isOfType(owner, Pod) && owner.name === podName && owner.uid !== podUid,
  );
}

/** `pod` is undefined before its creation. */
function wantedOwners(
  set: StatefulSet,
  { ordinal, pod }: { readonly ordinal: number; readonly pod: Pod | undefined },
): readonly OwnerReference[] {
  const { whenDeleted, whenScaled } = set.spec.persistentVolumeClaimRetentionPolicy ?? {};
  const isScaledAway = !isInRange(ordinal, set);
  if (whenScaled === "Delete" && isScaledAway) return pod === undefined ? [] : [ownerReferenceTo(pod)];
  return whenDeleted === "Delete" ? [ownerReferenceTo(set)] : [];
}

function refersTo({ uid }: OwnerReference, { metadata }: ApiObject): boolean {
  return uid === metadata.uid;
}

/** Same kind and name, but another object. */
function isNamesake({ apiVersion, kind, name, uid }: OwnerReference, object: ApiObject): boolean {
  const isCalledSame = kind === object.kind && name === object.metadata.name;
  return isCalledSame && groupOf(apiVersion) === groupOf(object.apiVersion) && uid !== object.metadata.uid;
}

function haveSameUids(left: readonly OwnerReference[], right: readonly OwnerReference[]): boolean {
  return (
    left.length === right.length &&
    left.every((owner, at) => owner.uid === right[at]?.uid && owner.controller === right[at].controller)
  );
}
