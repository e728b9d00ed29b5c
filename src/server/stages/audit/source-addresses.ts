/**
 * Source addresses of a request, original sender first. Forwarding headers are trusted, as in kube-apiserver: the log
 * is informative.
 */
import { isIP } from "node:net";
import type { AcceptedRequest } from "../../request/http.ts";

/** A longer list is probably forged; only its first entries are kept. */
const ADDRESSES_MAX = 16;

export function sourceAddresses({ headers, remoteAddress }: AcceptedRequest): readonly string[] {
  const forwarded = (headers.get("x-forwarded-for") ?? "")
    .split(",", ADDRESSES_MAX)
    .map((part) => part.trim());
  const real = headers.get("x-real-ip")?.trim() ?? "";
  const told = forwarded.filter((part) => isIP(part) !== 0);
  const sources = told.length === 0 && isIP(real) !== 0 ? [real] : told;
  return remoteAddress === undefined || sources.at(-1) === remoteAddress
    ? sources
    : [...sources, remoteAddress];
}
