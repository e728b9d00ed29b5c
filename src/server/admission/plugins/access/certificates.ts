/**
 * CertificateApproval, CertificateSigning, ClusterTrustBundleAttest and CertificateSubjectRestriction. Acting for a
 * signer requires a permission on that signer, beside the permission to write the object. No client certificate is
 * issued for the group system:masters.
 */
import { readCertificateRequest } from "../../../../api/certificates/certificate-request.ts";
import { invalid } from "../../../../api/errors/api-error.ts";
import { FieldErrors } from "../../../../api/errors/field-error.ts";
import type { CertificateSigningRequest } from "../../../../api/generated/types/certificates-v1.ts";
import type {
  ClusterTrustBundle,
  PodCertificateRequest,
} from "../../../../api/generated/types/certificates-v1beta1.ts";
import { jsonEqual } from "../../../../api/patch/json-equal.ts";
import { quoted } from "../../../../api/values/message-text.ts";
import type { Authorizer } from "../../../access/authz/authorizer.ts";
import { askSigner, demand } from "../../permission.ts";
import { definePlugin } from "../../plugin.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../../plugin.ts";
import { refusal } from "../../refusal.ts";

const REQUESTS = "certificatesigningrequests.certificates.k8s.io";
const CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client";
const ADMINS = "system:masters";

export function certificateApproval(authorizer: Authorizer): AdmissionPlugin {
  return definePlugin<CertificateSigningRequest>({
    name: "CertificateApproval",
    interests: [{ resources: [`${REQUESTS}/approval`], operations: ["UPDATE"] }],

    /** The signer of the stored request counts, so that an update cannot name an allowed one instead. */
    validateLater(_object, request) {
      const { spec } = request.previous as CertificateSigningRequest;
      const { signerName: signer } = spec;
      const answer = askSigner(authorizer, { user: request.user, verb: "approve", signer });
      return demand(answer, () =>
        refusal(request, `user not permitted to approve requests with signerName "${signer}"`),
      );
    },
  });
}

export function certificateSigning(authorizer: Authorizer): AdmissionPlugin {
  return definePlugin<CertificateSigningRequest>({
    name: "CertificateSigning",
    interests: [{ resources: [`${REQUESTS}/status`], operations: ["UPDATE"] }],

    validateLater(object, request) {
      const { spec, status } = request.previous as CertificateSigningRequest;
      const isSame =
        status.certificate === object?.status.certificate &&
        jsonEqual(status.conditions ?? [], object?.status.conditions ?? []);
      if (isSame) return undefined;
      const { signerName: signer } = spec;
      const answer = askSigner(authorizer, { user: request.user, verb: "sign", signer });
      return demand(answer, () =>
        refusal(request, `user not permitted to sign requests with signerName "${signer}"`),
      );
    },
  });
}

/** A rule of the kind itself in upstream: no option disables it, and a refusal is an Invalid error. */
export function podCertificateSigning(authorizer: Authorizer): AdmissionPlugin {
  return definePlugin<PodCertificateRequest>({
    name: "PodCertificateSigning",
    interests: [{ resources: ["podcertificaterequests.certificates.k8s.io/status"], operations: ["UPDATE"] }],

    validateLater(object, { previous, user }) {
      const { metadata, spec, status } = previous as PodCertificateRequest;
      if (status.certificateChain === object?.status.certificateChain) return undefined;
      const { signerName: signer } = spec;
      return demand(askSigner(authorizer, { user, verb: "sign", signer }), () => {
        const errors = new FieldErrors();
        errors.forbidden(
          "spec.signerName",
          `User ${quoted(user.name)} is not permitted to "sign" for signer ${quoted(signer)}`,
        );
        const kind = { group: "certificates.k8s.io", kind: "PodCertificateRequest" };
        return invalid(kind, metadata.name, errors.found);
      });
    },
  });
}

export function clusterTrustBundleAttest(authorizer: Authorizer): AdmissionPlugin {
  return definePlugin<ClusterTrustBundle>({
    name: "ClusterTrustBundleAttest",
    interests: [{ resources: ["clustertrustbundles.certificates.k8s.io"], operations: ["CREATE", "UPDATE"] }],

    validateLater(object, request) {
      const signer = object?.spec.signerName ?? "";
      if (object === undefined || signer === "" || isOnlyKept(object, request)) return undefined;
      const answer = askSigner(authorizer, { user: request.user, verb: "attest", signer });
      return demand(answer, () =>
        refusal(request, `user not permitted to attest for signerName "${signer}"`),
      );
    },
  });
}

/** Whether only owners, finalizers or managed fields differ. */
function isOnlyKept(next: ClusterTrustBundle, { previous }: AdmissionRequest): boolean {
  return previous !== undefined && jsonEqual(meaningOf(next), meaningOf(previous as ClusterTrustBundle));
}

function meaningOf({ metadata, spec }: ClusterTrustBundle): object {
  const {
    ownerReferences: _owners,
    finalizers: _finalizers,
    managedFields: _fields,
    resourceVersion: _version,
    ...kept
  } = metadata;
  return { metadata: kept, spec };
}

export const certificateSubjectRestriction = definePlugin<CertificateSigningRequest>({
  name: "CertificateSubjectRestriction",
  interests: [{ resources: [REQUESTS], operations: ["CREATE"] }],

  validate({ spec }, request) {
    if (spec.signerName !== CLIENT_SIGNER) return;
    const subject = readCertificateRequest(spec.request);
    if (subject === undefined) throw refusal(request, "failed to parse CSR: it is no certificate request");
    if (subject.organizations.includes(ADMINS))
      throw refusal(request, `use of ${CLIENT_SIGNER} signer with ${ADMINS} group is not allowed`);
  },
});
