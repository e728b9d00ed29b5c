/** PersistentVolume: a piece of storage in the cluster. */

import { fieldPath } from "../../api/errors/field-error.ts";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
} from "../../api/generated/types/core-v1.ts";
import type { ObjectMeta } from "../../api/generated/types/meta-v1.ts";
import { timeText } from "../../api/values/time.ts";
import { expressionWarnings, newerNodeLabel } from "../node/node-label-warnings.ts";
import { specDiff } from "../pod/spec-diff.ts";
import { clusterSourceWarnings } from "../pod/volume/volume-warnings.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind, type Draft } from "../rules/kind-rules.ts";
import { isSame } from "../rules/value-rules.ts";
import { accessModesText } from "./access-modes.ts";
import { checkVolumeSpec } from "./persistent-volume-rules.ts";
import { volumeSource } from "./volume-source-rules.ts";

/** Annotation for the class that predates the field. */
export const CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class";

const SELECTOR_TERMS = fieldPath("spec", "nodeAffinity", "required", "nodeSelectorTerms");
const RECYCLE_WARNING =
  "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.";

export const persistentVolume = defineKind<PersistentVolume>("v1", "PersistentVolume", {
  defaults({ spec, status }) {
    status.phase ??= "Pending";
    spec.persistentVolumeReclaimPolicy ??= "Retain";
    spec.volumeMode ??= "Filesystem";
    sourceDefaults(spec);
  },

  prepareCreate(draft, { now }) {
    draft.status = { phase: "Pending", lastPhaseTransitionTime: timeText(now) };
  },

  prepareStatus({ status: next }, { status: previous }, { now }) {
    const isTold = next.lastPhaseTransitionTime !== previous.lastPhaseTransitionTime;
    if (next.phase !== previous.phase && !isTold) next.lastPhaseTransitionTime = timeText(now);
  },

  validate({ spec }, errors) {
    checkVolumeSpec(spec, { path: fieldPath("spec"), isInline: false }, errors);
  },

  validateUpdate({ spec: next }, { spec: previous }, errors) {
    const [before, after] = [volumeSource(previous), volumeSource(withoutNewExpandSecret(next, previous))];
    if (!isSame(before, after)) {
      const diff = specDiff("core.PersistentVolumeSource", before, after);
      const detail = `spec.persistentvolumesource is immutable after creation\n${diff}`;
      errors.forbidden("spec.persistentvolumesource", detail);
    }
    errors.immutable("volumeMode", next.volumeMode, previous.volumeMode);
    if (!isSameAffinity(next.nodeAffinity, previous.nodeAffinity)) {
      const detail = "field is immutable, except for updating from beta label to GA";
      errors.invalid("nodeAffinity", next.nodeAffinity, detail);
    }
    if (previous.volumeAttributesClassName !== undefined && next.volumeAttributesClassName === undefined) {
      errors.forbidden("spec.volumeAttributesClassName", "update from non-nil value to nil is forbidden");
    }
  },

  warnings: ({ metadata, spec }) => [
    ...classAnnotationWarnings(metadata),
    ...(spec.persistentVolumeReclaimPolicy === "Recycle" ? [RECYCLE_WARNING] : []),
    ...(spec.nodeAffinity?.required?.nodeSelectorTerms ?? []).flatMap((term, i) =>
      expressionWarnings(term, SELECTOR_TERMS.index(i)),
    ),
    ...clusterSourceWarnings(spec, fieldPath("spec")),
  ],

  cells: (it, now) => [
    it.metadata.name,
    it.spec.capacity?.["storage"] ?? "0",
    accessModesText(it.spec.accessModes ?? []),
    it.spec.persistentVolumeReclaimPolicy ?? "",
    phaseText(it),
    claimText(it),
    classText(it),
    it.spec.volumeAttributesClassName ?? "<unset>",
    it.status.reason ?? "",
    ageText(it, now),
    it.spec.volumeMode ?? "<unset>",
  ],
});

type Affinity = PersistentVolumeSpec["nodeAffinity"];

/** Deprecated label keys may be replaced by their newer names. An absent affinity may be set to any value. */
function isSameAffinity(next: Affinity, previous: Affinity): boolean {
  if (previous?.required === undefined) return previous === undefined || isSame(next, previous);
  const nodeSelectorTerms = previous.required.nodeSelectorTerms.map((term, i) => {
    const after = next?.required?.nodeSelectorTerms[i]?.matchExpressions ?? [];
    const { matchExpressions } = term;
    if (matchExpressions === undefined) return term;
    return {
      ...term,
      matchExpressions: matchExpressions.map((expression, j) => {
        const newer = newerNodeLabel(expression.key);
        return newer !== undefined && after[j]?.key === newer ? { ...expression, key: newer } : expression;
      }),
    };
  });
  return isSame(next, { ...previous, required: { ...previous.required, nodeSelectorTerms } });
}

function sourceDefaults({ hostPath, iscsi, rbd, azureDisk, scaleIO }: Draft<PersistentVolumeSpec>): void {
  if (hostPath !== undefined) hostPath.type ??= "";
  if (iscsi !== undefined) iscsi.iscsiInterface ??= "default";
  fillIn(rbd, { pool: "rbd", user: "admin", keyring: "/etc/ceph/keyring" });
  fillIn(azureDisk, { cachingMode: "ReadWrite", kind: "Shared", fsType: "ext4", readOnly: false });
  fillIn(scaleIO, { storageMode: "ThinProvisioned", fsType: "xfs" });
}

/** Sets absent fields of a source that exists. */
function fillIn<T extends object>(source: T | undefined, values: Partial<T>): void {
  if (source !== undefined) Object.assign(source, { ...values, ...source });
}

/** The secret for expansion may be added later, because volumes predate expansion. */
function withoutNewExpandSecret(
  next: PersistentVolumeSpec,
  previous: PersistentVolumeSpec,
): PersistentVolumeSpec {
  if (next.csi === undefined || previous.csi === undefined) return next;
  if (previous.csi.controllerExpandSecretRef !== undefined) return next;
  const { controllerExpandSecretRef: _, ...csi } = next.csi;
  return { ...next, csi };
}

type Volume = Pick<PersistentVolume | PersistentVolumeClaim, "metadata" | "status" | "spec">;

/** Also used for claims. */
export function phaseText({ metadata, status }: Volume): string {
  return metadata.deletionTimestamp === undefined ? (status.phase ?? "") : "Terminating";
}

/** Also used for claims. */
export function classAnnotationWarnings({ annotations }: ObjectMeta): readonly string[] {
  if (annotations?.[CLASS_ANNOTATION] === undefined) return [];
  const advice = 'deprecated since v1.8; use "storageClassName" attribute instead';
  return [`metadata.annotations[${CLASS_ANNOTATION}]: ${advice}`];
}

export function classText({ metadata, spec }: Volume): string {
  return metadata.annotations?.[CLASS_ANNOTATION] ?? spec.storageClassName ?? "";
}

function claimText({ spec: { claimRef } }: PersistentVolume): string {
  return claimRef === undefined ? "" : `${claimRef.namespace ?? ""}/${claimRef.name ?? ""}`;
}
