/** Tests that need a peer; find-peer.ts finds it. */
import { describe, test } from "vitest";
import { findPeer, type PeerName } from "./find-peer.ts";

/** A `describe` whose body gets the peer's path; without the peer it is one skipped, or one failing, test. */
export function describePeer(name: PeerName, title: string, body: (path: string) => void): void {
  const peer = findPeer(name);
  describe(title, () => {
    if (peer.state === "available") body(peer.path);
    else
      test.skipIf(peer.state === "missing")(peer.message, () => {
        throw new Error(`${peer.message} (SETPOINT_REQUIRE_PEERS=1 does not allow skipping)`);
      });
  });
}
