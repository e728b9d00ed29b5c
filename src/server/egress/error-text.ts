/** Describes connection errors in the words that clients know from Kubernetes. */
import { NAME_MISMATCH_CODE } from "../../base/keys/server-identity.ts";

/** Reason why this side ended a call. */
export type CutReason = "deadline" | "canceled";

const REFUSED: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connect: connection refused",
  EHOSTUNREACH: "connect: no route to host",
  ENETUNREACH: "connect: network is unreachable",
  EADDRNOTAVAIL: "connect: cannot assign requested address",
  ETIMEDOUT: "i/o timeout",
};

const BROKEN: Readonly<Record<string, string>> = {
  ESILENT: "context deadline exceeded",
  ECONNRESET: "EOF",
  EPIPE: "write: broken pipe",
  // OpenSSL's code for a response that is not TLS; it has few other causes.
  EPROTO: "http: server gave HTTP response to HTTPS client",
};

const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "INVALID_CA",
  "CERT_SIGNATURE_FAILURE",
]);

export const CUT_TEXTS: Readonly<Record<CutReason, string>> = {
  deadline: "context deadline exceeded",
  canceled: "context canceled",
};

/** `place` is `address:port`. The code alone decides, because texts differ between Node versions. */
export function connectionErrorText(error: unknown, place: string): string {
  const code = codeOf(error);
  const refused = REFUSED[code];
  if (refused !== undefined) return `dial tcp ${place}: ${refused}`;
  const distrust = distrustText(error);
  if (distrust !== undefined) return `tls: failed to verify certificate: x509: ${distrust}`;
  const broken = BROKEN[code];
  if (broken !== undefined) return broken;
  if (code.startsWith("HPE_"))
    return "net/http: HTTP/1.x transport connection broken: malformed HTTP response";
  return code === "" ? "the connection failed" : `the connection failed (${code})`;
}

export function lookupErrorText(error: unknown, host: string): string {
  const code = codeOf(error);
  return `dial tcp: lookup ${host}: ${code === "ENOTFOUND" || code === "" ? "no such host" : "server misbehaving"}`;
}

export function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" ? code : "";
}

function distrustText(error: unknown): string | undefined {
  const code = codeOf(error);
  if (UNKNOWN_AUTHORITY.has(code)) return "certificate signed by unknown authority";
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID")
    return "certificate has expired or is not yet valid";
  if (code === "INVALID_PURPOSE") return "certificate specifies an incompatible key usage";
  // checkServerName has already written the message.
  return code === NAME_MISMATCH_CODE ? (error as Error).message : undefined;
}
