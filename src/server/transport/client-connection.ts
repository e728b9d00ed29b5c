/** The client of one connection: its verified identity, and the owner under which its requests are queued. */
import type { Loop } from "../../base/loop/loop.ts";
import { FRONT_PROXY_HEADERS } from "../request/front-proxy-headers.ts";
import type { PeerIdentity } from "../request/http.ts";
import { addressBlock } from "./address-block.ts";
import type { KnownCredentials } from "./known-credentials.ts";
import { STRANGER } from "./peer.ts";
import type { QueueOwner } from "./queue-owner.ts";

export interface ClientConnectionOptions {
  readonly loop: Loop;
  /** Identity in the client certificate. */
  readonly peer: PeerIdentity | undefined;
  readonly remoteAddress: string | undefined;
  /** Unique among the connections of a listener. */
  readonly number: number;
  readonly credentials: KnownCredentials;
}

interface Verified {
  readonly credential: string;
  readonly owner: QueueOwner;
}

export class ClientConnection {
  readonly #options: ClientConnectionOptions;
  /** Owner until the client is verified. */
  readonly #stranger: QueueOwner;
  /** Owner by the certificate or by the last request. */
  #owner: QueueOwner | undefined;
  /** Last credential verified on this connection. Clients send the same one with each request. */
  #last: Verified | undefined;
  #isTrusted = false;
  readonly #whenTrusted: (() => void)[] = [];

  constructor(options: ClientConnectionOptions) {
    const { peer, remoteAddress, number } = options;
    this.#options = options;
    this.#stranger = { user: undefined, path: [addressBlock(remoteAddress), String(number)] };
    if (peer !== undefined && peer.role !== "stranger") this.#trust();
  }

  /** Undefined without a certificate, a stranger once the certificate has expired. */
  get peer(): PeerIdentity | undefined {
    const { peer, loop } = this.#options;
    return peer?.expiresAt !== undefined && peer.expiresAt < loop.now() ? STRANGER : peer;
  }

  /** Calls `step` once a certificate or a request on this connection was verified. */
  whenTrusted(step: () => void): void {
    if (this.#isTrusted) step();
    else this.#whenTrusted.push(step);
  }

  /** The owner of a queued request, by certificate and headers. `readHeaders` is called only when headers decide. */
  ownerOf(peer: PeerIdentity | undefined, readHeaders: () => ReadonlyMap<string, string>): QueueOwner {
    if (peer !== undefined && peer.role === undefined) return this.#ownedBy(peer.user);
    const headers = readHeaders();
    if (peer?.role === "front-proxy") return this.#ownedBy(proxiedUser(headers) ?? peer.user);
    const credential = headers.get("authorization");
    if (credential === undefined) return this.#stranger;
    if (credential === this.#last?.credential) return this.#last.owner;
    const user = this.#options.credentials.find(credential);
    return user === undefined ? this.#stranger : this.#remember(credential, user);
  }

  /**
   * Records that these headers belong to `user`. Later requests with the same credential are queued for the user at once.
   */
  verified(headers: ReadonlyMap<string, string>, user: string): QueueOwner {
    this.#trust();
    const { peer } = this.#options;
    const credential = headers.get("authorization");
    // The header identifies the client only where the certificate does not.
    const isIdentity = peer === undefined || peer.role === "stranger";
    if (credential === undefined || !isIdentity) return this.#ownedBy(user);
    this.#options.credentials.learn(credential, user);
    return this.#remember(credential, user);
  }

  /** Forgets a refused credential: it may have expired or been revoked since it was verified. */
  refused(headers: ReadonlyMap<string, string>): void {
    const credential = headers.get("authorization");
    if (credential === undefined) return;
    if (credential === this.#last?.credential) this.#last = undefined;
    this.#options.credentials.forget(credential);
  }

  #remember(credential: string, user: string): QueueOwner {
    const owner = this.#ownedBy(user);
    this.#last = { credential, owner };
    return owner;
  }

  /** Reuses the last owner: most connections carry requests of one user. */
  #ownedBy(user: string): QueueOwner {
    if (this.#owner?.user !== user) this.#owner = { user, path: this.#stranger.path };
    return this.#owner;
  }

  #trust(): void {
    this.#isTrusted = true;
    for (const step of this.#whenTrusted.splice(0)) step();
  }
}

/** A front proxy has verified the user that it names. */
function proxiedUser(headers: ReadonlyMap<string, string>): string | undefined {
  const named = headers.get(FRONT_PROXY_HEADERS.user);
  return named === "" ? undefined : named;
}
