/**
 * This process's writes in flight. Writes to one key go to etcd in call order, each judged after the previous one is
 * visible. The feed's entries for them are collected here.
 */
import { StoreError } from "../store-error.ts";
import type { Change, Entry, Transaction } from "../store.ts";

/** Upper bound of waiting writes; more would only wait longer. */
const MAX_WRITES = 4096;

/** A write that has been sent. */
export interface OwnWrite {
  /** Entries that the feed delivered for its keys since it was sent, including those of other writers. */
  readonly seen: readonly Entry[];
}

interface Active {
  readonly puts: ReadonlyMap<string, Change & { type: "put" }>;
  readonly seen: Entry[];
}

export class OwnWrites {
  /** Settles with the last queued write of each key; never rejects. */
  readonly #last = new Map<string, Promise<void>>();
  /** The sent write of each key; at most one. */
  readonly #active = new Map<string, Active>();
  readonly #all = new Set<Promise<void>>();

  /** Settles, without an error, when no write that was queued before this call is in flight for the key. */
  turn(key: string): Promise<void> | undefined {
    return this.#last.get(key);
  }

  /** Calls `send` when the earlier writes of its keys have ended. Throws `Overloaded`. */
  async run<T>(transaction: Transaction, send: (write: OwnWrite) => Promise<T>): Promise<T> {
    if (this.#all.size >= MAX_WRITES) {
      throw new StoreError("Overloaded", "too many writes wait for etcd: try again later");
    }
    const earlier = this.#earlier(transaction);
    const result =
      earlier.length === 0 ? this.#send(transaction, send) : this.#later(transaction, { earlier, send });
    const end: Promise<void> = result.then(
      () => this.#finish(transaction, end),
      () => this.#finish(transaction, end),
    );
    this.#all.add(end);
    for (const { key } of transaction.changes) this.#last.set(key, end);
    return result;
  }

  /** Called for each entry before it becomes visible. Gives the entry the writer's slot when the value is the writer's. */
  noteEntry(entry: Entry): void {
    const write = this.#active.get(entry.key);
    if (write === undefined) return;
    write.seen.push(entry);
    const put = write.puts.get(entry.key);
    if (put?.slot !== undefined && Buffer.compare(put.value, entry.value) === 0) entry.slot = put.slot;
  }

  /** Settles when all writes queued before this call have ended. */
  async drained(): Promise<void> {
    await Promise.all(this.#all);
  }

  /**
   * A transaction that compares a key waits for the writers of the key. Transactions that only compare the key do not
   * wait for each other.
   */
  #earlier({ changes, compare = [] }: Transaction): Promise<void>[] {
    const ends = [...changes, ...compare].map(({ key }) => this.#last.get(key));
    return [...new Set(ends)].filter((end) => end !== undefined);
  }

  async #later<T>(
    transaction: Transaction,
    { earlier, send }: { earlier: Promise<void>[]; send: (write: OwnWrite) => Promise<T> },
  ): Promise<T> {
    await Promise.all(earlier);
    return this.#send(transaction, send);
  }

  async #send<T>({ changes }: Transaction, send: (write: OwnWrite) => Promise<T>): Promise<T> {
    const puts = changes.filter((change) => change.type === "put");
    const active: Active = { puts: new Map(puts.map((put) => [put.key, put])), seen: [] };
    for (const { key } of puts) this.#active.set(key, active);
    try {
      return await send(active);
    } finally {
      for (const { key } of puts) this.#active.delete(key);
    }
  }

  #finish({ changes }: Transaction, end: Promise<void>): void {
    this.#all.delete(end);
    for (const { key } of changes) if (this.#last.get(key) === end) this.#last.delete(key);
  }
}
