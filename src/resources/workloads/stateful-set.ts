import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type { StatefulSet, StatefulSetSpec, StatefulSetStatus } from "../../api/generated/types/apps-v1.ts";
import type { PersistentVolumeClaim, Volume } from "../../api/generated/types/core-v1.ts";
import { dns1123Label } from "../../api/values/names.ts";
import { podTemplateDefaults } from "../pod/pod-defaults.ts";
import { checkClaimSpec } from "../pod/volume/claim-rules.ts";
import { claimWarnings } from "../pod/volume/volume-warnings.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind, type Draft } from "../rules/kind-rules.ts";
import { isOldPodError } from "../rules/tolerated-errors.ts";
import {
  checkAtMostAll,
  checkChoice,
  checkCounts,
  checkIntOrPercent,
  intOrPercentNumber,
  isSame,
} from "../rules/value-rules.ts";
import { containerCells, selectorText } from "./workload-cells.ts";
import { checkCollisionCount, checkWorkload, workloadWarnings } from "./workload-rules.ts";

/** Mutable fields. Changes of other fields would need other pods or volumes than the existing ones. */
const UPDATABLE = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
] as const;

const HISTORY_WARNING =
  "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended";

export const statefulSet = defineKind<StatefulSet>("apps/v1", "StatefulSet", {
  // Pod names begin with the set's name, and they are host names.
  nameRule: dns1123Label,

  defaults({ spec }) {
    spec.podManagementPolicy ??= "OrderedReady";
    spec.replicas ??= 1;
    spec.revisionHistoryLimit ??= 10;
    strategyDefaults(spec);
    spec.persistentVolumeClaimRetentionPolicy ??= {};
    spec.persistentVolumeClaimRetentionPolicy.whenDeleted ??= "Retain";
    spec.persistentVolumeClaimRetentionPolicy.whenScaled ??= "Retain";
    podTemplateDefaults(spec.template);
    for (const claim of spec.volumeClaimTemplates ?? []) claimDefaults(claim);
  },

  validate({ spec }, errors) {
    const path = fieldPath("spec");
    checkPolicies(spec, path, errors);
    checkCounts(spec, ["replicas", "minReadySeconds"], { path, errors });
    if (spec.ordinals !== undefined)
      checkCounts(spec.ordinals, ["start"], { path: path.child("ordinals"), errors });
    const { serviceName } = spec;
    if (serviceName !== "")
      errors.invalidFor(path.child("serviceName"), serviceName, dns1123Label(serviceName));
    const claims = spec.volumeClaimTemplates ?? [];
    const workload = {
      emptySelector: "empty selector is invalid for statefulset",
      deadlineOwner: "StatefulSet",
      addedVolumes: claims.map(claimedVolume),
    };
    checkWorkload(spec, workload, errors);
    for (const [i, claim] of claims.entries()) {
      checkClaimSpec(claim.spec, path.child("volumeClaimTemplates").index(i).child("spec"), errors);
    }
  },

  tolerates: isOldPodError,

  validateUpdate(next, previous, errors) {
    if (isSame(withoutUpdatable(next.spec), withoutUpdatable(previous.spec))) return;
    const names = UPDATABLE.map((name) => `'${name}'`);
    const listed = `${names.slice(0, -1).join(", ")} and ${names.slice(-1).join("")}`;
    errors.forbidden("spec", `updates to statefulset spec for fields other than ${listed} are forbidden`);
  },

  validateStatus(next, previous, errors) {
    checkStatus(next.status, errors);
    checkCollisionCount(next.status, previous.status, errors);
  },

  warnings(object, previous) {
    const { volumeClaimTemplates = [], revisionHistoryLimit = 0 } = object.spec;
    const claims = fieldPath("spec", "volumeClaimTemplates");
    return [
      ...workloadWarnings(object, previous),
      ...volumeClaimTemplates.flatMap(({ spec }, i) =>
        // Upstream's path differs between create and update.
        claimWarnings(spec, previous === undefined ? claims.index(i) : claims.index(i).child("Spec")),
      ),
      ...(revisionHistoryLimit < 0 ? [HISTORY_WARNING] : []),
    ];
  },

  cells(object, now) {
    const { spec, status } = object;
    return [
      object.metadata.name,
      `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
      ageText(object, now),
      ...containerCells(spec.template.spec),
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

function strategyDefaults({ updateStrategy }: Draft<StatefulSetSpec>): void {
  updateStrategy.type ??= "RollingUpdate";
  if (updateStrategy.type !== "RollingUpdate") return;
  updateStrategy.rollingUpdate ??= {};
  updateStrategy.rollingUpdate.partition ??= 0;
}

/** Claim templates have apiVersion and kind, as objects do. */
function claimDefaults(claim: Draft<PersistentVolumeClaim>): void {
  claim.apiVersion = "v1";
  claim.kind = "PersistentVolumeClaim";
  claim.spec.volumeMode ??= "Filesystem";
  claim.status.phase ??= "Pending";
}

/** The pod refers to the claim by the template's name. */
function claimedVolume({ metadata }: PersistentVolumeClaim): Volume {
  return { name: metadata.name, persistentVolumeClaim: { claimName: metadata.name } };
}

function withoutUpdatable(spec: StatefulSetSpec): unknown {
  const names: readonly string[] = UPDATABLE;
  return Object.fromEntries(Object.entries(spec).filter(([name]) => !names.includes(name)));
}

function checkPolicies(spec: StatefulSetSpec, path: FieldPath, errors: FieldErrors): void {
  const management: string = spec.podManagementPolicy ?? "";
  const at = path.child("podManagementPolicy");
  if (management === "") errors.required(at);
  else if (management !== "OrderedReady" && management !== "Parallel") {
    errors.invalid(at, management, "must be 'OrderedReady' or 'Parallel'");
  }
  checkStrategy(spec, path.child("updateStrategy"), errors);
  const { whenDeleted, whenScaled } = spec.persistentVolumeClaimRetentionPolicy ?? {};
  const retention = path.child("persistentVolumeClaimRetentionPolicy");
  const among = ["Retain", "Delete"];
  checkChoice({ path: retention.child("whenDeleted"), value: whenDeleted, among }, errors);
  checkChoice({ path: retention.child("whenScaled"), value: whenScaled, among }, errors);
}

function checkStrategy({ updateStrategy }: StatefulSetSpec, path: FieldPath, errors: FieldErrors): void {
  const { type, rollingUpdate } = updateStrategy;
  const rolling = path.child("rollingUpdate");
  switch (type) {
    case undefined:
      return errors.required(path);
    case "OnDelete":
      if (rollingUpdate === undefined) return;
      return errors.invalid(rolling, rollingUpdate, "only allowed for updateStrategy 'RollingUpdate'");
    case "RollingUpdate":
      return checkRollingUpdate(updateStrategy, rolling, errors);
    default:
      errors.invalid(path, updateStrategy, "must be 'RollingUpdate' or 'OnDelete'");
  }
}

function checkRollingUpdate(
  { rollingUpdate = {} }: StatefulSetSpec["updateStrategy"],
  path: FieldPath,
  errors: FieldErrors,
): void {
  checkCounts(rollingUpdate, ["partition"], { path, errors });
  const { maxUnavailable } = rollingUpdate;
  if (maxUnavailable === undefined) return;
  const at = path.child("maxUnavailable");
  checkIntOrPercent(maxUnavailable, at, errors);
  if (intOrPercentNumber(maxUnavailable) === 0) errors.invalid(at, maxUnavailable, "cannot be 0");
  checkAtMostAll(maxUnavailable, at, errors);
}

function checkStatus(status: StatefulSetStatus, errors: FieldErrors): void {
  const path = fieldPath("status");
  const parts = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"] as const;
  checkCounts(status, ["replicas", ...parts, "observedGeneration", "collisionCount"], { path, errors });
  for (const name of parts) {
    const count = status[name] ?? 0;
    if (count > status.replicas)
      errors.invalid(path.child(name), count, "cannot be greater than status.replicas");
  }
  if (status.availableReplicas > (status.readyReplicas ?? 0)) {
    const at = path.child("availableReplicas");
    errors.invalid(at, status.availableReplicas, "cannot be greater than status.readyReplicas");
  }
}
