/**
 * Issues certificates for approved requests of the built-in signers `kubernetes.io/…`.
 *
 * Reads CertificateSigningRequests. Writes the certificate into the status, or the condition Failed if the signer's rule rejects the
 * request.
 */
import { readCertificateRequest } from "../../api/certificates/certificate-request.ts";
import { CertificateSigningRequest } from "../../api/generated/types/certificates-v1.ts";
import { defineController } from "../../runtime/controller/controller.ts";
import type { Controller, Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import type { CertificateSigner } from "./certificate-signer.ts";
import { hasCondition, isOpen } from "./request-state.ts";
import { SIGNER_RULES } from "./signer-rules.ts";

export function csrSigningController(signer: CertificateSigner): Controller {
  return defineController({
    name: "certificatesigningrequest-signing-controller",
    for: CertificateSigningRequest,
    reconcile: (request: CertificateSigningRequest, context) => reconcile(request, context, signer),
  });
}

async function reconcile(
  request: CertificateSigningRequest,
  context: ReconcileContext,
  signer: CertificateSigner,
): Promise<Outcome> {
  if (!isOpen(request) || !hasCondition(request, "Approved")) return undefined;
  if (hasCondition(request, "Failed") || hasCondition(request, "Denied")) return undefined;
  const rule = SIGNER_RULES.get(request.spec.signerName);
  if (rule === undefined) return undefined;
  const { usages = [], expirationSeconds } = request.spec;
  const content = readCertificateRequest(request.spec.request);
  if (content === undefined) return fail(request, "unable to parse the certificate request", context);
  const problem = rule({ content, usages });
  if (problem !== undefined) return fail(request, problem, context);
  const certificate = await signer.sign({ content, usages }, expirationSeconds);
  if (certificate === undefined)
    return fail(request, "unable to verify certificate request signature", context);
  const status = { ...request.status, certificate: Buffer.from(certificate).toString("base64") };
  await context.client(CertificateSigningRequest).updateStatus(request, status);
  return undefined;
}

/** Writes the condition Failed. The controller does not retry: a request's content never changes. */
async function fail(
  request: CertificateSigningRequest,
  message: string,
  { client }: ReconcileContext,
): Promise<Outcome> {
  const condition = { type: "Failed", status: "True", reason: "SignerValidationFailure", message };
  const conditions = [...(request.status.conditions ?? []), condition];
  await client(CertificateSigningRequest).updateStatus(request, { ...request.status, conditions });
  return undefined;
}
