/** Translates a transaction of the contract into etcd's protocol. */
import { StoreError } from "../store-error.ts";
import type { Change, Transaction, View } from "../store.ts";
import { checkTransaction } from "../transaction.ts";
import type { Keyspace } from "./keyspace.ts";
import {
  EQUAL,
  keyBytes,
  TARGET_MOD,
  type RequestOp,
  type TxnRequest,
  type TxnResponse,
} from "./wire/etcd-protocol.ts";

/** Throws `InvalidTransaction` for a transaction that the other engines would refuse; etcd never gets it. */
export function checkEtcdTransaction(transaction: Transaction, keyspace: Keyspace): void {
  checkTransaction(transaction);
  const foreign = transaction.changes.find(({ key }) => !keyspace.has(key));
  if (foreign === undefined) return;
  throw new StoreError(
    "InvalidTransaction",
    `expected a key under ${keyspace.prefix}, found ${JSON.stringify(foreign.key)}`,
  );
}

/** `leases` gives the lease of each lifetime. */
export function toTxn(
  { compare = [], changes }: Transaction,
  leases: ReadonlyMap<number, number>,
): TxnRequest {
  return {
    compare: compare.map(({ key, modRevision }) => ({
      result: EQUAL,
      target: TARGET_MOD,
      key: keyBytes(key),
      mod_revision: modRevision,
    })),
    success: changes.map((change) => toOp(change, leases)),
  };
}

function toOp(change: Change, leases: ReadonlyMap<number, number>): RequestOp {
  const key = keyBytes(change.key);
  if (change.type === "delete") return { request_delete_range: { key } };
  const lease = change.ttlMs === undefined ? undefined : leases.get(change.ttlMs);
  return { request_put: { key, value: change.value, ...(lease !== undefined && { lease }) } };
}

/** Deleting a missing key makes no revision. */
export function hasChanged({ responses }: TxnResponse): boolean {
  return responses.some(
    (response) => response.response_put !== undefined || (response.response_delete_range?.deleted ?? 0) > 0,
  );
}

/** Describes the first comparison that fails in this view. */
export function findMismatch({ compare = [] }: Transaction, view: View): string | undefined {
  for (const { key, modRevision } of compare) {
    const found = view.get(key)?.modRevision ?? 0;
    if (found !== modRevision) {
      return `expected ${key} at revision ${String(modRevision)}, found ${String(found)}`;
    }
  }
  return undefined;
}
