/**
 * Validates updates of a pod: only few fields may change. While scheduling gates hold the pod back, its node
 * selection may be narrowed.
 */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type {
  Affinity,
  Container,
  NodeAffinity,
  NodeSelectorTerm,
  Pod,
  PodSchedulingGate,
  PodSpec,
} from "../../api/generated/types/core-v1.ts";
import { draftCopy } from "../rules/draft-copy.ts";
import type { Draft } from "../rules/kind-rules.ts";
import { isSame, ownValue } from "../rules/value-rules.ts";
import { specDiff } from "./spec-diff.ts";
import { checkAddedTolerations } from "./toleration-rules.ts";

const INT32_MAX = 2 ** 31 - 1;
const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";

const UPDATABLE = [
  "`spec.containers[*].image`",
  "`spec.initContainers[*].image`",
  "`spec.activeDeadlineSeconds`",
  "`spec.tolerations` (only additions to existing tolerations)",
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
].join(",");

export function checkPodUpdate(next: Pod, previous: Pod, errors: FieldErrors): void {
  if (next.spec === previous.spec) return;
  const path = fieldPath("spec");
  if (!hasSameContainers({ next, previous, path }, errors)) return;
  if (!checkDeadlineUpdate(next.spec, previous.spec, errors)) return;
  const tolerations = { next: next.spec.tolerations ?? [], previous: previous.spec.tolerations ?? [] };
  checkAddedTolerations(tolerations, path.child("tolerations"), errors);
  checkGateRemoval(next.spec.schedulingGates ?? [], previous.spec.schedulingGates ?? [], errors);
  if (isSame(next.spec, previous.spec)) return;
  const isGated = (previous.spec.schedulingGates ?? []).length > 0;
  if (isGated) checkGatedUpdate(next.spec, previous.spec, errors);
  const comparable = withoutUpdatable(next.spec, previous.spec, isGated ? "gated" : "free");
  refuseOtherChanges(comparable, previous.spec, errors);
}

/** Compares specs in which mutable fields are already equal. */
function refuseOtherChanges(next: PodSpec, previous: PodSpec, errors: FieldErrors): void {
  if (isSame(next, previous)) return;
  const diff = specDiff("core.PodSpec", previous, next);
  const message = `pod updates may not change fields other than ${UPDATABLE}\n${diff}`;
  errors.forbidden(fieldPath("spec"), message);
}

interface PodChange {
  readonly next: Pod;
  readonly previous: Pod;
  readonly path: FieldPath;
}

function hasSameContainers({ next, previous, path }: PodChange, errors: FieldErrors): boolean {
  for (const list of ["containers", "initContainers"] as const) {
    const containers = next.spec[list] ?? [];
    if (containers.length !== (previous.spec[list] ?? []).length) {
      errors.forbidden(path.child(list), "pod updates may not add or remove containers");
      return false;
    }
  }
  return true;
}

/**
 * A deadline may be set or shortened, but not removed or extended. Returns whether later checks make sense.
 */
function checkDeadlineUpdate(next: PodSpec, previous: PodSpec, errors: FieldErrors): boolean {
  const path = fieldPath("spec", "activeDeadlineSeconds");
  const seconds = next.activeDeadlineSeconds;
  const before = previous.activeDeadlineSeconds;
  if (seconds === undefined) {
    if (before !== undefined)
      errors.invalid(path, null, "must not update from a positive integer to nil value");
    return true;
  }
  if (seconds < 0 || seconds > INT32_MAX) {
    errors.invalid(path, seconds, `must be between 0 and ${INT32_MAX}, inclusive`);
    return false;
  }
  if (before === undefined || before >= seconds) return true;
  errors.invalid(path, seconds, "must be less than or equal to previous value");
  return false;
}

function checkGateRemoval(
  next: readonly PodSchedulingGate[],
  previous: readonly PodSchedulingGate[],
  errors: FieldErrors,
): void {
  const known = new Set(previous.map(({ name }) => name));
  for (const [i, { name }] of next.entries()) {
    if (known.has(name)) continue;
    const at = fieldPath("spec", "schedulingGates").index(i).child("name");
    errors.forbidden(at, `only deletion is allowed, but found new scheduling gate '${name}'`);
  }
}

function checkGatedUpdate(next: PodSpec, previous: PodSpec, errors: FieldErrors): void {
  const selector = Object.entries(previous.nodeSelector ?? {});
  if (selector.some(([key, value]) => ownValue(next.nodeSelector, key) !== value)) {
    const problem = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
    errors.invalid(fieldPath("spec", "nodeSelector"), next.nodeSelector, problem);
  }
  checkNarrowedAffinity(next.affinity?.nodeAffinity, previous.affinity?.nodeAffinity, errors);
}

/** A term may gain requirements. A new term would let the pod run on more nodes. */
function checkNarrowedAffinity(
  next: NodeAffinity | undefined,
  previous: NodeAffinity | undefined,
  errors: FieldErrors,
): void {
  const before = previous?.[REQUIRED]?.nodeSelectorTerms ?? [];
  const terms = next?.[REQUIRED]?.nodeSelectorTerms ?? [];
  const path = fieldPath("spec", "affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms");
  if (before.length > 0 && before.length !== terms.length) {
    return errors.invalid(
      path,
      terms,
      "no additions/deletions to non-empty NodeSelectorTerms list are allowed",
    );
  }
  for (const [i, term] of before.entries()) {
    if (isNarrowed(terms[i] ?? {}, term)) continue;
    errors.invalid(path.index(i), terms[i], "only additions are allowed (no mutations or deletions)");
  }
}

function isNarrowed(next: NodeSelectorTerm, previous: NodeSelectorTerm): boolean {
  const lists = ["matchExpressions", "matchFields"] as const;
  // A term without requirements matches no node; a requirement would make it match some.
  if (lists.every((list) => (previous[list] ?? []).length === 0)) {
    return lists.every((list) => (next[list] ?? []).length === 0);
  }
  return lists.every((list) => {
    const before = previous[list] ?? [];
    return isSame((next[list] ?? []).slice(0, before.length), before);
  });
}

/** The new spec with the old values of mutable fields: every difference left is an error. */
function withoutUpdatable(next: PodSpec, previous: PodSpec, state: "gated" | "free"): PodSpec {
  const draft = draftCopy(next);
  const before = draftCopy(previous);
  restoreImages(draft.containers, before.containers);
  restoreImages(draft.initContainers ?? [], before.initContainers ?? []);
  restore(draft, before, ["activeDeadlineSeconds", "schedulingGates", "tolerations"]);
  if ((previous.terminationGracePeriodSeconds ?? 0) < 0 && next.terminationGracePeriodSeconds === 1) {
    restore(draft, before, ["terminationGracePeriodSeconds"]);
  }
  if (state === "free") return draft;
  restore(draft, before, ["nodeSelector"]);
  restoreNodeAffinity(draft, before);
  return draft;
}

function restoreImages(next: Draft<Container>[], previous: readonly Container[]): void {
  for (const [i, container] of next.entries()) {
    const image = previous[i]?.image;
    if (image === undefined) delete container.image;
    else container.image = image;
  }
}

function restore<T extends object>(draft: T, previous: T, fields: readonly (keyof T)[]): void {
  for (const field of fields) {
    if (previous[field] === undefined) delete draft[field];
    else draft[field] = previous[field];
  }
}

function restoreNodeAffinity(draft: Draft<PodSpec>, previous: Draft<PodSpec>): void {
  const affinity: Draft<Affinity> = { ...draft.affinity };
  restore(affinity, { ...previous.affinity }, ["nodeAffinity"]);
  if (previous.affinity === undefined && Object.keys(affinity).length === 0) delete draft.affinity;
  else draft.affinity = affinity;
}
