/** What the main thread and the worker of the file store say to each other. Buffers hold records (disk/record.js). */
import type { StoreErrorCode } from "../store-error.ts";

export interface OpenRequest {
  readonly type: "open";
  readonly dir: string;
  /** For the store that is created when there is none. */
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

/** What a store holds, apart from its rows. */
export interface StoreHead {
  readonly clusterId: string;
  readonly compactedRevision: number;
  readonly revision: number;
}

export interface Piece {
  readonly rows: Uint8Array;
  /** Rows that `rows` supersede and that are not among them. */
  readonly superseded: Uint8Array;
  readonly through: number;
}

/** What each request is answered with. */
export interface Results {
  readonly open: StoreHead;
  readonly commit: undefined;
  /** How far it got; ask again until that is the revision asked for. */
  readonly compact: number;
  readonly read: Piece;
  readonly close: undefined;
  readonly backup: StoreHead;
  readonly restore: StoreHead;
  readonly readBackup: StoreHead;
  readonly createBackup: undefined;
  readonly addToBackup: undefined;
  readonly finishBackup: undefined;
}

/** In the order of the requests; `rows` may come any number of times before the answer to `open` or `readBackup`. */
export type Reply =
  | { readonly type: "rows"; readonly slab: Uint8Array }
  | { readonly type: "done"; readonly result: Results[Request["type"]] }
  | {
      readonly type: "failed";
      readonly code: StoreErrorCode | undefined;
      readonly message: string;
      /** What the operating system said, when it was that. */
      readonly system?: SystemPart | undefined;
    };

/** Of an error of the operating system: what people need to know to put it right. */
export interface SystemPart {
  readonly code: string;
  readonly syscall: string;
  readonly path: string;
}
