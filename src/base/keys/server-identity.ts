/** Checks the name of a TLS server as Go's crypto/x509 does: only subject alternative names count, never the common name. */
import { isIP, isIPv6 } from "node:net";
import type { PeerCertificate } from "node:tls";

/** Node's own code for a certificate of another name. */
export const NAME_MISMATCH_CODE = "ERR_TLS_CERT_ALTNAME_INVALID";

class ServerNameError extends Error {
  readonly code = NAME_MISMATCH_CODE;
}

/** For the option `checkServerIdentity` of Node's TLS clients. The message of the error is Go's, without `x509: `. */
export function checkServerName(
  host: string,
  certificate: Pick<PeerCertificate, "subject" | "subjectaltname">,
): Error | undefined {
  const names = alternativeNames(certificate.subjectaltname);
  const message =
    isIP(host) === 0 ? nameMismatch(host, names, certificate) : addressMismatch(host, names.addresses);
  return message === undefined ? undefined : new ServerNameError(message);
}

interface AlternativeNames {
  readonly dnsNames: readonly string[];
  readonly addresses: readonly string[];
}

/** Node's text is `DNS:a.example, IP Address:127.0.0.1`; it quotes a name with characters that no host name has. */
function alternativeNames(text = ""): AlternativeNames {
  const entries = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').split(", ");
  const named = (prefix: string): readonly string[] =>
    entries.filter((entry) => entry.startsWith(prefix)).map((entry) => entry.slice(prefix.length));
  return {
    dnsNames: named("DNS:").filter((name) => name !== '""'),
    addresses: named("IP Address:").map(canonicalAddress),
  };
}

function addressMismatch(host: string, addresses: readonly string[]): string | undefined {
  if (addresses.includes(canonicalAddress(host))) return undefined;
  if (addresses.length === 0)
    return `cannot validate certificate for ${host} because it doesn't contain any IP SANs`;
  return mismatchText(addresses, host);
}

/** Certificates write IPv6 addresses in full. */
function canonicalAddress(address: string): string {
  return isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
}

function nameMismatch(
  host: string,
  { dnsNames }: AlternativeNames,
  { subject, subjectaltname }: Pick<PeerCertificate, "subject" | "subjectaltname">,
): string | undefined {
  if (dnsNames.some((pattern) => isNamedBy(pattern, host))) return undefined;
  const commonName: unknown = (subject as PeerCertificate["subject"] | undefined)?.CN;
  const isLegacy =
    subjectaltname === undefined && typeof commonName === "string" && matchesLabels(commonName, host);
  return isLegacy
    ? "certificate relies on legacy Common Name field, use SANs instead"
    : mismatchText(dnsNames, host);
}

/** How many names an error states; it is one line. */
const NAMES_MAX = 20;

function mismatchText(names: readonly string[], wanted: string): string {
  if (names.length === 0) return `certificate is not valid for any names, but wanted to match ${wanted}`;
  if (names.length > NAMES_MAX)
    return `certificate is valid for ${names.length} names, but none matched ${wanted}`;
  return `certificate is valid for ${names.join(", ")}, not ${wanted}`;
}

const LABEL = /^[a-z0-9_][a-z0-9_-]*$/i;

/** An equal name matches whatever its characters; wildcards and trailing dots count in host names only. */
function isNamedBy(pattern: string, host: string): boolean {
  const isHostName = labelsOf(host).every((label) => LABEL.test(label));
  const [first = "", ...others] = pattern.split(".");
  const isPattern =
    pattern !== "*" && (first === "*" || LABEL.test(first)) && others.every((label) => LABEL.test(label));
  if (isHostName && isPattern) return matchesLabels(pattern, host);
  return pattern.toLowerCase() === host.toLowerCase() && host !== "" && host !== ".";
}

/** `*` is one whole label, and only the first. */
function matchesLabels(pattern: string, host: string): boolean {
  const wanted = labelsOf(host.toLowerCase());
  const given = pattern.toLowerCase().split(".");
  return (
    given.length === wanted.length &&
    given.every((label, at) => label === wanted[at] || (at === 0 && label === "*"))
  );
}

function labelsOf(host: string): readonly string[] {
  return (host.endsWith(".") ? host.slice(0, -1) : host).split(".");
}
