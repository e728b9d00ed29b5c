/** PodCertificateRequest: a node requests a certificate for one of its pods. A signer issues or denies it. */

import { fieldPath } from "../../api/errors/field-error.ts";
import type { FieldErrors } from "../../api/errors/field-error.ts";
import type {
  PodCertificateRequest,
  PodCertificateRequestSpec,
} from "../../api/generated/types/certificates-v1beta1.ts";
import { validateAnnotations } from "../../api/metadata.ts";
import { dns1123Subdomain } from "../../api/values/names.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { ALL_METADATA } from "../rules/metadata-parts.ts";
import { checkStatus, prepareStatus } from "./pod-certificate-status.ts";
import { checkProof } from "./possession-proof.ts";
import { checkSignerName } from "./signer-name.ts";

const SPEC = fieldPath("spec");
const UID_MAX_BYTES = 128;
const SECONDS_MIN = 3600;
const DAY_SECONDS = 86_400;
const SECONDS_MAX = 91 * DAY_SECONDS;

export const podCertificateRequest = defineKind<PodCertificateRequest>(
  "certificates.k8s.io/v1beta1",
  "PodCertificateRequest",
  {
    defaults({ spec }) {
      spec.maxExpirationSeconds ??= DAY_SECONDS;
    },

    validateCreate({ spec }, errors) {
      checkSubject(spec, errors);
      const { maxExpirationSeconds: seconds = 0 } = spec;
      const max = isKubernetesSigner(spec.signerName) ? DAY_SECONDS : SECONDS_MAX;
      if (seconds < SECONDS_MIN || seconds > max)
        errors.invalid(
          SPEC.child("maxExpirationSeconds"),
          seconds,
          `must be in the range [${String(SECONDS_MIN)}, ${String(max)}]`,
        );
      checkProof(spec, errors);
    },

    validateUpdate(next, previous, errors) {
      errors.immutable(SPEC, next.spec, previous.spec);
    },

    statusKeeps: ALL_METADATA,
    prepareStatus,
    validateStatus: checkStatus,

    fields: ({ spec }) => ({
      "spec.nodeName": spec.nodeName,
      "spec.podName": spec.podName,
      "spec.signerName": spec.signerName,
    }),

    cells: (it) => [
      it.metadata.name,
      it.spec.podName,
      it.spec.serviceAccountName,
      it.spec.nodeName,
      it.spec.signerName,
      stateText(it),
      annotationsText(it),
    ],
  },
);

/** The fields `podName`, `podUID`, `serviceAccountName` … of the spec begin with these. */
const SUBJECTS = ["pod", "serviceAccount", "node"] as const;

function checkSubject(spec: PodCertificateRequestSpec, errors: FieldErrors): void {
  checkSignerName(spec.signerName, SPEC.child("signerName"), errors);
  const { unverifiedUserAnnotations: annotations } = spec;
  if (annotations !== undefined) checkUserAnnotations(annotations, errors);
  for (const subject of SUBJECTS) {
    const name = spec[`${subject}Name`];
    errors.invalidFor(SPEC.child(`${subject}Name`), name, dns1123Subdomain(name));
    const uid = spec[`${subject}UID`];
    if (uid === "") errors.invalid(SPEC.child(`${subject}UID`), uid, "must not be empty");
    if (Buffer.byteLength(uid) > UID_MAX_BYTES) errors.tooLong(SPEC.child(`${subject}UID`), UID_MAX_BYTES);
  }
}

/** Keys are annotation keys with a domain as prefix, so that each has an owner. */
function checkUserAnnotations(annotations: Readonly<Record<string, string>>, errors: FieldErrors): void {
  const path = SPEC.child("unverifiedUserAnnotations");
  validateAnnotations(annotations, path, errors);
  for (const key of Object.keys(annotations))
    if (!key.includes("/"))
      errors.invalid(path, key, 'must be a domain-prefixed path (such as "acme.io/foo")');
}

function isKubernetesSigner(name: string): boolean {
  const [domain = ""] = name.split("/");
  return domain === "kubernetes.io" || domain.endsWith(".kubernetes.io");
}

function stateText({ status }: PodCertificateRequest): string {
  const decided = (status.conditions ?? []).find(({ type }) => ["Issued", "Denied", "Failed"].includes(type));
  return decided?.type ?? "Pending";
}

function annotationsText({ spec }: PodCertificateRequest): string {
  const parts = Object.entries(spec.unverifiedUserAnnotations ?? {}).map(([key, value]) => `${key}=${value}`);
  return parts.length === 0 ? "<none>" : parts.join(",");
}
