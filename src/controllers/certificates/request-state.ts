/** State of a CertificateSigningRequest. */
import type { CertificateSigningRequest } from "../../api/generated/types/certificates-v1.ts";

export function hasCondition({ status }: CertificateSigningRequest, wanted: string): boolean {
  return (status.conditions ?? []).some(({ type, status: state }) => type === wanted && state === "True");
}

/** The request has no certificate and is not being deleted. */
export function isOpen({ metadata, status }: CertificateSigningRequest): boolean {
  const { certificate = "" } = status;
  return metadata.deletionTimestamp === undefined && certificate === "";
}
