/**
 * The messages of etcd's protocol that the store uses, as plain objects and in binary form. Revisions, versions and
 * counts are JavaScript numbers: exact up to 2^53, which no etcd reaches.
 */
import protobuf from "protobufjs/light.js";
import { descriptors } from "./descriptors.ts";

export interface Header {
  /** Rounded, since it exceeds JavaScript's exact numbers: use it for comparisons only. */
  readonly cluster_id: number;
  readonly revision: number;
}

export interface KeyValue {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly create_revision: number;
  readonly mod_revision: number;
  readonly version: number;
}

export interface RangeRequest {
  readonly key: Uint8Array;
  readonly range_end?: Uint8Array;
  readonly limit?: number;
  readonly revision?: number;
  readonly keys_only?: boolean;
  readonly count_only?: boolean;
}

export interface RangeResponse {
  readonly header: Header;
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
  readonly count: number;
}

/** Values of the protocol's enumerations. */
export const EQUAL = 0;
export const TARGET_VERSION = 0;
export const TARGET_MOD = 2;
export const EVENT_DELETE = 1;

export type EtcdCompare =
  | {
      readonly result: typeof EQUAL;
      readonly target: typeof TARGET_MOD;
      readonly key: Uint8Array;
      readonly mod_revision: number;
    }
  | {
      readonly result: typeof EQUAL;
      readonly target: typeof TARGET_VERSION;
      readonly key: Uint8Array;
      readonly version: number;
    };

export type RequestOp =
  | { readonly request_range: RangeRequest }
  | {
      readonly request_put: {
        readonly key: Uint8Array;
        readonly value: Uint8Array;
        readonly lease?: number;
      };
    }
  | { readonly request_delete_range: { readonly key: Uint8Array } };

export interface ResponseOp {
  readonly response_range?: RangeResponse;
  readonly response_put?: object;
  readonly response_delete_range?: { readonly deleted: number };
}

export interface TxnRequest {
  readonly compare: readonly EtcdCompare[];
  readonly success: readonly RequestOp[];
  readonly failure?: readonly RequestOp[];
}

export interface TxnResponse {
  readonly header: Header;
  readonly succeeded: boolean;
  readonly responses: readonly ResponseOp[];
}

export type WatchRequest =
  | {
      readonly create_request: {
        readonly key: Uint8Array;
        readonly range_end: Uint8Array;
        readonly start_revision: number;
        readonly prev_kv?: boolean;
      };
    }
  | { readonly progress_request: object };

export interface WatchResponse {
  readonly header: Header;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compact_revision: number;
  readonly cancel_reason: string;
  readonly events: readonly EtcdEvent[];
}

export interface EtcdEvent {
  readonly type: number;
  readonly kv: KeyValue;
  readonly prev_kv: KeyValue | null;
}

export interface Method<Request, Response> {
  readonly path: string;
  /** A "write" that may have been executed must not be sent again. */
  readonly kind: "read" | "write";
  encode(this: void, request: Request): Buffer;
  decode(this: void, bytes: Buffer): Response;
}

const root = protobuf.Root.fromJSON(descriptors);

interface MethodOptions {
  /** `KV/Range` for messages RangeRequest and RangeResponse. */
  readonly path: string;
  readonly message: string;
  readonly kind: "read" | "write";
}

function method<Request extends object, Response>(options: MethodOptions): Method<Request, Response> {
  const { path, message, kind } = options;
  const requestType = root.lookupType(`etcdserverpb.${message}Request`);
  const responseType = root.lookupType(`etcdserverpb.${message}Response`);
  return {
    path: `/etcdserverpb.${path}`,
    kind,
    encode: (request) => Buffer.from(requestType.encode(request).finish()),
    // The only cast from bytes to a type; the descriptors guarantee it.
    decode: (bytes) =>
      responseType.toObject(responseType.decode(bytes), { longs: Number, defaults: true }) as Response,
  };
}

export const RANGE = method<RangeRequest, RangeResponse>({
  path: "KV/Range",
  message: "Range",
  kind: "read",
});
export const TXN = method<TxnRequest, TxnResponse>({ path: "KV/Txn", message: "Txn", kind: "write" });
export const COMPACT = method<{ readonly revision: number }, { readonly header: Header }>({
  path: "KV/Compact",
  message: "Compaction",
  kind: "write",
});
/** Safe to repeat, since the id is chosen here: a second try finds the id taken, which is no error. */
export const LEASE_GRANT = method<
  { readonly TTL: number; readonly ID: number },
  { readonly header: Header; readonly TTL: number }
>({ path: "Lease/LeaseGrant", message: "LeaseGrant", kind: "write" });
export const STATUS = method<object, { readonly version: string }>({
  path: "Maintenance/Status",
  message: "Status",
  kind: "read",
});
export const AUTHENTICATE = method<
  { readonly name: string; readonly password: string },
  { readonly token: string }
>({ path: "Auth/Authenticate", message: "Authenticate", kind: "read" });
export const WATCH = method<WatchRequest, WatchResponse>({
  path: "Watch/Watch",
  message: "Watch",
  kind: "read",
});

/** Range of all keys. */
export const ALL_KEYS = { key: new Uint8Array(1), range_end: new Uint8Array(1) };

export function keyBytes(key: string): Uint8Array {
  return Buffer.from(key, "utf8");
}

export function keyString(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/** Range of all keys that begin with `prefix`; its last byte must not be 0xff, which never occurs in UTF-8. */
export function prefixRange(prefix: string): { readonly key: Uint8Array; readonly range_end: Uint8Array } {
  if (prefix === "") return ALL_KEYS;
  const key = keyBytes(prefix);
  const end = Uint8Array.from(key);
  end[end.length - 1] = (end[end.length - 1] ?? 0) + 1;
  return { key, range_end: end };
}
