/** Sends transactions to etcd, and answers once memory shows their effect. */
import type { Loop } from "../../base/loop/loop.ts";
import type { Mirror } from "../mirror.ts";
import { isStoreError, StoreError } from "../store-error.ts";
import type { Change, Committed, Entry, Transaction, View } from "../store.ts";
import type { ConditionVariable } from "./condition-variable.ts";
import { checkEtcdTransaction, findMismatch, hasChanged, toTxn } from "./etcd-transaction.ts";
import type { Keyspace } from "./keyspace.ts";
import { Leases } from "./leases.ts";
import { OwnWrites, type OwnWrite } from "./own-writes.ts";
import { readSnapshot } from "./snapshot.ts";
import type { EtcdConnection } from "./wire/etcd-connection.ts";
import { isLeaseNotFound, revisionWentBack } from "./wire/etcd-error.ts";
import { RANGE, TXN, type TxnResponse } from "./wire/etcd-protocol.ts";

export interface EtcdWriterOptions {
  readonly loop: Loop;
  readonly connection: EtcdConnection;
  readonly keyspace: Keyspace;
  readonly mirror: Mirror;
  readonly condition: ConditionVariable;
}

interface Unanswered {
  readonly write: OwnWrite;
  readonly deadline: number;
  /** The error of etcd. */
  readonly error: StoreError;
  /** State in memory when the transaction was sent. */
  readonly before: View;
}

/** A write that etcd has executed. */
interface Done extends Pick<Unanswered, "write" | "deadline" | "before"> {
  readonly revision: number;
}

type Put = Change & { readonly type: "put" };

export class EtcdWriter {
  readonly #options: EtcdWriterOptions;
  readonly #leases: Leases;
  readonly #writes = new OwnWrites();

  constructor(options: EtcdWriterOptions) {
    this.#options = options;
    this.#leases = new Leases(options.loop, options.connection);
  }

  turn(key: string): Promise<void> | undefined {
    return this.#writes.turn(key);
  }

  /** Called for each entry before it becomes visible. */
  noteEntry(entry: Entry): void {
    this.#writes.noteEntry(entry);
  }

  drained(): Promise<void> {
    return this.#writes.drained();
  }

  /** Implements the contract's `write`. The request timeout includes the wait for earlier writes to the same keys. */
  async write(transaction: Transaction): Promise<Committed> {
    const { loop, connection } = this.#options;
    checkEtcdTransaction(transaction, this.#options.keyspace);
    const deadline = loop.now() + connection.requestTimeoutMs;
    return this.#writes.run(transaction, async (write) => {
      const before = this.#options.mirror.state;
      let response: TxnResponse;
      try {
        response = await this.#send(transaction, deadline);
      } catch (error) {
        if (!isStoreError(error, "NoSpace")) throw error;
        return await this.#full(transaction, { write, deadline, error, before });
      }
      if (!response.succeeded) throw await this.#conditionFailed(transaction, response, deadline);
      if (!hasChanged(response)) return await this.#unchanged(transaction, response, deadline);
      const { revision } = response.header;
      return await this.#committed(transaction, { write, revision, deadline, before });
    });
  }

  async #send(transaction: Transaction, deadline: number): Promise<TxnResponse> {
    const { loop, connection, mirror } = this.#options;
    const ttls = keysByTtl(transaction);
    for (let attempt = 1; ; attempt++) {
      const leases = new Map<number, number>();
      for (const [ttlMs, keys] of ttls) leases.set(ttlMs, await this.#leases.take(ttlMs, keys));
      const leftMs = deadline - loop.now();
      if (leftMs <= 0) throw new StoreError("Unavailable", "earlier writes to the same key took too long");
      const { revision } = mirror;
      try {
        const response = await connection.call(TXN, toTxn(transaction, leases), leftMs);
        checkProgress(response, revision);
        return response;
      } catch (error) {
        if (!isLeaseNotFound(error) || attempt > 1) throw error;
        for (const ttlMs of leases.keys()) this.#leases.forget(ttlMs);
      }
    }
  }

  /**
   * The caller reads memory to learn the reason and retries at once. The error is returned only once memory shows the
   * conflict.
   */
  async #conditionFailed(
    transaction: Transaction,
    { header }: TxnResponse,
    deadline: number,
  ): Promise<StoreError> {
    const { mirror, condition } = this.#options;
    const mismatch = (): string | undefined => findMismatch(transaction, mirror.state);
    const isShown = (): boolean => mirror.revision >= header.revision || mismatch() !== undefined;
    if (await condition.wait(isShown, deadline))
      return new StoreError("ConditionFailed", mismatch() ?? "a key was changed by another writer");
    const message = "etcd refused the write over a newer change, which the watch on etcd has not delivered";
    return new StoreError("Unavailable", message);
  }

  async #unchanged(transaction: Transaction, { header }: TxnResponse, deadline: number): Promise<Committed> {
    const { mirror, condition } = this.#options;
    const isGone = (): boolean => transaction.changes.every(({ key }) => mirror.state.get(key) === undefined);
    const isShown = (): boolean => mirror.revision >= header.revision || isGone();
    if (!(await condition.wait(isShown, deadline))) {
      const message =
        "etcd has nothing to delete, and the watch on etcd has not delivered the earlier deletion";
      throw new StoreError("Unavailable", message);
    }
    return { revision: mirror.revision, entries: transaction.changes.map(() => undefined) };
  }

  /**
   * Waits until memory shows the write. Answers success even if the watch on etcd is late: the client must not take an
   * executed write for a failed one. A fresh read still waits until memory has caught up.
   */
  async #committed({ changes }: Transaction, done: Done): Promise<Committed> {
    const { mirror, condition } = this.#options;
    const { revision, deadline, write } = done;
    const isShown = await condition.wait(() => mirror.revision >= revision, deadline);
    const entries: (Entry | undefined)[] = [];
    for (const [ordinal, change] of changes.entries()) {
      if (change.type === "delete") {
        entries.push(undefined);
        continue;
      }
      const seen = write.seen.find(({ key, modRevision }) => key === change.key && modRevision === revision);
      const found = seen ?? (isShown ? await this.#readWritten(change.key, revision) : undefined);
      entries.push(found ?? writtenEntry(change, ordinal, done));
    }
    return { revision, entries };
  }

  /** etcd may have executed a write although it reports no space; then the write is answered as usual. */
  async #full(transaction: Transaction, { write, deadline, error, before }: Unanswered): Promise<Committed> {
    const { mirror } = this.#options;
    if (!(await this.#isCaughtUp(deadline))) {
      const message = `${error.message}, and it is unknown whether etcd executed the write`;
      throw new StoreError("OutcomeUnknown", message, { cause: error });
    }
    const put = transaction.changes.find(({ type }) => type === "put");
    if (put?.type !== "put") throw error;
    const isTaken = ({ key, modRevision, value }: Entry): boolean =>
      key === put.key && modRevision > before.revision && Buffer.compare(value, put.value) === 0;
    const now = mirror.state.get(put.key);
    const taken = (now === undefined ? write.seen : [...write.seen, now]).find(isTaken);
    if (taken === undefined) throw error;
    return this.#committed(transaction, { write, revision: taken.modRevision, deadline, before });
  }

  /** Waits, and tells whether memory shows all that etcd has. */
  async #isCaughtUp(deadline: number): Promise<boolean> {
    const { connection, keyspace, mirror, condition } = this.#options;
    try {
      const { header } = await connection.call(RANGE, { key: keyspace.absentKey, count_only: true });
      return await condition.wait(() => mirror.revision >= header.revision, deadline);
    } catch (error) {
      if (!isStoreError(error, "Unavailable")) throw error;
      return false;
    }
  }

  /**
   * Reads the entry from etcd, for a mirror that was reloaded meanwhile and never got its event. Undefined when the
   * entry was replaced since and etcd no longer has it.
   */
  async #readWritten(key: string, revision: number): Promise<Entry | undefined> {
    const { connection, keyspace, mirror } = this.#options;
    const now = mirror.state.get(key);
    if (now?.modRevision === revision) return now;
    try {
      return (await readSnapshot(connection, { keyspace, prefix: key, revision })).get(key);
    } catch (error) {
      if (!isStoreError(error)) throw error;
      return undefined;
    }
  }
}

/**
 * Builds the entry of a put from local knowledge. `createRevision` and `version` are exact when the transaction
 * compared the key; otherwise they follow from the newest entry in memory.
 */
function writtenEntry({ key, value, slot }: Put, ordinal: number, { revision, before }: Done): Entry {
  const previous = before.get(key);
  return {
    key,
    value,
    createRevision: previous?.createRevision ?? revision,
    modRevision: revision,
    version: (previous?.version ?? 0) + 1,
    ordinal,
    expiresAt: undefined,
    slot,
  };
}

/** Throws `Damaged` when etcd's revision went back: its answers then describe another past. */
function checkProgress(response: TxnResponse, seen: number): void {
  const { revision } = response.header;
  const isNew = response.succeeded && hasChanged(response);
  if (revision < seen || (isNew && revision === seen)) throw revisionWentBack(seen, revision);
}

/** Number of written keys by their time to live. */
function keysByTtl({ changes }: Transaction): Map<number, number> {
  const keys = new Map<number, number>();
  for (const change of changes) {
    if (change.type === "delete" || change.ttlMs === undefined) continue;
    keys.set(change.ttlMs, (keys.get(change.ttlMs) ?? 0) + 1);
  }
  return keys;
}
