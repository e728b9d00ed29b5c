/** PodCertificateRequest: a node asks for a certificate of a pod. Signers decide about it. */

import type { PodCertificateRequest } from "../api/generated/types/certificates-v1beta1.ts";
import { defineKind } from "./kind-rules.ts";

export const podCertificateRequest = defineKind<PodCertificateRequest>(
  "certificates.k8s.io/v1beta1",
  "PodCertificateRequest",
  {
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

function stateText({ status }: PodCertificateRequest): string {
  const decided = (status.conditions ?? []).find(({ type }) => ["Issued", "Denied", "Failed"].includes(type));
  return decided?.type ?? "Pending";
}

function annotationsText({ spec }: PodCertificateRequest): string {
  const parts = Object.entries(spec.unverifiedUserAnnotations ?? {}).map(([key, value]) => `${key}=${value}`);
  return parts.length === 0 ? "<none>" : parts.join(",");
}
