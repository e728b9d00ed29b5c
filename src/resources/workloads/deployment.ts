import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import type {
  Deployment,
  DeploymentSpec,
  DeploymentStatus,
  DeploymentStrategy,
  RollingUpdateDeployment,
} from "../../api/generated/types/apps-v1.ts";
import { podTemplateDefaults } from "../pod/pod-defaults.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind, type Draft } from "../rules/kind-rules.ts";
import { isOldPodError } from "../rules/tolerated-errors.ts";
import {
  checkAtMostAll,
  checkCounts,
  checkIntOrPercent,
  intOrPercentNumber,
  isSame,
} from "../rules/value-rules.ts";
import { containerCells, selectorCell, selectorText } from "./workload-cells.ts";
import { checkCollisionCount, checkWorkload, workloadWarnings } from "./workload-rules.ts";

export const deployment = defineKind<Deployment>("apps/v1", "Deployment", {
  defaults({ spec }) {
    spec.replicas ??= 1;
    spec.revisionHistoryLimit ??= 10;
    spec.progressDeadlineSeconds ??= 600;
    strategyDefaults(spec.strategy);
    podTemplateDefaults(spec.template);
  },

  validate({ spec }, errors) {
    const at = { path: fieldPath("spec"), errors };
    checkCounts(spec, ["replicas"], at);
    const words = { emptySelector: "empty selector is invalid for deployment", deadlineOwner: "ReplicaSet" };
    checkWorkload(spec, words, errors);
    checkStrategy(spec.strategy, errors);
    checkCounts(spec, ["minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"], at);
    checkDeadline(spec, errors);
  },

  tolerates: isOldPodError,

  validateUpdate(next, previous, errors) {
    errors.immutable("spec.selector", next.spec.selector, previous.spec.selector);
  },

  statusKeeps: ["labels"],
  validateStatus(next, previous, errors) {
    checkStatus(next.status, errors);
    checkCollisionCount(next.status, previous.status, errors);
  },

  warnings: workloadWarnings,

  /** The controller copies annotations to the ReplicaSets. */
  isNewGeneration: (next, previous) => !isSame(next.metadata.annotations, previous.metadata.annotations),

  cells(object, now) {
    const { spec, status } = object;
    return [
      object.metadata.name,
      `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
      status.updatedReplicas ?? 0,
      status.availableReplicas ?? 0,
      ageText(object, now),
      ...containerCells(spec.template.spec),
      selectorCell(spec.selector),
    ];
  },

  scale: {
    replicas: ({ spec }) => spec.replicas ?? 0,
    statusReplicas: ({ status }) => status.replicas ?? 0,
    selector: ({ spec }) => selectorText(spec.selector),
    setReplicas: ({ spec }, replicas) => {
      spec.replicas = replicas;
    },
  },
});

function strategyDefaults(strategy: Draft<DeploymentStrategy>): void {
  strategy.type ??= "RollingUpdate";
  if (strategy.type !== "RollingUpdate") return;
  strategy.rollingUpdate ??= {};
  strategy.rollingUpdate.maxUnavailable ??= "25%";
  strategy.rollingUpdate.maxSurge ??= "25%";
}

function checkStrategy(strategy: DeploymentStrategy, errors: FieldErrors): void {
  const path = fieldPath("spec", "strategy");
  const rolling = path.child("rollingUpdate");
  switch (strategy.type) {
    case undefined:
      errors.required(path.child("type"));
      return;
    case "Recreate":
      if (strategy.rollingUpdate === undefined) return;
      errors.forbidden(rolling, "may not be specified when strategy `type` is 'Recreate'");
      return;
    case "RollingUpdate":
      checkRollingUpdate(strategy.rollingUpdate ?? {}, errors);
      return;
    default:
      errors.notSupported(path, strategy, ["Recreate", "RollingUpdate"]);
  }
}

function checkRollingUpdate(
  { maxUnavailable, maxSurge }: RollingUpdateDeployment,
  errors: FieldErrors,
): void {
  const path = fieldPath("spec", "strategy", "rollingUpdate");
  checkIntOrPercent(maxUnavailable, path.child("maxUnavailable"), errors);
  checkIntOrPercent(maxSurge, path.child("maxSurge"), errors);
  if (intOrPercentNumber(maxUnavailable) === 0 && intOrPercentNumber(maxSurge) === 0) {
    errors.invalid(path.child("maxUnavailable"), maxUnavailable, "may not be 0 when `maxSurge` is 0");
  }
  checkAtMostAll(maxUnavailable, path.child("maxUnavailable"), errors);
}

/** A pod must be able to become available before the deadline for progress. */
function checkDeadline(
  { progressDeadlineSeconds, minReadySeconds = 0 }: DeploymentSpec,
  errors: FieldErrors,
): void {
  if (progressDeadlineSeconds === undefined || progressDeadlineSeconds > minReadySeconds) return;
  const path = fieldPath("spec", "progressDeadlineSeconds");
  errors.invalid(path, progressDeadlineSeconds, "must be greater than minReadySeconds");
}

function checkStatus(status: DeploymentStatus, errors: FieldErrors): void {
  const path = fieldPath("status");
  const names = [
    "observedGeneration",
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "terminatingReplicas",
    "collisionCount",
  ] as const;
  checkCounts(status, names, { path, errors });
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  for (const name of ["updatedReplicas", "readyReplicas", "availableReplicas"] as const) {
    const count = status[name] ?? 0;
    if (count > replicas) errors.invalid(path.child(name), count, "cannot be greater than status.replicas");
  }
  if (availableReplicas > readyReplicas) {
    errors.invalid(
      path.child("availableReplicas"),
      availableReplicas,
      "cannot be greater than readyReplicas",
    );
  }
}
