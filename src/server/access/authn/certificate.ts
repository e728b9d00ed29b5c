/** By the certificate of the connection, which was checked when it was opened. */
import type { PeerIdentity } from "../../request/http.ts";
import type { User } from "../../request/user.ts";
import type { Authenticator } from "./authenticator.ts";

/** Front proxies and strangers are nobody themselves. */
export const certificate: Authenticator = {
  authenticate: ({ peer }) => (peer === undefined || peer.role !== undefined ? undefined : userOf(peer)),
};

/** Tells apart the credentials that one user has. */
const CREDENTIAL = "authentication.kubernetes.io/credential-id";

/** One for all requests of a connection. */
const users = new WeakMap<PeerIdentity, User>();

function userOf(peer: PeerIdentity): User {
  const known = users.get(peer);
  if (known !== undefined) return known;
  const groups = [...peer.groups, "system:authenticated"];
  const { fingerprint } = peer;
  const extra = fingerprint === undefined ? {} : { [CREDENTIAL]: [`X509SHA256=${fingerprint}`] };
  const user = { name: peer.user, uid: peer.uid ?? "", groups, extra };
  users.set(peer, user);
  return user;
}
