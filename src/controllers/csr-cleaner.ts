/**
 * Deletes outdated CertificateSigningRequests.
 *
 * Issued, denied and failed requests are deleted after one hour, unanswered and unissued ones after one day. Expired certificates are
 * deleted at once.
 */
import { X509Certificate } from "node:crypto";
import { isApiError } from "../api/errors/api-error.ts";
import { CertificateSigningRequest } from "../api/generated/types/certificates-v1.ts";
import { defineController } from "../runtime/controller/controller.ts";
import type { Outcome, ReconcileContext } from "../runtime/controller/controller.ts";

export const csrCleanerController = defineController({
  name: "certificatesigningrequest-cleaner-controller",
  for: CertificateSigningRequest,
  reconcile,
});

const ANSWERED_MS = 3_600_000;
const UNANSWERED_MS = 24 * 3_600_000;

async function reconcile(
  request: CertificateSigningRequest,
  { client, clock }: ReconcileContext,
): Promise<Outcome> {
  if (request.metadata.deletionTimestamp !== undefined) return undefined;
  const dueAt = findRequestEnd(request);
  if (dueAt === undefined) return undefined;
  const leftMs = dueAt - clock.now();
  if (leftMs > 0) return { recheckAfterMs: leftMs, timer: "periodic" };
  const { uid, resourceVersion } = request.metadata;
  try {
    await client(CertificateSigningRequest).delete(request, { preconditions: { uid, resourceVersion } });
  } catch (error) {
    if (!isApiError(error, "NotFound")) throw error;
  }
  return undefined;
}

/** Time of deletion; undefined if the request has no readable timestamp. */
export function findRequestEnd({ metadata, status }: CertificateSigningRequest): number | undefined {
  const { conditions = [], certificate = "" } = status;
  const isIssued = certificate !== "";
  const ends = conditions.flatMap(({ type, lastUpdateTime }) => {
    const keptMs = type === "Approved" && !isIssued ? UNANSWERED_MS : ANSWERED_MS;
    return lastUpdateTime === undefined ? [] : [Date.parse(lastUpdateTime) + keptMs];
  });
  if (conditions.length === 0) ends.push(Date.parse(metadata.creationTimestamp) + UNANSWERED_MS);
  if (conditions.some(({ type }) => type === "Approved")) ends.push(...expiryOf(certificate));
  const known = ends.filter((end) => !Number.isNaN(end));
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Expiry of the first certificate. An unreadable certificate adds no deadline; the others still apply. */
function expiryOf(certificate: string): readonly number[] {
  if (certificate === "") return [];
  try {
    return [Date.parse(new X509Certificate(Buffer.from(certificate, "base64")).validTo)];
  } catch {
    return [];
  }
}
