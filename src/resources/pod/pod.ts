/** Pod. Other files of this folder validate the parts of its spec. */

import { FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import type { Pod, PodSpec } from "../../api/generated/types/core-v1.ts";
import { frozenMemo } from "../../api/json/frozen-memo.ts";
import { timeText } from "../../api/values/time.ts";
import { defineKind, type Draft } from "../rules/kind-rules.ts";
import { isOldPodError } from "../rules/tolerated-errors.ts";
import { applyAppArmorAnnotations } from "./app-armor.ts";
import { checkImageBlanks } from "./container/container-rules.ts";
import { applyMatchLabelKeys } from "./match-label-keys.ts";
import { checkAnnotationChanges, checkPodAnnotations } from "./pod-annotation-rules.ts";
import { podCells, podRowConditions } from "./pod-cells.ts";
import { podDefaults } from "./pod-defaults.ts";
import { qosClass } from "./pod-resources.ts";
import { checkPodSpec } from "./pod-spec-rules.ts";
import { podGraceSeconds } from "./pod-state.ts";
import { checkPodStatus, keepObservedGenerations, syncPodIps } from "./pod-status-rules.ts";
import { checkPodUpdate } from "./pod-update.ts";
import { nameWarnings, podWarnings } from "./pod-warnings.ts";

const ANNOTATIONS = fieldPath("metadata", "annotations");

export const pod = defineKind<Pod>("v1", "Pod", {
  defaults: podDefaults,
  repeatsSpec: true,

  prepareCreate(draft, { now, notes }) {
    draft.status = { phase: "Pending", qosClass: qosClass(draft.spec) };
    applyMatchLabelKeys(draft);
    for (const text of applyAppArmorAnnotations(draft)) notes?.warn(text);
    applyGatedCondition(draft, now);
  },

  // The status subresource cannot change owners.
  statusKeeps: ["ownerReferences"],
  prepareStatus(draft, previous) {
    const { qosClass: before } = previous.status;
    if (before !== undefined) draft.status.qosClass ??= before;
    keepObservedGenerations(draft.status, previous.status);
    syncPodIps(draft.status);
  },

  validate(object, errors) {
    const { spec, metadata } = object;
    // Many pods share a frozen spec, so that it is validated once. An invalid spec is validated again to
    // report its errors.
    if (!Object.isFrozen(spec) || !isValidSpec(spec)) checkSpec(spec, metadata.name, errors);
    checkPodAnnotations(object, ANNOTATIONS, errors);
    checkCreateRules(object, errors);
  },

  tolerates: isOldPodError,

  validateUpdate(next, previous, errors) {
    checkAnnotationChanges(next, previous, { path: ANNOTATIONS, errors });
    checkPodUpdate(next, previous, errors);
  },
  validateStatus: checkPodStatus,

  // Updates return no warnings: they mostly come from programs, which ignore them.
  warnings: (object, previous) =>
    previous === undefined ? [...nameWarnings(object.metadata.name, "pod"), ...podWarnings(object, "")] : [],

  gracePeriodSeconds: podGraceSeconds,

  fields: selectableFields,
  cells: podCells,
  rowConditions: podRowConditions,
});

/** Whether a spec is valid for a pod of any name. */
const isValidSpec = frozenMemo((spec: PodSpec): boolean => {
  const errors = new FieldErrors();
  checkSpec(spec, undefined, errors);
  const isNamedAfterPod = (spec.volumes ?? []).some(({ ephemeral }) => ephemeral !== undefined);
  return errors.isEmpty && !isNamedAfterPod;
});

function checkSpec(spec: PodSpec, podName: string | undefined, errors: FieldErrors): void {
  const path = fieldPath("spec");
  checkPodSpec(spec, { path, subject: "pod", podName }, errors);
  checkTokenVolumes(spec, errors);
  for (const list of ["containers", "initContainers"] as const) {
    for (const [i, container] of (spec[list] ?? []).entries()) {
      checkImageBlanks(container, path.child(list).index(i), { errors });
    }
  }
}

function selectableFields({ spec, status }: Pod): Readonly<Record<string, string>> {
  const { nodeName = "", restartPolicy = "", schedulerName = "", serviceAccountName = "" } = spec;
  const { nominatedNodeName = "", phase = "", podIP = "" } = status;
  return {
    "spec.host": nodeName,
    "spec.hostNetwork": String(spec.hostNetwork === true),
    "spec.nodeName": nodeName,
    "spec.restartPolicy": restartPolicy,
    "spec.schedulerName": schedulerName,
    "spec.serviceAccountName": serviceAccountName,
    "status.nominatedNodeName": nominatedNodeName,
    "status.phase": phase,
    "status.podIP": podIP,
    "status.podIPs": podIP,
  };
}

/** Sets the condition on create, so that clients see it before the scheduler runs. */
function applyGatedCondition(draft: Draft<Pod>, now: number): void {
  if ((draft.spec.schedulingGates ?? []).length === 0) return;
  draft.status.conditions = [
    {
      type: "PodScheduled",
      status: "False",
      lastTransitionTime: timeText(now),
      reason: "SchedulingGated",
      message: "Scheduling is blocked due to non-empty scheduling gates",
    },
  ];
}

/** A token requires a service account. */
function checkTokenVolumes(spec: PodSpec, errors: FieldErrors): void {
  if (spec.serviceAccountName !== undefined) return;
  for (const [i, { projected }] of (spec.volumes ?? []).entries()) {
    for (const [j, { serviceAccountToken }] of (projected?.sources ?? []).entries()) {
      if (serviceAccountToken === undefined) continue;
      const at = fieldPath("spec", "volumes").index(i).child("projected", "sources").index(j);
      errors.forbidden(
        at.child("serviceAccountToken"),
        "must not be specified when serviceAccountName is not set",
      );
    }
  }
}

/**
 * On create, ephemeral containers are forbidden, and so is a node name together with scheduling gates.
 * Updates need no such check: gates can only be removed.
 */
function checkCreateRules({ metadata, spec }: Pod, errors: FieldErrors): void {
  if (metadata.generation === 1 && (spec.ephemeralContainers ?? []).length > 0) {
    errors.forbidden(fieldPath("spec", "ephemeralContainers"), "cannot be set on create");
  }
  if (spec.nodeName !== undefined && (spec.schedulingGates ?? []).length > 0) {
    errors.forbidden(
      fieldPath("spec", "nodeName"),
      "cannot be set until all schedulingGates have been cleared",
    );
  }
}
