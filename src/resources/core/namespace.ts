/** Namespace, which lives on while it is emptied: its own finalizers are in its spec. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type { Namespace } from "../../api/generated/types/core-v1.ts";
import type { ObjectMeta } from "../../api/generated/types/meta-v1.ts";
import { dns1123Label, qualifiedName } from "../../api/values/names.ts";
import { draftCopy } from "../rules/draft-copy.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind, type Draft } from "../rules/kind-rules.ts";

const NAME_LABEL = "kubernetes.io/metadata.name";
const KEEPER = "kubernetes";
const STANDARD_FINALIZERS = ["kubernetes", "orphan", "foregroundDeletion"];
const FINALIZERS = fieldPath("spec", "finalizers");

export const namespace = defineKind<Namespace>("v1", "Namespace", {
  isHeld: hasContent,
  markDeleted: markNamespaceTerminating,

  nameRule: dns1123Label,

  defaults: setNameLabel,

  prepareCreate(draft) {
    // A generated name was not known to the defaults.
    setNameLabel(draft);
    draft.status = { phase: "Active" };
    const finalizers = draft.spec.finalizers ?? [];
    if (!finalizers.includes(KEEPER)) draft.spec.finalizers = [...finalizers, KEEPER];
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

/** The finalize subresource changes `spec.finalizers` and nothing else of spec and status. */
export function prepareNamespaceFinalize(draft: Draft<Namespace>, previous: Namespace): void {
  draft.status = draftCopy(previous.status);
}

export function validateNamespaceFinalize(next: Namespace, errors: FieldErrors): void {
  for (const [i, finalizer] of (next.spec.finalizers ?? []).entries()) {
    checkFinalizer(finalizer, FINALIZERS.index(i), errors);
  }
}

/** The first request to delete a namespace only marks it; the server has set the deletion time. */
function markNamespaceTerminating(draft: Draft<Namespace>): void {
  draft.status.phase = "Terminating";
}

/** What is in the namespace goes first: whoever sees to that takes the finalizer off. */
function hasContent({ spec }: Namespace): boolean {
  return (spec.finalizers ?? []).length > 0;
}

function setNameLabel({ metadata }: Draft<Namespace>): void {
  const name = nameOf(metadata);
  if (name !== "") metadata.labels = { ...metadata.labels, [NAME_LABEL]: name };
}

/** Before one is generated there may be none. */
function nameOf({ name = "" }: ObjectMeta): string {
  return name;
}

function checkFinalizer(finalizer: string, path: FieldPath, errors: FieldErrors): void {
  errors.invalidFor(path, finalizer, qualifiedName(finalizer));
  if (finalizer.includes("/") || STANDARD_FINALIZERS.includes(finalizer)) return;
  errors.invalid(path, finalizer, "name is neither a standard finalizer name nor is it fully qualified");
}
