/**
 * Read-your-writes: after a pass, its key waits until the caches show the objects that the pass wrote or read from
 * the server. Otherwise the next pass would miss them and act twice. A write whose response was lost counts as
 * written until a read from the server shows its outcome.
 */
import type { ApiObject } from "../../api/api-object.ts";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { endableSignal } from "../../client/call-signal.ts";
import type { Client, UnknownWrite, WriteResult } from "../../client/client.ts";
import type { Cache } from "../cache/cache.ts";
import type { ObjectChange } from "../cache/object-change.ts";
import { orderOfVersions } from "../refs/resource-version.ts";
import { kindId, type KnownKinds } from "./kinds.ts";
import { findOutcomes } from "./unknown-writes.ts";

/**
 * Upper bound of the wait. Stale data is then better than no pass: writes are guarded, and the watch may be down for
 * long.
 */
const WAIT_MAX_MS = 30_000;

interface BarrierParts {
  /** Reads the outcome of writes whose response was lost. */
  readonly client: Client;
  readonly kinds: KnownKinds;
  readonly loop: Loop;
  readonly log: Log;
}

export class WriteBarrier {
  readonly #parts: BarrierParts;
  /**
   * Callbacks for the end of an object, by its uid. Called when the object is deleted, replaced or marked for
   * deletion.
   */
  readonly #ends = new Map<string, Set<() => void>>();

  constructor(parts: BarrierParts) {
    this.#parts = parts;
  }

  /** Notes a change that the cache received: it may end an object that a pass waits for. */
  noteChange({ before, after }: ObjectChange<ApiObject>): void {
    if (this.#ends.size > 0 && before !== undefined && isEnding(before, after)) this.#noteEnd(before);
  }

  begin(): PassWrites {
    return new PassWrites(this.#parts.kinds);
  }

  /**
   * Resolves when the caches have seen all writes of the pass, the wait times out, or the signal is aborted.
   * Undefined when they have seen all already.
   */
  settled(writes: PassWrites, key: string, signal: AbortSignal): Promise<void> | undefined {
    return writes.isSeen ? undefined : this.#wait(writes, key, signal);
  }

  async #wait(writes: PassWrites, key: string, signal: AbortSignal): Promise<void> {
    const { loop, log } = this.#parts;
    const end = loop.inFlight(`cache catching up with the writes for ${key}`);
    const waiting = endableSignal([signal]);
    const timer = loop.timer(loop.now() + WAIT_MAX_MS, "progress", () => {
      log.warn("the cache has not seen the last writes in time; the next pass may use stale data", { key });
      waiting.abort(new Error("the wait for the cache timed out"));
    });
    try {
      await this.#learn(writes, waiting.signal);
      await writes.seen(waiting.signal, (uid, ended) => this.#onEnd(uid, ended));
    } catch (error) {
      if (!waiting.signal.aborted) throw error;
    } finally {
      timer.cancel();
      waiting.release();
      end();
    }
  }

  async #learn(writes: PassWrites, signal: AbortSignal): Promise<void> {
    for (const write of writes.takeUnknown())
      for (const outcome of await findOutcomes(this.#parts, write, signal)) writes.note(outcome);
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

/** True when the object is gone, replaced, or marked for deletion. */
function isEnding(before: ApiObject, after: ApiObject | undefined): boolean {
  return after?.metadata.uid !== before.metadata.uid || after?.metadata.deletionTimestamp !== undefined;
}

type OnEnd = (uid: string, ended: () => void) => () => void;

/** The objects that one pass wrote or read, for kinds that have a cache. */
export class PassWrites {
  readonly #kinds: KnownKinds;
  /** Last write of each cache. Events of a kind arrive in order, so that one is enough. */
  readonly #newest = new Map<Cache<ApiObject>, ApiObject>();
  readonly #deleted = new Map<string, { readonly cache: Cache<ApiObject>; readonly object: ApiObject }>();
  /** Writes whose response was lost, by target. */
  readonly #unknown = new Map<string, UnknownWrite>();
  /** Newest resourceVersion of each cache when the pass began. */
  readonly #seenBefore: readonly (string | undefined)[];

  constructor(kinds: KnownKinds) {
    this.#kinds = kinds;
    this.#seenBefore = kinds.caches.map((cache) => cache.resourceVersion);
  }

  /** True when the write changed something. An unchanged object returns a version from before the pass. */
  isNew({ type, object, outcome }: WriteResult): boolean {
    if (outcome === "deleted") return true;
    const cache = this.#kinds.findCacheOf(type, object);
    const before = cache === undefined ? undefined : this.#seenBefore[this.#kinds.caches.indexOf(cache)];
    if (before === undefined) return true;
    return (
      orderOfVersions(object.metadata.resourceVersion ?? "", before) !== "older" &&
      object.metadata.resourceVersion !== before
    );
  }

  note({ type, object, outcome }: WriteResult): void {
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

  noteUnknown(write: UnknownWrite): void {
    const { type, namespace, name } = write;
    if (!this.#kinds.isCached(type, namespace)) return;
    this.#unknown.set(`${kindId(type)} ${namespace}/${name ?? ""}`, write);
  }

  takeUnknown(): readonly UnknownWrite[] {
    const taken = [...this.#unknown.values()];
    this.#unknown.clear();
    return taken;
  }

  get isSeen(): boolean {
    if (this.#unknown.size > 0) return false;
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

/**
 * True also for an object that is only marked for deletion: a pass that removed its last finalizer must not see it
 * again.
 */
function isThere(cache: Cache<ApiObject>, object: ApiObject, uid: string): boolean {
  return findSame(cache, object)?.metadata.uid === uid;
}
