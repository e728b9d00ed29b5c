import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import type { ReplicaSet } from "../../api/generated/types/apps-v1.ts";
import { podTemplateDefaults } from "../pod/pod-defaults.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { isOldPodError } from "../rules/tolerated-errors.ts";
import { checkCounts } from "../rules/value-rules.ts";
import { containerCells, selectorCell, selectorText } from "./workload-cells.ts";
import { checkWorkload, workloadWarnings } from "./workload-rules.ts";

export const replicaSet = defineKind<ReplicaSet>("apps/v1", "ReplicaSet", {
  defaults({ spec }) {
    spec.replicas ??= 1;
    podTemplateDefaults(spec.template);
  },

  validate({ spec }, errors) {
    checkCounts(spec, ["replicas", "minReadySeconds"], { path: fieldPath("spec"), errors });
    // Upstream's text says `deployment` for ReplicaSets too.
    const words = { emptySelector: "empty selector is invalid for deployment", deadlineOwner: "ReplicaSet" };
    checkWorkload(spec, words, errors);
  },

  tolerates: isOldPodError,

  validateUpdate(next, previous, errors) {
    errors.immutable("spec.selector", next.spec.selector, previous.spec.selector);
  },

  validateStatus: ({ status }, _previous, errors) => checkReplicaStatus(status, errors),

  warnings: workloadWarnings,

  cells(object, now) {
    const { spec, status } = object;
    return [
      object.metadata.name,
      spec.replicas ?? 0,
      status.replicas,
      status.readyReplicas ?? 0,
      ageText(object, now),
      ...containerCells(spec.template.spec),
      selectorCell(spec.selector),
    ];
  },

  scale: {
    replicas: ({ spec }) => spec.replicas ?? 0,
    statusReplicas: ({ status }) => status.replicas,
    selector: ({ spec }) => selectorText(spec.selector),
    setReplicas: ({ spec }, replicas) => {
      spec.replicas = replicas;
    },
  },
});

export interface ReplicaStatus {
  readonly replicas: number;
  readonly fullyLabeledReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly terminatingReplicas?: number;
  readonly observedGeneration?: number;
}

/** Shared with ReplicationController. */
export function checkReplicaStatus(status: ReplicaStatus, errors: FieldErrors): void {
  const path = fieldPath("status");
  const parts = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"] as const;
  checkCounts(status, ["replicas", ...parts, "terminatingReplicas", "observedGeneration"], { path, errors });
  for (const name of parts) {
    const count = status[name] ?? 0;
    if (count > status.replicas)
      errors.invalid(path.child(name), count, "cannot be greater than status.replicas");
  }
  const { availableReplicas = 0, readyReplicas = 0 } = status;
  if (availableReplicas > readyReplicas) {
    errors.invalid(
      path.child("availableReplicas"),
      availableReplicas,
      "cannot be greater than readyReplicas",
    );
  }
}
