/** Who is at the other end of a connection, by the certificate it showed. */
import { X509Certificate } from "node:crypto";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import type { Loop } from "../../base/loop/loop.ts";
import type { PeerIdentity } from "../request/http.ts";

/** Dear, so called once per connection; `currentPeer` is asked for each request. */
export type PeerReader = (socket: TLSSocket) => PeerIdentity | undefined;

export interface PeerAuthorities {
  /** PEM, of those who vouch for clients. */
  readonly ca: string;
  /** PEM, of those who vouch for proxies. */
  readonly frontProxyCa?: string;
}

/** Who shows a certificate and cannot be who it says is told so, not taken for somebody who says nothing. */
const STRANGER: PeerIdentity = { user: "", groups: [], role: "stranger" };

/** The part of a subject that is the user's uid, of the number that is assigned to Kubernetes. */
const UID_ATTRIBUTE = "1.3.6.1.4.1.57683.2";

/**
 * The identity that a verified certificate states: its common name is the user, its organizations are the groups. One that does not
 * verify (other authority, expired, not made for clients) states a stranger, as one with more than one uid or an empty one does; none at all and one without exactly one common name states nobody.
 * Where proxies have an authority of their own, what it has signed is a proxy and never a client; what cannot be traced to either is a
 * stranger.
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

/** Who they are by now: a certificate may end while its connection goes on. */
export function currentPeer(peer: PeerIdentity | undefined, loop: Loop): PeerIdentity | undefined {
  return peer?.expiresAt !== undefined && peer.expiresAt < loop.now() ? STRANGER : peer;
}

type Role = "client" | "front-proxy" | "stranger";

function roleReader(ca: string, frontProxyCa: string): (socket: TLSSocket) => Role {
  const clients = fingerprints(ca);
  const proxies = fingerprints(frontProxyCa);
  return (socket) => {
    const chain = chainOf(socket);
    // One authority for both purposes makes clients: a client must never pass for a proxy.
    if (chain.some((print) => clients.has(print))) return "client";
    return chain.some((print) => proxies.has(print)) ? "front-proxy" : "stranger";
  };
}

function hasCertificate(socket: TLSSocket): boolean {
  return Object.keys(socket.getPeerCertificate()).length > 0;
}

function clientOf(socket: TLSSocket): PeerIdentity | undefined {
  // Typed as always there; a resumed session that never showed a certificate has an empty one.
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

/** More links than any chain in use has. */
const CHAIN_MAX = 16;

/** From the certificate up to the authority that this server trusts, as fingerprints. */
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

/** One value is given as a text, several as a list. */
function texts(value: unknown): readonly string[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((one) => typeof one === "string");
}
