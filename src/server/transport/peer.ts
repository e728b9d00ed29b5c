/** Who is at the other end of a connection, by the certificate it showed. */
import type { TLSSocket } from "node:tls";
import type { PeerIdentity } from "../http.ts";

/**
 * The identity that a verified certificate states: its common name is the user, its organizations are the groups. A
 * certificate that does not verify (other authority, expired, not made for clients), none at all, and one without
 * exactly one common name state nobody. Dear, so called once per connection.
 */
export function peerIdentity(socket: TLSSocket): PeerIdentity | undefined {
  if (!socket.authorized) return undefined;
  // Typed as always there; a resumed session that never showed a certificate has an empty one.
  const subject: { readonly CN?: unknown; readonly O?: unknown } | undefined =
    socket.getPeerCertificate().subject;
  if (subject === undefined) return undefined;
  const [user, ...others] = texts(subject.CN);
  if (user === undefined || user === "" || others.length > 0) return undefined;
  return { user, groups: texts(subject.O) };
}

/** One value is given as a text, several as a list. */
function texts(value: unknown): readonly string[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((one) => typeof one === "string");
}
