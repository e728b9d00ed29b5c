/** What became of a request for a certificate so far. */
import type { CertificateSigningRequest } from "../../api/generated/types/certificates-v1.ts";

export function hasCondition({ status }: CertificateSigningRequest, wanted: string): boolean {
  return (status.conditions ?? []).some(({ type, status: state }) => type === wanted && state === "True");
}

/** Nobody has made a certificate of it, and nobody is about to delete it. */
export function isOpen({ metadata, status }: CertificateSigningRequest): boolean {
  const { certificate = "" } = status;
  return metadata.deletionTimestamp === undefined && certificate === "";
}
