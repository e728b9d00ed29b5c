/**
 * Read your writes: after a pass, the caches must have seen what it wrote, and what it read past them, before its key is looked at again. Otherwise the
 * next pass would miss what the last one did or found done, and do it twice.
 */
import type { ApiObject } from "../../api/api-object.ts";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { endableSignal } from "../../client/call-signal.ts";
import type { Written } from "../../client/client.ts";
import type { Cache } from "../cache/cache.ts";
import type { ObjectChange } from "../cache/object-change.ts";
import { orderOfVersions } from "../refs/resource-version.ts";
import type { KnownKinds } from "./kinds.ts";

/** After this it is better to look at old facts than not at all: writes are guarded, and the watch may be blind for long. */
const PATIENCE_MS = 30_000;

interface BarrierParts {
  readonly kinds: KnownKinds;
  readonly loop: Loop;
  readonly log: Log;
}

export class WriteBarrier {
  readonly #parts: BarrierParts;
  /** Who waits for the end of an object, by its uid: told whenever it has come nearer to it. */
  readonly #ends = new Map<string, Set<() => void>>();

  constructor(parts: BarrierParts) {
    this.#parts = parts;
  }

  /** A change as the cache brought it: it may be the end of an object that somebody waits for. */
  noteChange({ before, after }: ObjectChange<ApiObject>): void {
    if (this.#ends.size > 0 && before !== undefined && isEnding(before, after)) this.#noteEnd(before);
  }

  begin(): PassWrites {
    return new PassWrites(this.#parts.kinds);
  }

  /** Resolves when all writes of the pass have been seen, when patience is over, or when the signal is aborted. Undefined when they have been already. */
  settled(writes: PassWrites, key: string, signal: AbortSignal): Promise<void> | undefined {
    return writes.isSeen ? undefined : this.#wait(writes, key, signal);
  }

  async #wait(writes: PassWrites, key: string, signal: AbortSignal): Promise<void> {
    const { loop, log } = this.#parts;
    const end = loop.inFlight(`the cache to see what was written for ${key}`);
    const waiting = endableSignal([signal]);
    const timer = loop.timer(loop.now() + PATIENCE_MS, "progress", () => {
      log.warn("the cache has not seen what was written; the next pass may work on old facts", { key });
      waiting.abort(new Error("patience is over"));
    });
    try {
      await writes.seen(waiting.signal, (uid, ended) => this.#onEnd(uid, ended));
    } catch (error) {
      if (!waiting.signal.aborted) throw error;
    } finally {
      timer.cancel();
      waiting.release();
      end();
    }
  }

  #onEnd(uid: string, ended: () => void): () => void {
    const waiting = this.#ends.get(uid) ?? new Set();
    this.#ends.set(uid, waiting.add(ended));
    return () => {
      waiting.delete(ended);
      if (waiting.size === 0 && this.#ends.get(uid) === waiting) this.#ends.delete(uid);
    };
  }

  #noteEnd({ metadata: { uid = "" } }: ApiObject): void {
    const waiting = this.#ends.get(uid);
    this.#ends.delete(uid);
    for (const ended of waiting ?? []) ended();
  }
}

/** Gone, replaced, or marked for deletion. */
function isEnding(before: ApiObject, after: ApiObject | undefined): boolean {
  return after?.metadata.uid !== before.metadata.uid || after?.metadata.deletionTimestamp !== undefined;
}

type OnEnd = (uid: string, ended: () => void) => () => void;

/** What one pass wrote and read, as far as the loop has caches of it. */
export class PassWrites {
  readonly #kinds: KnownKinds;
  /** Events of a kind come in order: the last write of each is enough. */
  readonly #newest = new Map<Cache<ApiObject>, ApiObject>();
  readonly #deleted = new Map<string, { readonly cache: Cache<ApiObject>; readonly object: ApiObject }>();
  /** What the caches had seen when the pass began. */
  readonly #seenBefore: readonly (string | undefined)[];

  constructor(kinds: KnownKinds) {
    this.#kinds = kinds;
    this.#seenBefore = kinds.caches.map((cache) => cache.resourceVersion);
  }

  /** Whether the write made something new; one that changes nothing answers a version that was there before. */
  isNew({ type, object, outcome }: Written): boolean {
    if (outcome === "deleted") return true;
    const cache = this.#kinds.findCacheOf(type, object);
    const before = cache === undefined ? undefined : this.#seenBefore[this.#kinds.caches.indexOf(cache)];
    if (before === undefined) return true;
    return (
      orderOfVersions(object.metadata.resourceVersion ?? "", before) !== "older" &&
      object.metadata.resourceVersion !== before
    );
  }

  note({ type, object, outcome }: Written): void {
    const cache = this.#kinds.findCacheOf(type, object);
    if (cache === undefined) return;
    if (outcome === "deleted" || outcome === "absent") {
      const cached = findSame(cache, object);
      const uid = object.metadata.uid ?? cached?.metadata.uid;
      if (uid !== undefined) this.#deleted.set(uid, { cache, object });
      return;
    }
    const { resourceVersion } = object.metadata;
    const known = this.#newest.get(cache)?.metadata.resourceVersion;
    if (resourceVersion === undefined) return;
    if (known === undefined || orderOfVersions(resourceVersion, known) !== "older")
      this.#newest.set(cache, object);
  }

  get isSeen(): boolean {
    for (const [cache, object] of this.#newest) if (!isSeenIn(cache, object)) return false;
    for (const [uid, { cache, object }] of this.#deleted) if (isThere(cache, object, uid)) return false;
    return true;
  }

  async seen(signal: AbortSignal, onEnd: OnEnd): Promise<void> {
    for (const [cache, { metadata }] of this.#newest)
      await cache.waitFor(metadata.resourceVersion ?? "", signal);
    for (const [uid, { cache, object }] of this.#deleted) {
      while (isThere(cache, object, uid)) await ended(uid, onEnd, signal);
    }
  }
}

function ended(uid: string, onEnd: OnEnd, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = onEnd(uid, () => {
      signal.removeEventListener("abort", abort);
      resolve();
    });
    const abort = (): void => {
      leave();
      reject(signal.reason as Error);
    };
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
  });
}

function findSame(
  cache: Cache<ApiObject>,
  { metadata: { namespace, name = "" } }: ApiObject,
): ApiObject | undefined {
  return cache.find({ namespace, name });
}

function isSeenIn(cache: Cache<ApiObject>, object: ApiObject): boolean {
  const { resourceVersion = "" } = object.metadata;
  const cached = findSame(cache, object)?.metadata.resourceVersion;
  if (cached === undefined) return false;
  const order = orderOfVersions(cached, resourceVersion);
  return order === "same" || order === "newer";
}

/** One that is marked for deletion still is: whoever took the last finalizer off it would find that again. */
function isThere(cache: Cache<ApiObject>, object: ApiObject, uid: string): boolean {
  return findSame(cache, object)?.metadata.uid === uid;
}
