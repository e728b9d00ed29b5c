/**
 * The writes of this process that are under way. Writes to one key go to etcd one after the other, in the order of the
 * calls, and each is judged after the one before it is visible. The entries they make are caught as the feed brings them.
 */
import { StoreError } from "../store-error.ts";
import type { Change, Entry, Transaction } from "../store.ts";

/** More would only wait longer. */
const MAX_WRITES = 4096;

/** A write that is its keys' turn. */
export interface OwnWrite {
  /** What the feed brought for its keys since it was sent: entries of its own and of others. */
  readonly seen: readonly Entry[];
}

interface Active {
  readonly puts: ReadonlyMap<string, Change & { type: "put" }>;
  readonly seen: Entry[];
}

export class OwnWrites {
  /** The end of the last write in line for a key; never rejects. */
  readonly #last = new Map<string, Promise<void>>();
  /** The write that was sent for a key: one at a time. */
  readonly #active = new Map<string, Active>();
  readonly #all = new Set<Promise<void>>();

  /** Settles, without an error, when no write of before this call is under way for the key. */
  turn(key: string): Promise<void> | undefined {
    return this.#last.get(key);
  }

  /** Calls `send` when it is the transaction's turn. Throws `Overloaded`. */
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

  /** To be told of each entry before it becomes visible. Gives it the writer's slot when it is the writer's value. */
  saw(entry: Entry): void {
    const write = this.#active.get(entry.key);
    if (write === undefined) return;
    write.seen.push(entry);
    const put = write.puts.get(entry.key);
    if (put?.slot !== undefined && Buffer.compare(put.value, entry.value) === 0) entry.slot = put.slot;
  }

  /** Settles when none of the writes of before this call is under way. */
  async drained(): Promise<void> {
    await Promise.all(this.#all);
  }

  /** Whoever compares a key waits for those who write it; only writers of the same key wait for each other. */
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
