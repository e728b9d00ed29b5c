/** Workload: groups of pods that the scheduler places together. */

import { fieldPath } from "../../api/errors/field-error.ts";
import type { FieldErrors } from "../../api/errors/field-error.ts";
import type {
  PodGroupTemplate,
  TypedLocalObjectReference,
  Workload,
} from "../../api/generated/types/scheduling-v1alpha2.ts";
import { dns1123Label, dns1123Subdomain, pathSegmentName } from "../../api/values/names.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { addNew } from "../rules/value-rules.ts";
import { checkGroup, checkName } from "./group-rules.ts";

const CONTROLLER = fieldPath("spec", "controllerRef");
const TEMPLATES = fieldPath("spec", "podGroupTemplates");
const TEMPLATES_MAX = 8;

export const workload = defineKind<Workload>("scheduling.k8s.io/v1alpha2", "Workload", {
  validateCreate({ spec: { controllerRef, podGroupTemplates } }, errors) {
    if (controllerRef !== undefined) checkController(controllerRef, errors);
    if (podGroupTemplates.length === 0) errors.required(TEMPLATES);
    else if (podGroupTemplates.length > TEMPLATES_MAX)
      errors.tooMany(TEMPLATES, podGroupTemplates.length, TEMPLATES_MAX);
    else checkTemplates(podGroupTemplates, errors);
  },

  validateUpdate({ spec }, previous, errors) {
    errors.immutable(CONTROLLER, spec.controllerRef, previous.spec.controllerRef);
    errors.immutable(TEMPLATES, spec.podGroupTemplates, previous.spec.podGroupTemplates);
  },

  cells: (it, now) => [it.metadata.name, ageText(it, now)],
});

function checkController(
  { apiGroup = "", kind, name }: TypedLocalObjectReference,
  errors: FieldErrors,
): void {
  if (apiGroup !== "") errors.invalidFor(CONTROLLER.child("apiGroup"), apiGroup, dns1123Subdomain(apiGroup));
  checkName(kind, { path: CONTROLLER.child("kind"), rule: pathSegmentName }, errors);
  checkName(name, { path: CONTROLLER.child("name"), rule: pathSegmentName }, errors);
}

function checkTemplates(templates: readonly PodGroupTemplate[], errors: FieldErrors): void {
  const names = new Set<string>();
  for (const [i, template] of templates.entries()) {
    const at = TEMPLATES.index(i);
    if (!addNew(names, template.name)) errors.duplicate(at, template);
    checkName(template.name, { path: at.child("name"), rule: dns1123Label }, errors);
    checkGroup(template, at, errors);
  }
}
