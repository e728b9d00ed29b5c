/** Short helpers for the tests of the store contract. */
import { StoreError, type StoreErrorCode } from "../../../src/store/store-error.ts";
import {
  prefixEnd,
  type Change,
  type Entry,
  type Store,
  type View,
  type Watch,
  type WatchBatch,
  type WatchEvent,
} from "../../../src/store/store.ts";
import { until, type StoreFixture } from "../store-fixture.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function bytes(text: string): Uint8Array {
  return encoder.encode(text);
}

export function text(entry: Entry | undefined): string | undefined {
  return entry === undefined ? undefined : decoder.decode(entry.value);
}

export function put(key: string, value: string, more: { ttlMs?: number; slot?: unknown } = {}): Change {
  return { type: "put", key, value: bytes(value), ...more };
}

export function remove(key: string): Change {
  return { type: "delete", key };
}

/** Writes the changes as one transaction and gives its revision. */
export async function write(store: Store, ...changes: Change[]): Promise<number> {
  const committed = await store.write({ changes });
  return committed.revision;
}

/** Keys and values below a prefix, in the order of the view. */
export function contents(view: View, prefix: string): [string, string | undefined][] {
  return [...view.range(prefix, prefixEnd(prefix))].map((entry) => [entry.key, text(entry)]);
}

export function keys(entries: Iterable<Entry>): string[] {
  return [...entries].map((entry) => entry.key);
}

/** The code of the StoreError that `action` throws or rejects with; "none" when it does not. */
export async function codeOf(action: () => unknown): Promise<StoreErrorCode | "none"> {
  try {
    await action();
    return "none";
  } catch (error) {
    if (error instanceof StoreError) return error.code;
    throw error;
  }
}

/** An event in one line: `7 /registry/a one -> two`. */
export function line(event: WatchEvent): string {
  return `${event.revision} ${event.key} ${text(event.before) ?? "-"} -> ${text(event.after) ?? "-"}`;
}

export interface Recording {
  readonly watch: Watch;
  readonly batches: readonly WatchBatch[];
  readonly events: readonly WatchEvent[];
  /** End of the watch; undefined while it runs. */
  readonly end: "done" | StoreErrorCode | undefined;
  /** Resolves once the watch has ended, for any reason. */
  readonly ended: Promise<void>;
}

/** Reads the watch to its end, batch by batch. */
export function record(watch: Watch): Recording {
  return recorded(watch, async (hear) => {
    const code = await codeOf(async () => {
      for await (const batch of watch) hear(batch);
    });
    return code === "none" ? "done" : code;
  });
}

/** Reads the watch to its end by taking the available events at each notification. */
export function recordTaken(watch: Watch): Recording {
  return recorded(
    watch,
    (hear) =>
      new Promise((resolve, reject) => {
        const take = (): void => {
          try {
            let taken = watch.take();
            for (; typeof taken === "object"; taken = watch.take()) hear(taken);
            if (taken === "end") resolve("done");
          } catch (error) {
            if (error instanceof StoreError) resolve(error.code);
            else reject(error);
          }
        };
        watch.whenReady(take);
        take();
      }),
  );
}

function recorded(
  watch: Watch,
  read: (hear: (batch: WatchBatch) => void) => Promise<"done" | StoreErrorCode>,
): Recording {
  const batches: WatchBatch[] = [];
  const events: WatchEvent[] = [];
  let end: Recording["end"];
  const hear = (batch: WatchBatch): void => {
    batches.push(batch);
    events.push(...batch.events);
  };
  const ended = read(hear).then((how) => void (end = how));
  return {
    watch,
    batches,
    events,
    ended,
    get end() {
      return end;
    },
  };
}

/** Waits until the watch has delivered everything up to `revision`; returns the lines of its events. */
export async function linesThrough(
  world: StoreFixture,
  recording: Recording,
  revision: number,
): Promise<string[]> {
  await reached(world, recording, revision);
  return recording.events.map(line);
}

export async function reached(world: StoreFixture, recording: Recording, revision: number): Promise<void> {
  await until(world, `the watch reaches revision ${revision}`, () => {
    if (recording.end !== undefined) throw new Error(`the watch ended early: ${recording.end}`);
    return recording.watch.revision >= revision;
  });
}

/** Opens a watch, reads it up to `revision`, and leaves it. */
export async function watchBetween(
  world: StoreFixture,
  range: { prefix: string; after: number },
  revision: number,
): Promise<string[]> {
  const recording = record(world.store.watch(range));
  const lines = await linesThrough(world, recording, revision);
  recording.watch.close();
  return lines;
}

/** The batch of a next() that must return one. */
export async function nextBatch(watch: Watch): Promise<WatchBatch> {
  const result = await watch.next();
  if (result.done === true) throw new Error("the watch is at its end");
  return result.value;
}
