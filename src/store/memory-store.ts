/** The engine for tests and forks: what is accepted is as durable as it gets. */
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
  /** Above it writes that add data fail with `NoSpace`; none unless given. */
  readonly quotaBytes?: number | undefined;
  /** What the store begins with. */
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

  /** A store of its own that begins with this one's visible state and history. Costs nothing for each object. */
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
