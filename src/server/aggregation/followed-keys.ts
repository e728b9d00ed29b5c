/** Follows keys of the store: all keys under a prefix until aborted, or several prefixes until the first change. */
import { backoffMs } from "../../base/loop/backoff.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { pause } from "../../base/loop/pause.ts";
import { isStoreError } from "../../store/store-error.ts";
import type { Store, Watch } from "../../store/store.ts";
import { prefixEnd } from "../../store/store.ts";

const BACKOFF = { baseMs: 100, maxMs: 30_000 };

interface Parts {
  readonly loop: Loop;
  readonly store: Store;
}

export interface Followed {
  readonly prefix: string;
  readonly signal: AbortSignal;
}

/** Calls `note` for every key under the prefix, then for each change. Ends with the signal or the store. */
export async function followKeys(
  { store, loop }: Parts,
  { prefix, signal }: Followed,
  note: (key: string) => void,
): Promise<void> {
  const random = loop.random("followed-keys");
  for (let failures = 0; !signal.aborted; failures++) {
    const { view } = store;
    for (const { key } of view.range(prefix, prefixEnd(prefix))) note(key);
    const watch = store.watch({ prefix, after: view.revision, lane: "loop" });
    try {
      await closedOnAbort([watch], signal, async () => {
        for await (const { events } of watch) for (const { key } of events) note(key);
      });
    } catch (error) {
      if (isStoreError(error, "Closed")) return;
      if (!isStoreError(error)) throw error;
      await pause(loop, { ms: backoffMs(failures, BACKOFF, random), kind: "progress" }, signal);
    }
  }
}

export interface Awaited {
  readonly prefixes: readonly string[];
  readonly after: number;
  /** Upper bound of the wait, in milliseconds. */
  readonly ms: number;
}

/** A failed watch is a reason to check again too. */
export async function waitForChange(
  { store, loop }: Parts,
  { prefixes, after, ms }: Awaited,
  signal: AbortSignal,
): Promise<void> {
  const watches = prefixes.map((prefix) => store.watch({ prefix, after, lane: "background" }));
  const ending = new AbortController();
  const onAbort = (): void => ending.abort();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    await closedOnAbort(watches, ending.signal, async () => {
      const over = pause(loop, { ms, kind: "periodic" }, ending.signal);
      await Promise.race([over, ...watches.map(firstEvent)]);
    });
  } finally {
    signal.removeEventListener("abort", onAbort);
    ending.abort();
  }
}

async function closedOnAbort(
  watches: readonly Watch[],
  signal: AbortSignal,
  run: () => Promise<void>,
): Promise<void> {
  const close = (): void => {
    for (const watch of watches) watch.close();
  };
  signal.addEventListener("abort", close, { once: true });
  try {
    if (!signal.aborted) await run();
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}

async function firstEvent(watch: Watch): Promise<void> {
  try {
    for await (const { events } of watch) if (events.length > 0) return;
  } catch (error) {
    if (!isStoreError(error)) throw error;
  }
}
