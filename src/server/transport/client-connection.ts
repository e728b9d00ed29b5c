/** The client at the other end of a connection: who it is, as far as that is verified, and whose turns its requests take. */
import type { Loop } from "../../base/loop/loop.ts";
import { FRONT_PROXY_HEADERS } from "../request/front-proxy-headers.ts";
import type { PeerIdentity } from "../request/http.ts";
import { addressBlock } from "./address-block.ts";
import type { KnownCredentials } from "./known-credentials.ts";
import { currentPeer } from "./peer.ts";
import type { TurnOwner } from "./turns.ts";

export interface ClientConnectionOptions {
  readonly loop: Loop;
  /** Of the client certificate. */
  readonly peer: PeerIdentity | undefined;
  readonly remoteAddress: string | undefined;
  /** Unique among the connections of a listener. */
  readonly number: number;
  readonly credentials: KnownCredentials;
}

interface Verified {
  readonly credential: string;
  readonly owner: TurnOwner;
}

export class ClientConnection {
  readonly #options: ClientConnectionOptions;
  /** Until something verifies the client. */
  readonly #stranger: TurnOwner;
  /** Of the certificate, or of the last request. */
  #owner: TurnOwner | undefined;
  /** The last credential that was verified here: clients send the same one with each request. */
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
    return currentPeer(this.#options.peer, this.#options.loop);
  }

  /** Calls `step` once a certificate or a request on this connection was verified. */
  whenTrusted(step: () => void): void {
    if (this.#isTrusted) step();
    else this.#whenTrusted.push(step);
  }

  /** Whose turn a request takes by its certificate and headers. `readHeaders` is called only when they decide. */
  ownerOf(peer: PeerIdentity | undefined, readHeaders: () => ReadonlyMap<string, string>): TurnOwner {
    if (peer !== undefined && peer.role === undefined) return this.#ownedBy(peer.user);
    const headers = readHeaders();
    if (peer?.role === "front-proxy") return this.#ownedBy(proxiedUser(headers) ?? peer.user);
    const credential = headers.get("authorization");
    if (credential === undefined) return this.#stranger;
    if (credential === this.#last?.credential) return this.#last.owner;
    const user = this.#options.credentials.find(credential);
    return user === undefined ? this.#stranger : this.#remember(credential, user);
  }

  /** The request with these headers is this user's: later ones with the same credential take its turns at once. */
  verified(headers: ReadonlyMap<string, string>, user: string): TurnOwner {
    this.#trust();
    const { peer } = this.#options;
    const credential = headers.get("authorization");
    // Only a client that the certificate does not identify is identified by this header.
    const isIdentity = peer === undefined || peer.role === "stranger";
    if (credential === undefined || !isIdentity) return this.#ownedBy(user);
    this.#options.credentials.learn(credential, user);
    return this.#remember(credential, user);
  }

  /** The credential was refused: it may have expired or been revoked since it was verified. */
  refused(headers: ReadonlyMap<string, string>): void {
    const credential = headers.get("authorization");
    if (credential === undefined) return;
    if (credential === this.#last?.credential) this.#last = undefined;
    this.#options.credentials.forget(credential);
  }

  #remember(credential: string, user: string): TurnOwner {
    const owner = this.#ownedBy(user);
    this.#last = { credential, owner };
    return owner;
  }

  /** Mostly the same one for all requests of a connection. */
  #ownedBy(user: string): TurnOwner {
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
