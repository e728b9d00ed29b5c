/** The messages between the main thread and the worker of the file store. Buffers hold records (disk/record.js). */
import type { StoreErrorCode } from "../store-error.ts";

export interface OpenRequest {
  readonly type: "open";
  readonly dir: string;
  /** Cluster id of a newly created store. */
  readonly newClusterId: string;
  readonly maxBytes: number | undefined;
}

export type Request =
  | OpenRequest
  | { readonly type: "commit"; readonly records: ArrayBuffer; readonly elapsedMs: number }
  | { readonly type: "compact"; readonly revision: number; readonly elapsedMs: number }
  | { readonly type: "read"; readonly after: number; readonly upTo: number }
  | { readonly type: "close" }
  | { readonly type: "backup"; readonly dir: string; readonly file: string }
  | { readonly type: "restore"; readonly file: string; readonly dir: string }
  | { readonly type: "readBackup"; readonly file: string }
  | ({ readonly type: "createBackup"; readonly file: string } & BackupHead)
  | { readonly type: "addToBackup"; readonly records: ArrayBuffer }
  | { readonly type: "finishBackup" };

export interface BackupHead {
  readonly clusterId: string;
  readonly revision: number;
}

/** State of a store, apart from its rows. */
export interface StoreHead {
  readonly clusterId: string;
  readonly compactedRevision: number;
  readonly revision: number;
}

export interface HistoryPiece {
  readonly rows: Uint8Array;
  /** Rows superseded by `rows` that are not among them. */
  readonly superseded: Uint8Array;
  readonly through: number;
}

/** Response to each type of request. */
export interface Results {
  readonly open: StoreHead;
  readonly commit: undefined;
  /** Revision that was reached; the caller repeats the request until it is the target. */
  readonly compact: number;
  readonly read: HistoryPiece;
  readonly close: undefined;
  readonly backup: StoreHead;
  readonly restore: StoreHead;
  readonly readBackup: StoreHead;
  readonly createBackup: undefined;
  readonly addToBackup: undefined;
  readonly finishBackup: undefined;
}

/** Sent in the order of the requests; any number of `rows` may precede the answer to `open` or `readBackup`. */
export type Reply =
  | { readonly type: "rows"; readonly slab: Uint8Array }
  | { readonly type: "done"; readonly result: Results[Request["type"]] }
  | {
      readonly type: "failed";
      readonly code: StoreErrorCode | undefined;
      readonly message: string;
      /** Error of the operating system, if there was one. */
      readonly system?: SystemError | undefined;
    };

/** Fields of an operating system's error that the user needs for a remedy. */
export interface SystemError {
  readonly code: string;
  readonly syscall: string;
  readonly path: string;
}
