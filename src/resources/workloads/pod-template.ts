import { fieldPath } from "../../api/errors/field-error.ts";
import type { PodTemplate } from "../../api/generated/types/core-v1.ts";
import { podTemplateDefaults } from "../pod/pod-defaults.ts";
import { checkPodTemplate } from "../pod/pod-spec-rules.ts";
import { podWarnings } from "../pod/pod-warnings.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { isOldPodError } from "../rules/tolerated-errors.ts";
import { containerCells, labelsText } from "./workload-cells.ts";

export const podTemplate = defineKind<PodTemplate>("v1", "PodTemplate", {
  defaults: ({ template }) => podTemplateDefaults(template),

  validate: ({ template }, errors) => checkPodTemplate(template, { path: fieldPath("template") }, errors),

  tolerates: isOldPodError,

  warnings: ({ template }) => podWarnings(template, "template"),

  cells: ({ metadata, template }) => [
    metadata.name,
    ...containerCells(template.spec),
    labelsText(template.metadata.labels),
  ],
});
