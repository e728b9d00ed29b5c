/** A transaction of the contract in etcd's words. */
import { StoreError } from "../store-error.ts";
import { MAX_CHANGES, type Change, type Transaction, type View } from "../store.ts";
import type { Keyspace } from "./keyspace.ts";
import {
  EQUAL,
  keyBytes,
  TARGET_MOD,
  type RequestOp,
  type TxnRequest,
  type TxnResponse,
} from "./wire/protocol.ts";

/** Half a character has no bytes of its own: another key would be written. */
const UNPAIRED_SURROGATE = /\p{Surrogate}/u;

/** Throws `InvalidTransaction`, so that nothing reaches etcd which the other engines would refuse. */
export function checkTransaction({ changes, compare = [] }: Transaction, keyspace: Keyspace): void {
  if (changes.length === 0 || changes.length > MAX_CHANGES || compare.length > MAX_CHANGES) {
    const found = `${String(changes.length)} changes, ${String(compare.length)} comparisons`;
    throw invalid(`expected 1 to ${String(MAX_CHANGES)} changes and no more comparisons, found ${found}`);
  }
  if (new Set(changes.map((change) => change.key)).size < changes.length) {
    throw invalid("expected each key in one change, found one in several");
  }
  for (const { key } of changes) {
    if (!keyspace.has(key) || key === "" || UNPAIRED_SURROGATE.test(key)) {
      throw invalid(`expected a key under ${keyspace.prefix}, found ${JSON.stringify(key)}`);
    }
  }
}

/** Writes of a time to live name their lease in `leases`. */
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

/** Deleting what is not there makes no revision. */
export function hasChanged({ responses }: TxnResponse): boolean {
  return responses.some(
    (response) => response.response_put !== undefined || (response.response_delete_range?.deleted ?? 0) > 0,
  );
}

/** The first comparison that fails in this view, in words. */
export function findMismatch({ compare = [] }: Transaction, view: View): string | undefined {
  for (const { key, modRevision } of compare) {
    const found = view.get(key)?.modRevision ?? 0;
    if (found !== modRevision) {
      return `expected ${key} at revision ${String(modRevision)}, found ${String(found)}`;
    }
  }
  return undefined;
}

function invalid(message: string): StoreError {
  return new StoreError("InvalidTransaction", message);
}
