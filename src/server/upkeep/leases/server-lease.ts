/**
 * Which servers live, told through the store that they share. Each holds a key named after its address that ends by itself
 * unless it is renewed, under the name and in the form of kube-apiserver, so that servers of both kinds see each other.
 */
import { findIpAddress } from "../../../api/values/ip-address.ts";
import { isStoreError } from "../../../store/store-error.ts";
import { prefixEnd } from "../../../store/store.ts";
import type { Store } from "../../../store/store.ts";
import type { Routine } from "../periodic-task.ts";

export const SERVER_LEASES = "/registry/masterleases/";
/** As kube-apiserver's: so long after a server dies, clients are still sent to it. */
const TTL_MS = 15_000;
/** Two renewals may be lost before the lease ends. */
const RENEWAL_MS = 5_000;
/** An EndpointSlice takes no more. */
const SERVERS_MAX = 1000;

export class ServerLease {
  readonly #store: Store;
  readonly #address: string;
  readonly #key: string;
  /** Of the last renewal; 0 before the first. */
  #revision = 0;

  /** The address is the one under which other machines reach this server. */
  constructor(store: Store, address: string) {
    this.#store = store;
    this.#address = address;
    this.#key = SERVER_LEASES + address;
  }

  /** The addresses of all live servers in order, this one's always among them, of its family only. */
  addresses(): readonly string[] {
    const found = new Set([this.#address]);
    const family = findIpAddress(this.#address)?.family;
    for (const { key } of this.#store.view.range(SERVER_LEASES, prefixEnd(SERVER_LEASES))) {
      const address = key.slice(SERVER_LEASES.length);
      if (found.size < SERVERS_MAX && findIpAddress(address)?.family === family) found.add(address);
    }
    return [...found].toSorted();
  }

  routine(): Routine {
    return {
      name: "server lease",
      firstAfterMs: RENEWAL_MS,
      everyMs: RENEWAL_MS,
      begin: () => this.#renew(),
      perform: () => this.#renew(),
      end: () => this.#release(),
    };
  }

  async #renew(): Promise<void> {
    const value = Buffer.from(
      JSON.stringify({
        kind: "Endpoints",
        apiVersion: "v1",
        metadata: { creationTimestamp: null },
        subsets: [{ addresses: [{ ip: this.#address }] }],
      }),
    );
    const change = { type: "put", key: this.#key, value, ttlMs: TTL_MS } as const;
    this.#revision = (await this.#store.write({ changes: [change], purpose: "upkeep" })).revision;
  }

  /** Not one that another server at this address has renewed since. */
  async #release(): Promise<void> {
    try {
      await this.#store.write({
        compare: [{ key: this.#key, modRevision: this.#revision }],
        changes: [{ type: "delete", key: this.#key }],
      });
    } catch (error) {
      if (!isStoreError(error, "ConditionFailed")) throw error;
    }
  }
}
