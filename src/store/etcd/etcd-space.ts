/**
 * Quotas of the store over etcd: the one of this process, which holds everything in memory, and etcd's own, which only
 * shows when etcd refuses a write.
 */
import type { Mirror } from "../mirror.ts";
import { growthOf, SpaceQuota } from "../space.ts";
import type { Growth } from "../space.ts";
import { isStoreError } from "../store-error.ts";
import type { Entry, StoreSpace, Transaction } from "../store.ts";

export class EtcdSpace {
  readonly #mirror: Mirror;
  readonly #quota: SpaceQuota;
  /** Growth by writes in flight: etcd may have executed them before memory shows them. */
  #underWayBytes = 0;
  /** Whether etcd refused the last put: while its alarm is raised it accepts only deletions. */
  #isRefused = false;

  constructor(mirror: Mirror, quotaBytes: number | undefined) {
    this.#mirror = mirror;
    this.#quota = new SpaceQuota(quotaBytes);
  }

  look(): StoreSpace {
    if (this.#quota.look(this.#usedBytes).isFull) this.#mirror.expire();
    const space = this.#quota.look(this.#usedBytes);
    return { ...space, isFull: space.isFull || this.#isRefused };
  }

  /** Throws `NoSpace` at once when the quota of this process is reached, and after `write` when etcd's is. */
  async during<T>(transaction: Transaction, write: () => Promise<T>): Promise<T> {
    const growth = this.#growthOf(transaction);
    if (!this.#quota.hasRoom(this.#usedBytes, growth, transaction)) {
      this.#mirror.expire();
      if (!this.#quota.hasRoom(this.#usedBytes, growth, transaction)) throw this.#quota.refusal();
    }
    const added = Math.max(0, growth.bytes);
    this.#underWayBytes += added;
    try {
      const written = await write();
      if (transaction.changes.some(({ type }) => type === "put")) this.#isRefused = false;
      return written;
    } catch (error) {
      if (isStoreError(error, "NoSpace")) this.#isRefused = true;
      throw error;
    } finally {
      this.#underWayBytes -= added;
    }
  }

  get #usedBytes(): number {
    return this.#mirror.usedBytes + this.#underWayBytes;
  }

  /** Growth estimated from the state in memory. */
  #growthOf({ changes }: Transaction): Growth {
    const before = (key: string): Entry | undefined => this.#mirror.state.get(key);
    return growthOf(
      changes.map((change) => ({
        before: before(change.key),
        after: change.type === "put" ? change : undefined,
      })),
    );
  }
}
