import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import type { ReplicationController, ReplicationControllerSpec } from "../../api/generated/types/core-v1.ts";
import { podTemplateDefaults } from "../pod/pod-defaults.ts";
import { checkPodTemplate } from "../pod/pod-spec-rules.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { isOldPodError } from "../rules/tolerated-errors.ts";
import { checkCounts } from "../rules/value-rules.ts";
import { checkReplicaStatus } from "./replica-set.ts";
import { containerCells, labelsText, selectorText } from "./workload-cells.ts";
import { checkRunsForEver, checkSelected, workloadWarnings } from "./workload-rules.ts";

export const replicationController = defineKind<ReplicationController>("v1", "ReplicationController", {
  defaults({ metadata, spec }) {
    spec.replicas ??= 1;
    if (spec.template === undefined) return;
    podTemplateDefaults(spec.template);
    const { labels } = spec.template.metadata;
    if (labels === undefined) return;
    spec.selector ??= { ...labels };
    metadata.labels ??= { ...labels };
  },

  validate({ spec }, errors) {
    const path = fieldPath("spec");
    checkCounts(spec, ["minReadySeconds"], { path, errors });
    if (Object.keys(spec.selector ?? {}).length === 0) errors.required(path.child("selector"));
    checkCounts(spec, ["replicas"], { path, errors });
    checkTemplate(spec, errors);
  },

  tolerates: isOldPodError,
  keepsDependents: true,

  validateStatus: ({ status }, _previous, errors) => checkReplicaStatus(status, errors),

  warnings: workloadWarnings,

  fields: ({ status }) => ({ "status.replicas": String(status.replicas) }),

  cells(object, now) {
    const { spec, status } = object;
    return [
      object.metadata.name,
      spec.replicas ?? 0,
      status.replicas,
      status.readyReplicas ?? 0,
      ageText(object, now),
      ...containerCells(spec.template?.spec),
      labelsText(spec.selector),
    ];
  },

  scale: {
    replicas: ({ spec }) => spec.replicas ?? 0,
    statusReplicas: ({ status }) => status.replicas,
    selector: ({ spec }) => selectorText({ matchLabels: spec.selector ?? {} }),
    setReplicas: ({ spec }, replicas) => {
      spec.replicas = replicas;
    },
  },
});

function checkTemplate({ selector, template }: ReplicationControllerSpec, errors: FieldErrors): void {
  const path = fieldPath("spec", "template");
  if (template === undefined) return errors.required(path);
  if (selector !== undefined) checkSelected({ selector: { matchLabels: selector }, template }, path, errors);
  checkPodTemplate(template, { path }, errors);
  checkRunsForEver(template, { path, owner: "ReplicationController" }, errors);
}
