/**
 * Tracks the live servers of a shared store. Each server holds a key named after its address that expires unless renewed. Key and
 * value have kube-apiserver's form, so that servers of both kinds see each other.
 */
import { findIpAddress } from "../../../api/values/ip-address.ts";
import { isStoreError } from "../../../store/store-error.ts";
import { prefixEnd } from "../../../store/store.ts";
import type { Store } from "../../../store/store.ts";
import type { PeriodicTask } from "../periodic-task.ts";

export const SERVER_LEASES = "/registry/masterleases/";
/** Same as kube-apiserver's. Clients may still be sent to a dead server for this long. */
const TTL_MS = 15_000;
/** Two renewals may fail before the lease expires. */
const RENEWAL_MS = 5_000;
/** Upper bound of the addresses in an EndpointSlice. */
const SERVERS_MAX = 1000;

export class ServerLease {
  readonly #store: Store;
  readonly #address: string;
  readonly #key: string;
  /** Revision of the last renewal; 0 before the first. */
  #revision = 0;

  /** `address` is the one under which other machines reach this server. */
  constructor(store: Store, address: string) {
    this.#store = store;
    this.#address = address;
    this.#key = SERVER_LEASES + address;
  }

  /** Sorted addresses of all live servers of this server's address family, always including its own. */
  addresses(): readonly string[] {
    const found = new Set([this.#address]);
    const family = findIpAddress(this.#address)?.family;
    for (const { key } of this.#store.view.range(SERVER_LEASES, prefixEnd(SERVER_LEASES))) {
      const address = key.slice(SERVER_LEASES.length);
      if (found.size < SERVERS_MAX && findIpAddress(address)?.family === family) found.add(address);
    }
    return [...found].toSorted();
  }

  task(): PeriodicTask {
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

  /** Keeps the key if another server at this address has renewed it since. */
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
