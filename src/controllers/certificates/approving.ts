/**
 * Approves the requests with which nodes get and renew their client certificates.
 *
 * Reads CertificateSigningRequests. Asks the server if the requester may have the certificate: SubjectAccessReview on `nodeclient` and
 * `selfnodeclient`. Writes the condition Approved, never Denied: other approvers may still decide.
 */
import { readCertificateRequest } from "../../api/certificates/certificate-request.ts";
import type { SubjectAccessReview } from "../../api/generated/types/authorization-v1.ts";
import { CertificateSigningRequest } from "../../api/generated/types/certificates-v1.ts";
import { defineController } from "../../runtime/controller/controller.ts";
import type { Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import { hasCondition, isOpen } from "./request-state.ts";
import { findKubeletClientProblem, KUBELET_CLIENT_SIGNER } from "./signer-rules.ts";

export const csrApprovingController = defineController({
  name: "certificatesigningrequest-approving-controller",
  for: CertificateSigningRequest,
  reconcile,
});

async function reconcile(request: CertificateSigningRequest, context: ReconcileContext): Promise<Outcome> {
  if (!isOpen(request) || hasCondition(request, "Denied") || hasCondition(request, "Approved"))
    return undefined;
  for (const { subresource, message } of findPermissions(request)) {
    if (!(await isAllowed(request, subresource, context))) continue;
    await approve(request, message, context);
    return undefined;
  }
  return undefined;
}

interface Permission {
  readonly subresource: string;
  readonly message: string;
}

/** Permissions of which one suffices; empty for requests other than kubelet client certificates. */
function findPermissions({ spec }: CertificateSigningRequest): readonly Permission[] {
  if (spec.signerName !== KUBELET_CLIENT_SIGNER) return [];
  const content = readCertificateRequest(spec.request);
  if (content === undefined) return [];
  if (findKubeletClientProblem({ content, usages: spec.usages ?? [] }) !== undefined) return [];
  const isSelf = spec.username === content.commonName;
  return isSelf ? [SELF_NODE_CLIENT, NODE_CLIENT] : [NODE_CLIENT];
}

const SELF_NODE_CLIENT: Permission = {
  subresource: "selfnodeclient",
  message: "Auto approving self kubelet client certificate after SubjectAccessReview.",
};
const NODE_CLIENT: Permission = {
  subresource: "nodeclient",
  message: "Auto approving kubelet client certificate after SubjectAccessReview.",
};

async function isAllowed(
  { spec }: CertificateSigningRequest,
  subresource: string,
  { client }: ReconcileContext,
): Promise<boolean> {
  const { username = "", uid, groups, extra } = spec;
  const resourceAttributes = {
    group: "certificates.k8s.io",
    resource: "certificatesigningrequests",
    verb: "create",
    version: "*",
    subresource,
  };
  const answer = await client.request({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    body: { spec: { user: username, uid, groups, extra, resourceAttributes } },
  });
  return (answer as SubjectAccessReview).status.allowed;
}

async function approve(
  request: CertificateSigningRequest,
  message: string,
  { client }: ReconcileContext,
): Promise<void> {
  const condition = { type: "Approved", status: "True", reason: "AutoApproved", message };
  const conditions = [...(request.status.conditions ?? []), condition];
  const approved = { ...request, status: { ...request.status, conditions } };
  await client(CertificateSigningRequest).subresource("approval").update(request, approved);
}
