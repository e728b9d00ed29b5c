/** The engine for tests and forks: its backend commits at once, without a disk. */
import type { Loop } from "../base/loop/loop.ts";
import type { Backend } from "./backend.ts";
import { historyWithin } from "./history.ts";
import type { HistoryOptions } from "./history.ts";
import { LocalStore } from "./local-store.ts";
import { Mirror } from "./mirror.ts";
import { State } from "./state.ts";
import type { Entry } from "./store.ts";

export interface MemoryStoreOptions {
  readonly loop: Loop;
  readonly history?: HistoryOptions;
  /** Bytes above which writes that add data fail with `NoSpace`; default no limit. */
  readonly quotaBytes?: number | undefined;
  /** Initial state of the store. */
  readonly restore?: { readonly revision: number; readonly entries: Iterable<Entry> };
}

export class MemoryStore extends LocalStore {
  readonly #mirror: Mirror;
  readonly #quotaBytes: number | undefined;

  constructor(loop: Loop, mirror: Mirror, quotaBytes?: number) {
    super({ loop, mirror, backend: memoryBackend, quotaBytes });
    this.#mirror = mirror;
    this.#quotaBytes = quotaBytes;
  }

  /**
   * Returns an independent store that starts with this one's visible state and history. Shares all objects, so it
   * copies none.
   */
  fork(loop: Loop): MemoryStore {
    return new MemoryStore(loop, this.#mirror.fork(loop), this.#quotaBytes).begin();
  }
}

const memoryBackend: Backend = {
  commit: () => Promise.resolve(),
  compact: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

export function openMemoryStore(options: MemoryStoreOptions): MemoryStore {
  const { loop, quotaBytes, restore } = options;
  const state = restore === undefined ? State.empty() : State.of(restore.revision, restore.entries);
  const history = historyWithin(quotaBytes, options.history);
  return new MemoryStore(loop, new Mirror({ loop, history }, state), quotaBytes).begin();
}
