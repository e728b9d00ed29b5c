/** Reads the identity of a client from the certificate of its connection. */
import { X509Certificate } from "node:crypto";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import type { PeerIdentity } from "../request/http.ts";

/** Expensive, so called once per connection. */
export type PeerReader = (socket: TLSSocket) => PeerIdentity | undefined;

export interface PeerAuthorities {
  /** PEM of the CA for clients. */
  readonly ca: string;
  /** PEM of the CA for front proxies. */
  readonly frontProxyCa?: string;
}

/** A client with an invalid certificate is refused, not treated as anonymous. */
export const STRANGER: PeerIdentity = { user: "", groups: [], role: "stranger" };

/** Subject attribute with the user's uid, under the enterprise number of Kubernetes. */
const UID_ATTRIBUTE = "1.3.6.1.4.1.57683.2";

/**
 * Reads the identity in a verified certificate: its common name is the user, its organizations are the groups. A
 * certificate that does not verify (other CA, expired, not for clients) gives a stranger. So does more than one uid, or
 * an empty one. No certificate, or not exactly one common name, gives undefined. With a CA for proxies, its
 * certificates give front proxies and never clients. Certificates of neither CA give strangers.
 */
export function peerReader({ ca, frontProxyCa }: PeerAuthorities): PeerReader {
  const roleOf = frontProxyCa === undefined ? (): Role => "client" : roleReader(ca, frontProxyCa);
  return (socket) => {
    if (!socket.authorized) return hasCertificate(socket) ? STRANGER : undefined;
    const client = clientOf(socket);
    const role = client === undefined ? "client" : roleOf(socket);
    if (client === undefined || client === STRANGER || role === "client") return client;
    return role === "stranger" ? STRANGER : { ...client, role };
  };
}

type Role = "client" | "front-proxy" | "stranger";

function roleReader(ca: string, frontProxyCa: string): (socket: TLSSocket) => Role {
  const clients = fingerprints(ca);
  const proxies = fingerprints(frontProxyCa);
  return (socket) => {
    const chain = chainOf(socket);
    // One CA for both purposes gives clients: a client must never pass for a proxy.
    if (chain.some((print) => clients.has(print))) return "client";
    return chain.some((print) => proxies.has(print)) ? "front-proxy" : "stranger";
  };
}

function hasCertificate(socket: TLSSocket): boolean {
  return Object.keys(socket.getPeerCertificate()).length > 0;
}

function clientOf(socket: TLSSocket): PeerIdentity | undefined {
  // Typed as always present, but a resumed session without a certificate has an empty one.
  const certificate = socket.getPeerCertificate();
  const subject: Readonly<Record<string, unknown>> = { ...certificate.subject };
  const [user, ...others] = texts(subject["CN"]);
  if (user === undefined || user === "" || others.length > 0) return undefined;
  const [uid, ...otherUids] = texts(subject[UID_ATTRIBUTE]);
  if (uid === "" || otherUids.length > 0) return STRANGER;
  const fingerprint = certificate.fingerprint256.replaceAll(":", "").toLowerCase();
  const expiresAt = Date.parse(certificate.valid_to);
  const identity = { user, groups: texts(subject["O"]), fingerprint, expiresAt };
  return uid === undefined ? identity : { ...identity, uid };
}

/** Longer than any chain in use. */
const CHAIN_MAX = 16;

/** Fingerprints from the certificate up to the CA that this server trusts. */
function chainOf(socket: TLSSocket): readonly string[] {
  const chain: string[] = [];
  let link: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  while (link?.fingerprint256 !== undefined && chain.length < CHAIN_MAX) {
    if (chain.includes(link.fingerprint256)) break;
    chain.push(link.fingerprint256);
    link = link.issuerCertificate;
  }
  return chain;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

function fingerprints(pem: string): ReadonlySet<string> {
  return new Set((pem.match(CERTIFICATE) ?? []).map((each) => new X509Certificate(each).fingerprint256));
}

/** A single value is a string, several are an array. */
function texts(value: unknown): readonly string[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((one) => typeof one === "string");
}
