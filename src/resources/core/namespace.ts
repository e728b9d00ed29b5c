/** Namespace: deleted only after its content. The finalizers for that are in its spec. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type { Namespace } from "../../api/generated/types/core-v1.ts";
import type { ObjectMeta } from "../../api/generated/types/meta-v1.ts";
import { dns1123Label, qualifiedName } from "../../api/values/names.ts";
import { draftCopy } from "../rules/draft-copy.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind, type Draft } from "../rules/kind-rules.ts";

const NAME_LABEL = "kubernetes.io/metadata.name";
const FINALIZER = "kubernetes";
const STANDARD_FINALIZERS = ["kubernetes", "orphan", "foregroundDeletion"];
const FINALIZERS = fieldPath("spec", "finalizers");

export const namespace = defineKind<Namespace>("v1", "Namespace", {
  isHeld: hasContent,
  markDeleted: markNamespaceTerminating,

  nameRule: dns1123Label,

  defaults: setNameLabel,

  prepareCreate(draft) {
    // Runs after defaulting, because only now a generated name is known.
    setNameLabel(draft);
    draft.status = { phase: "Active" };
    const finalizers = draft.spec.finalizers ?? [];
    if (!finalizers.includes(FINALIZER)) draft.spec.finalizers = [...finalizers, FINALIZER];
  },

  prepareUpdate(draft, previous) {
    draft.spec = draftCopy(previous.spec);
  },

  validate(it, errors) {
    for (const finalizer of it.spec.finalizers ?? []) checkFinalizer(finalizer, FINALIZERS, errors);
  },

  validateStatus(next, _previous, errors) {
    const { phase = "" } = next.status;
    const isDeleted = next.metadata.deletionTimestamp !== undefined;
    const expected = isDeleted ? "Terminating" : "Active";
    if (phase === expected) return;
    const state = isDeleted ? "not empty" : "empty";
    errors.invalid("status.Phase", phase, `may only be '${expected}' if \`deletionTimestamp\` is ${state}`);
  },

  fields: ({ status }) => ({ "status.phase": status.phase ?? "" }),

  cells: (it, now) => [it.metadata.name, it.status.phase ?? "", ageText(it, now)],
});

/** The finalize subresource changes `spec.finalizers`; the rest of spec and status stays. */
export function prepareNamespaceFinalize(draft: Draft<Namespace>, previous: Namespace): void {
  draft.status = draftCopy(previous.status);
}

export function validateNamespaceFinalize(next: Namespace, errors: FieldErrors): void {
  for (const [i, finalizer] of (next.spec.finalizers ?? []).entries()) {
    checkFinalizer(finalizer, FINALIZERS.index(i), errors);
  }
}

/** Runs on the first delete request, after the server has set the deletion time. */
function markNamespaceTerminating(draft: Draft<Namespace>): void {
  draft.status.phase = "Terminating";
}

/** True until the namespace controller has emptied the namespace and removed its finalizer. */
function hasContent({ spec }: Namespace): boolean {
  return (spec.finalizers ?? []).length > 0;
}

function setNameLabel({ metadata }: Draft<Namespace>): void {
  const name = nameOf(metadata);
  if (name !== "") metadata.labels = { ...metadata.labels, [NAME_LABEL]: name };
}

/** Empty before the server has generated the name. */
function nameOf({ name = "" }: ObjectMeta): string {
  return name;
}

function checkFinalizer(finalizer: string, path: FieldPath, errors: FieldErrors): void {
  errors.invalidFor(path, finalizer, qualifiedName(finalizer));
  if (finalizer.includes("/") || STANDARD_FINALIZERS.includes(finalizer)) return;
  errors.invalid(path, finalizer, "name is neither a standard finalizer name nor is it fully qualified");
}
