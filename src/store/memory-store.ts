/** The engine for tests and forks: what is accepted is as durable as it gets. */
import type { Loop } from "../base/loop.ts";
import type { Backend } from "./backend.ts";
import type { HistoryOptions } from "./history.ts";
import { LocalStore } from "./local-store.ts";
import { Mirror } from "./mirror.ts";
import { State } from "./state.ts";
import type { Entry } from "./store.ts";

export interface MemoryStoreOptions {
  readonly loop: Loop;
  readonly history?: HistoryOptions;
  /** What the store begins with. */
  readonly restore?: { readonly revision: number; readonly entries: Iterable<Entry> };
}

export class MemoryStore extends LocalStore {
  readonly #mirror: Mirror;

  constructor(loop: Loop, mirror: Mirror) {
    super({ loop, mirror, backend: memoryBackend });
    this.#mirror = mirror;
  }

  /** A store of its own that begins with this one's visible state and history. Costs nothing for each object. */
  fork(loop: Loop): MemoryStore {
    return new MemoryStore(loop, this.#mirror.fork(loop)).begin();
  }
}

const memoryBackend: Backend = {
  commit: () => Promise.resolve(),
  compact: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

export function openMemoryStore({ loop, history, restore }: MemoryStoreOptions): MemoryStore {
  const state = restore === undefined ? State.empty() : State.of(restore.revision, restore.entries);
  return new MemoryStore(
    loop,
    new Mirror(history === undefined ? { loop } : { loop, history }, state),
  ).begin();
}
