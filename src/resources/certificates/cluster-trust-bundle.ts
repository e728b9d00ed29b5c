/** ClusterTrustBundle: trust anchors for the whole cluster. */

import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import type { ClusterTrustBundle } from "../../api/generated/types/certificates-v1beta1.ts";
import { dns1123Subdomain, pathSegmentName } from "../../api/values/names.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { trustProblems } from "./certificate-pem.ts";
import { checkSignerName } from "./signer-name.ts";

const SIGNER = fieldPath("spec", "signerName");
const BUNDLE = "spec.trustBundle";
const BUNDLE_MAX_BYTES = 1024 * 1024;

export const clusterTrustBundle = defineKind<ClusterTrustBundle>(
  "certificates.k8s.io/v1beta1",
  "ClusterTrustBundle",
  {
    nameRule: pathSegmentName,

    validate({ metadata, spec }, errors) {
      checkName(metadata.name, spec.signerName ?? "", errors);
      if ((spec.signerName ?? "") !== "") checkSignerName(spec.signerName ?? "", SIGNER, errors);
      if (Buffer.byteLength(spec.trustBundle) > BUNDLE_MAX_BYTES) errors.tooLong(BUNDLE, BUNDLE_MAX_BYTES);
      else errors.invalidFor(BUNDLE, "<value omitted>", trustProblems(spec.trustBundle));
    },

    /** A stored bundle stays valid: older servers did not check it, and parsers change with the library. */
    tolerates: ({ field }) => field === BUNDLE,

    validateUpdate({ spec: next }, { spec: previous }, errors) {
      errors.immutable(SIGNER, next.signerName ?? "", previous.signerName ?? "");
    },

    fields: ({ spec }) => ({ "spec.signerName": spec.signerName ?? "" }),

    cells: ({ metadata, spec }) => [metadata.name, spec.signerName || "<none>"],
  },
);

/** A signer's bundles carry its name as prefix, so that no other signer can imitate them. */
function checkName(name: string, signer: string, errors: FieldErrors): void {
  const prefix = signer === "" ? "" : `${signer.replaceAll("/", ":")}:`;
  if (prefix === "" && name.includes(":")) {
    errors.invalid(
      "metadata.name",
      name,
      'ClusterTrustBundle without signer name must not have ":" in its name',
    );
  } else if (name.startsWith(prefix)) {
    errors.invalidFor("metadata.name", name, dns1123Subdomain(name.slice(prefix.length)));
  } else {
    const why = `ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`;
    errors.invalid("metadata.name", name, why);
  }
}
