/** Where a request came from, the first sender first. Whoever forwards it is believed, as by kube-apiserver: it is for people to read. */
import { isIP } from "node:net";
import type { AcceptedRequest } from "../../request/http.ts";

/** More than that are made up. */
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
