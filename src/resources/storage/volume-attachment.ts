/** VolumeAttachment: a request to attach a volume to a node. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type {
  VolumeAttachment,
  VolumeAttachmentSource,
  VolumeError,
} from "../../api/generated/types/storage-v1.ts";
import { dns1123Subdomain, qualifiedName } from "../../api/values/names.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { ALL_METADATA } from "../rules/metadata-parts.ts";
import { isSame } from "../rules/value-rules.ts";
import { checkDriverName } from "./csi-driver-name.ts";
import { checkVolumeSpec } from "./persistent-volume-rules.ts";

const SPEC = fieldPath("spec");
const STATUS = fieldPath("status");
const MESSAGE_MAX = 1024;
const METADATA_BYTES_MAX = 256 * 1024;

export const volumeAttachment = defineKind<VolumeAttachment>("storage.k8s.io/v1", "VolumeAttachment", {
  validate({ spec }, errors) {
    checkDriverName(spec.attacher, SPEC.child("attacher"), errors);
    errors.invalidFor(SPEC.child("attacher"), spec.attacher, qualifiedName(spec.attacher.toLowerCase()));
    checkSource(spec.source, SPEC.child("source"), errors);
    errors.invalidFor(SPEC.child("nodeName"), spec.nodeName, dns1123Subdomain(spec.nodeName));
  },

  validateUpdate(next, previous, errors) {
    if (!isSame(next.spec, previous.spec)) errors.invalid(SPEC, next.spec, "field is immutable");
  },

  statusKeeps: ALL_METADATA,
  validateStatus({ status }, _previous, errors) {
    let bytes = 0;
    for (const [key, value] of Object.entries(status.attachmentMetadata ?? {})) {
      bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
    }
    if (bytes > METADATA_BYTES_MAX) errors.tooLong(STATUS.child("attachmentMetadata"), METADATA_BYTES_MAX);
    checkError(status.attachError, STATUS.child("attachError"), errors);
    checkError(status.detachError, STATUS.child("detachError"), errors);
  },

  cells: (it, now) => [
    it.metadata.name,
    it.spec.attacher,
    it.spec.source.persistentVolumeName ?? "",
    it.spec.nodeName,
    it.status.attached,
    ageText(it, now),
  ],
});

function checkSource(source: VolumeAttachmentSource, path: FieldPath, errors: FieldErrors): void {
  const { persistentVolumeName: name, inlineVolumeSpec: inline } = source;
  if (name === undefined && inline === undefined) {
    errors.required(path, "must specify exactly one of inlineVolumeSpec and persistentVolumeName");
  } else if (name !== undefined && inline !== undefined) {
    errors.forbidden(path, "must specify exactly one of inlineVolumeSpec and persistentVolumeName");
  } else if (name !== undefined) {
    if (name === "")
      errors.required(path.child("persistentVolumeName"), "must specify non empty persistentVolumeName");
    else errors.invalidFor(path.child("persistentVolumeName"), name, dns1123Subdomain(name));
  } else if (inline !== undefined) {
    checkVolumeSpec(inline, { path: path.child("inlineVolumeSpec"), isInline: true }, errors);
  }
}

function checkError(error: VolumeError | undefined, path: FieldPath, errors: FieldErrors): void {
  if (error === undefined) return;
  if (Buffer.byteLength(error.message ?? "") > MESSAGE_MAX)
    errors.tooLong(path.child("message"), MESSAGE_MAX);
  if (error.errorCode !== undefined && error.errorCode < 0) {
    errors.invalid(path.child("errorCode"), error.errorCode, "must be greater than or equal to 0");
  }
}
