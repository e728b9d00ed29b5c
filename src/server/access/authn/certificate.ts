/** Authenticates by the client certificate, which TLS has verified. */
import type { PeerIdentity } from "../../request/http.ts";
import type { User } from "../../request/user.ts";
import type { Authenticator } from "./authenticator.ts";

/** Front proxies and unknown certificates are no users. */
export const certificate: Authenticator = {
  authenticate: ({ peer }) => (peer === undefined || peer.role !== undefined ? undefined : userOf(peer)),
};

/** Key that distinguishes the credentials of one user. */
const CREDENTIAL = "authentication.kubernetes.io/credential-id";

/** One User object for all requests of a connection. */
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
