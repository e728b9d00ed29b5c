import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import type {
  DaemonSet,
  DaemonSetUpdateStrategy,
  RollingUpdateDaemonSet,
} from "../../api/generated/types/apps-v1.ts";
import { podTemplateDefaults } from "../pod/pod-defaults.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind, type Draft } from "../rules/kind-rules.ts";
import { isOldPodError } from "../rules/tolerated-errors.ts";
import { checkAtMostAll, checkCounts, checkIntOrPercent, intOrPercentNumber } from "../rules/value-rules.ts";
import {
  updateTemplateGeneration,
  keepTemplateGeneration,
  startTemplateGeneration,
} from "./template-generation.ts";
import { containerCells, labelsText, selectorCell } from "./workload-cells.ts";
import { checkCollisionCount, checkWorkload, workloadWarnings } from "./workload-rules.ts";

export const daemonSet = defineKind<DaemonSet>("apps/v1", "DaemonSet", {
  defaults({ spec }) {
    strategyDefaults(spec.updateStrategy);
    spec.revisionHistoryLimit ??= 10;
    podTemplateDefaults(spec.template);
  },

  prepareCreate: startTemplateGeneration,
  prepareUpdate: updateTemplateGeneration,
  prepareStatus: keepTemplateGeneration,

  validate({ spec }, errors) {
    const words = { emptySelector: "empty selector is invalid for daemonset", deadlineOwner: "DaemonSet" };
    checkWorkload(spec, words, errors);
    checkCounts(spec, ["minReadySeconds", "revisionHistoryLimit"], { path: fieldPath("spec"), errors });
    checkStrategy(spec.updateStrategy, errors);
  },

  tolerates: isOldPodError,

  validateUpdate(next, previous, errors) {
    errors.immutable("spec.selector", next.spec.selector, previous.spec.selector);
  },

  validateStatus({ status }, previous, errors) {
    const names = [
      "currentNumberScheduled",
      "numberMisscheduled",
      "desiredNumberScheduled",
      "numberReady",
      "observedGeneration",
      "updatedNumberScheduled",
      "numberAvailable",
      "numberUnavailable",
      "collisionCount",
    ] as const;
    checkCounts(status, names, { path: fieldPath("status"), errors });
    checkCollisionCount(status, previous.status, errors);
  },

  warnings: workloadWarnings,

  cells(object, now) {
    const { spec, status } = object;
    return [
      object.metadata.name,
      status.desiredNumberScheduled,
      status.currentNumberScheduled,
      status.numberReady,
      status.updatedNumberScheduled ?? 0,
      status.numberAvailable ?? 0,
      labelsText(spec.template.spec.nodeSelector),
      ageText(object, now),
      ...containerCells(spec.template.spec),
      selectorCell(spec.selector),
    ];
  },
});

function strategyDefaults(strategy: Draft<DaemonSetUpdateStrategy>): void {
  strategy.type ??= "RollingUpdate";
  if (strategy.type !== "RollingUpdate") return;
  strategy.rollingUpdate ??= {};
  strategy.rollingUpdate.maxUnavailable ??= 1;
  strategy.rollingUpdate.maxSurge ??= 0;
}

function checkStrategy(strategy: DaemonSetUpdateStrategy, errors: FieldErrors): void {
  const path = fieldPath("spec", "updateStrategy");
  if (strategy.type === "OnDelete") return;
  if (strategy.type !== "RollingUpdate") {
    return errors.notSupported(path, strategy, ["RollingUpdate", "OnDelete"]);
  }
  if (strategy.rollingUpdate === undefined) return errors.required(path.child("rollingUpdate"));
  checkRollingUpdate(strategy.rollingUpdate, errors);
}

/**
 * While a pod is replaced, its node has either one pod more or one less. Exactly one of the two fields is
 * zero.
 */
function checkRollingUpdate(rolling: RollingUpdateDaemonSet, errors: FieldErrors): void {
  const path = fieldPath("spec", "updateStrategy", "rollingUpdate");
  for (const name of ["maxUnavailable", "maxSurge"] as const) {
    checkIntOrPercent(rolling[name], path.child(name), errors);
    checkAtMostAll(rolling[name], path.child(name), errors);
  }
  const hasUnavailable = intOrPercentNumber(rolling.maxUnavailable) !== 0;
  const hasSurge = intOrPercentNumber(rolling.maxSurge) !== 0;
  if (hasUnavailable && hasSurge) {
    errors.invalid(
      path.child("maxSurge"),
      rolling.maxSurge,
      "may not be set when maxUnavailable is non-zero",
    );
  } else if (!hasUnavailable && !hasSurge) {
    errors.required(path.child("maxUnavailable"), "cannot be 0 when maxSurge is 0");
  }
}
