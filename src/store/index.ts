/** `setpoint/store`: a revisioned key-value store with etcd's promises, and the loop it runs on. */
export { createRealLoop } from "../base/loop/real/real-loop.ts";
export type { RealLoopOptions } from "../base/loop/real/real-loop.ts";
export type { Loop, Lane, Random, Step, Timer, TimerKind } from "../base/loop/loop.ts";
export { openFileStore } from "./file-store.ts";
export type { FileStoreOptions } from "./file-store.ts";
export type { HistoryOptions } from "./history.ts";
export { openMemoryStore } from "./memory-store.ts";
export type { MemoryStore, MemoryStoreOptions } from "./memory-store.ts";
export { isStoreError, StoreError } from "./store-error.ts";
export type { StoreErrorCode } from "./store-error.ts";
export { MAX_CHANGES, prefixEnd } from "./store.ts";
export type {
  Change,
  Committed,
  Compare,
  Entry,
  Mark,
  MarkedChange,
  Store,
  StoreHealth,
  Transaction,
  View,
  Watch,
  WatchBatch,
  WatchEvent,
  WatchOptions,
} from "./store.ts";
