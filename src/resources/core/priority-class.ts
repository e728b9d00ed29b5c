/** PriorityClass: the priority of pods by name. */

import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import type { PriorityClass } from "../../api/generated/types/scheduling-v1.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { checkRequiredChoice } from "../rules/value-rules.ts";

/** Upper bound for users' classes; larger values are the system's. */
const USER_MAX = 1_000_000_000;
const SYSTEM_PREFIX = "system-";
const SYSTEM_VALUES: ReadonlyMap<string, number> = new Map([
  ["system-cluster-critical", 2 * USER_MAX],
  ["system-node-critical", 2 * USER_MAX + 1000],
]);

export const priorityClass = defineKind<PriorityClass>("scheduling.k8s.io/v1", "PriorityClass", {
  defaults(draft) {
    draft.preemptionPolicy ??= "PreemptLowerPriority";
  },

  validate(it, errors) {
    checkValue(it, errors);
    const among = ["PreemptLowerPriority", "Never"];
    checkRequiredChoice({ path: fieldPath("preemptionPolicy"), value: it.preemptionPolicy, among }, errors);
  },

  validateUpdate(next, previous, errors) {
    if (next.value !== previous.value) errors.forbidden("value", "may not be changed in an update.");
    errors.immutable("preemptionPolicy", next.preemptionPolicy, previous.preemptionPolicy);
  },

  cells: (it, now) => [
    it.metadata.name,
    it.value,
    it.globalDefault ?? false,
    ageText(it, now),
    it.preemptionPolicy ?? "<unset>",
  ],
});

function checkValue(it: PriorityClass, errors: FieldErrors): void {
  const { name } = it.metadata;
  if (!name.startsWith(SYSTEM_PREFIX)) {
    if (it.value > USER_MAX) {
      errors.forbidden("value", `maximum allowed value of a user defined priority is ${USER_MAX}`);
    }
    return;
  }
  const problem = systemProblem(it);
  if (problem === undefined) return;
  const detail = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only. error: ${problem}`;
  errors.forbidden("metadata.name", detail);
}

function systemProblem({
  metadata: { name },
  value,
  globalDefault = false,
}: PriorityClass): string | undefined {
  const expected = SYSTEM_VALUES.get(name);
  if (expected === undefined) return `${name} is not a known system priority class`;
  if (value !== expected) return `value of ${name} PriorityClass must be ${expected}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}
