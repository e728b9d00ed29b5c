/**
 * Keeps the mirror equal to etcd through one watch, which is reopened from the mirror's revision whenever it breaks. No
 * event is applied twice or skipped. If etcd has compacted the next events, all keys are read again and the mirror
 * starts over. The watch covers all of etcd, not only the prefix: then every revision has an event, and no progress
 * notifications are needed, which older versions send too early (etcd#15220). A user without that permission watches
 * the prefix.
 */
import { errorText } from "../../base/error-text.ts";
import type { Log } from "../../base/log/log.ts";
import { backoffMs, type Backoff } from "../../base/loop/backoff.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { pause } from "../../base/loop/pause.ts";
import type { Mirror } from "../mirror.ts";
import { isStoreError, StoreError } from "../store-error.ts";
import { prefixEnd } from "../store.ts";
import type { Entry, StoreHealth, View, WatchEvent } from "../store.ts";
import type { ConditionVariable } from "./condition-variable.ts";
import type { Coverage } from "./etcd-archive.ts";
import { advancesOf, GapError } from "./feed-events.ts";
import { COMPACT_REV_KEY, type Keyspace } from "./keyspace.ts";
import { hasReliableProgress } from "./progress-support.ts";
import { readSnapshot } from "./snapshot.ts";
import type { EtcdConnection } from "./wire/etcd-connection.ts";
import { revisionWentBack } from "./wire/etcd-error.ts";
import {
  ALL_KEYS,
  keyBytes,
  keyString,
  RANGE,
  type KeyValue,
  type WatchResponse,
} from "./wire/etcd-protocol.ts";
import type { WatchStream } from "./wire/watch-stream.ts";

export interface WatchFeedOptions {
  readonly loop: Loop;
  readonly log: Log;
  readonly connection: EtcdConnection;
  readonly keyspace: Keyspace;
  readonly mirror: Mirror;
  /** Evaluated after every response. */
  readonly condition: ConditionVariable;
  /** Interval at which a silent watch must prove that it is alive. */
  readonly proveEveryMs: number;
  /** Called for every entry before it becomes visible. */
  readonly made: (entry: Entry) => void;
  /** Called when etcd lost its history before this revision: another server compacted it, or etcd was restored. */
  readonly onCompacted: (revision: number) => void;
  /** Called before each reconnect. */
  readonly onReconnect: () => void;
  /** Returns etcd's newest revision. */
  readonly newestRevision: () => Promise<number>;
}

type FeedState =
  | { readonly state: "connecting"; readonly reason: string }
  | { readonly state: "live"; readonly stream: WatchStream };

/** Starts short: a restarted etcd is back within a second. */
const RECONNECT: Backoff = { baseMs: 50, maxMs: 3_000 };

/** Events per slice, about five milliseconds of work. */
const SLICE_EVENTS = 500;

export class WatchFeed {
  readonly #options: WatchFeedOptions;
  #state: FeedState = { state: "connecting", reason: "not connected to etcd yet" };
  /** Start of the next session; `forget` reads all keys again and drops all knowledge of the past. */
  #begin: "resume" | "reload" | "forget" = "resume";
  #scope: Coverage["scope"] = "everything";
  #hasProgress = false;
  #loadedAt: number;
  #lastEvent: number;
  /** Newest known change of the store's keys, by which etcd's past is recognized; undefined without one. */
  #witness: NewestEntry | undefined;
  /** Number of responses so far: any response is a sign of life. */
  #responses = 0;
  /** Guard of the last session; its last request may still be in flight when the next session begins. */
  #guarding = Promise.resolve();

  constructor(options: WatchFeedOptions) {
    this.#options = options;
    this.#loadedAt = options.mirror.revision;
    this.#lastEvent = options.mirror.revision;
    this.#witness = newestOf(options.mirror.state, options.keyspace);
  }

  get coverage(): Coverage {
    return { scope: this.#scope, loadedAt: this.#loadedAt, lastEvent: this.#lastEvent };
  }

  /** How the mirror reaches etcd's newest revision: by itself, on request, or never. */
  get catchesUp(): "always" | "on request" | "never" {
    if (this.#scope === "everything") return "always";
    return this.#hasProgress ? "on request" : "never";
  }

  get health(): StoreHealth {
    const current = this.#state;
    return current.state === "live" ? { state: "ready" } : { state: "degraded", reason: current.reason };
  }

  /** For `on request`: advances the mirror to the newest revision soon, unless events are still in flight. */
  requestProgress(): void {
    if (this.#state.state === "live") this.#state.stream.send({ progress_request: {} });
  }

  /** Runs until the signal aborts; rejects when the mirror can never be correct again. */
  async run(signal: AbortSignal): Promise<void> {
    const { loop } = this.#options;
    const random = loop.random("reconnect");
    let retry = 0;
    while (!signal.aborted) {
      try {
        await this.#session(signal);
      } catch (error) {
        if (signal.aborted) break;
        if (isStoreError(error, "Damaged")) throw error;
        retry = this.#state.state === "live" ? 0 : retry + 1;
        this.#note(error);
      }
      await pause(loop, { ms: backoffMs(retry, RECONNECT, random), kind: "periodic" }, signal);
    }
    await this.#guarding;
  }

  /** Derives the start and scope of the next session from the error of the last. */
  #note(error: unknown): void {
    const { log, onReconnect } = this.#options;
    if (this.#state.state === "live") log.warn("lost the watch on etcd", { error: messageOf(error) });
    this.#state = { state: "connecting", reason: `no watch on etcd: ${messageOf(error)}` };
    onReconnect();
    if (error instanceof ScopeError && this.#scope === "everything") {
      log.info("this etcd user may not watch everything: watching the prefix", { error: error.message });
      this.#scope = "prefix";
    }
    const isOtherPast = error instanceof PastError;
    if (isStoreError(error, "Compacted") || error instanceof GapError || isOtherPast) {
      log.warn("etcd no longer has the missed events: reading all keys again", { error: error.message });
      this.#begin = isOtherPast ? "forget" : "reload";
    }
  }

  async #session(signal: AbortSignal): Promise<void> {
    const { connection, log } = this.#options;
    if (this.#begin !== "resume") await this.#reload();
    if (this.#scope === "prefix") this.#hasProgress = await hasReliableProgress(connection);
    // A watch reports an expired token and a missing permission alike (etcd 3.4), so it gets a new token.
    const { stream, failed } = await connection.openWatch({ token: "new" });
    const over = new AbortController();
    const close = (): void => stream.close(new Error("the watch was closed"));
    signal.addEventListener("abort", close);
    // The signal may have aborted during an await above, before the listener was added.
    if (signal.aborted) close();
    try {
      const first = await this.#create(stream);
      await this.#checkSamePast();
      this.#state = { state: "live", stream };
      this.#options.condition.check();
      log.debug("watching etcd", { scope: this.#scope, after: this.#options.mirror.revision });
      this.#guarding = this.#closeIfStale(stream, over.signal);
      await this.#follow(stream, first);
    } catch (error) {
      failed();
      throw error;
    } finally {
      over.abort();
      close();
      signal.removeEventListener("abort", close);
    }
  }

  /** Opens the watch; returns the responses that came with etcd's confirmation. */
  async #create(stream: WatchStream): Promise<readonly WatchResponse[]> {
    const { loop, connection, keyspace, mirror } = this.#options;
    const range = this.#scope === "everything" ? ALL_KEYS : keyspace.range;
    const late = new Error("etcd did not confirm the watch in time");
    const timer = loop.timer(loop.now() + connection.requestTimeoutMs, "progress", () => stream.close(late));
    stream.send({ create_request: { ...range, start_revision: mirror.revision + 1 } });
    try {
      const responses = await loop.outside("etcd", stream.next());
      for (const response of responses) checkResponse(response);
      return responses;
    } finally {
      timer.cancel();
    }
  }

  /**
   * Throws `Damaged` when etcd's revision is behind memory's: it was restored from an older state, or replaced. Throws
   * PastError when etcd has caught up since, but its past differs from the one that readers saw.
   */
  async #checkSamePast(): Promise<void> {
    const { connection, mirror, newestRevision } = this.#options;
    await newestRevision();
    const { revision } = mirror;
    for (const { key, after } of this.#newestEntries()) {
      const { kvs } = await connection.call(RANGE, { key: keyBytes(key), revision });
      if (!isSame(kvs[0], after)) throw new PastError(`etcd's past is another one: it has another ${key}`);
    }
  }

  /** A missing key does not prove the same past: a key that never existed is missing too. */
  #newestEntries(): readonly NewestEntry[] {
    const last = this.#witness;
    if (last === undefined) return [];
    const { mirror, keyspace } = this.#options;
    const living = last.after === undefined ? newestOf(mirror.state, keyspace) : undefined;
    return living === undefined ? [last] : [last, living];
  }

  /** Applies responses until the stream breaks. */
  async #follow(stream: WatchStream, first: readonly WatchResponse[]): Promise<never> {
    const { loop, connection, keyspace, mirror } = this.#options;
    const resumedAfter = mirror.revision;
    let isComplete = false;
    for (let responses = first; ; responses = await loop.outside("etcd", stream.next())) {
      if (!isComplete && responses.some(({ events }) => events.length > 0)) {
        // etcd may omit deletions at the compacted revision itself (etcd#18089). Nothing is missing only if the
        // revision before the first event still exists.
        await connection.call(RANGE, { key: keyspace.absentKey, count_only: true, revision: resumedAfter });
        isComplete = true;
      }
      for (const slice of slices(responses)) {
        this.#apply(slice);
        if (slice !== responses) await new Promise<void>((resolve) => loop.post("request", resolve));
      }
    }
  }

  #apply(responses: readonly WatchResponse[]): void {
    const { loop, keyspace, mirror, condition, made } = this.#options;
    this.#responses += responses.length;
    for (const response of responses) checkResponse(response);
    const events = responses.flatMap((response) => response.events);
    const advances = advancesOf(mirror.state, events, { keyspace, now: loop.now(), made });
    const newest = advances.at(-1);
    if (newest !== undefined) {
      mirror.publish({ commits: advances.map(({ commit }) => commit), state: newest.state });
      this.#lastEvent = newest.commit.revision;
      this.#witness = newest.commit.events.at(-1);
    }
    mirror.skipTo(this.#completeUpTo(responses));
    this.#noteCompaction(responses);
    condition.check();
  }

  /** All changes of the store's keys up to this revision are in these or earlier responses. */
  #completeUpTo(responses: readonly WatchResponse[]): number {
    let revision = 0;
    for (const { events, created, header } of responses) {
      const isProgress = events.length === 0 && !created && this.catchesUp === "on request";
      const told = isProgress ? header.revision : (events.at(-1)?.kv.mod_revision ?? 0);
      revision = Math.max(revision, told);
    }
    return revision;
  }

  #noteCompaction(responses: readonly WatchResponse[]): void {
    for (const { events } of responses) {
      for (const { kv } of events) {
        const revision = keyString(kv.key) === COMPACT_REV_KEY ? Number(keyString(kv.value)) : 0;
        if (revision > 0) this.#options.onCompacted(revision);
      }
    }
  }

  async #reload(): Promise<void> {
    const { connection, keyspace, mirror, condition, onCompacted } = this.#options;
    const state = await readSnapshot(connection, { keyspace });
    if (state.revision < mirror.revision) throw revisionWentBack(mirror.revision, state.revision);
    if (this.#begin === "forget") onCompacted(state.revision);
    mirror.reset(state);
    this.#loadedAt = state.revision;
    this.#lastEvent = state.revision;
    this.#witness = newestOf(state, keyspace);
    this.#begin = "resume";
    condition.check();
  }

  /** Closes a watch that does not follow etcd: a dead connection can go unnoticed. */
  async #closeIfStale(stream: WatchStream, over: AbortSignal): Promise<void> {
    const { loop, proveEveryMs } = this.#options;
    while (!over.aborted) {
      await pause(loop, { ms: proveEveryMs, kind: "periodic" }, over);
      if (over.aborted) return;
      try {
        await this.#checkAlive(stream);
      } catch (error) {
        stream.close(error instanceof Error ? error : new Error(String(error)));
        return;
      }
    }
  }

  async #checkAlive(stream: WatchStream): Promise<void> {
    const { loop, connection, mirror, condition, newestRevision } = this.#options;
    const revision = await newestRevision();
    const deadline = loop.now() + connection.requestTimeoutMs;
    if (this.#scope === "everything") {
      if (await condition.wait(() => mirror.revision >= revision, deadline)) return;
    } else {
      const before = this.#responses;
      stream.send({ progress_request: {} });
      if (await condition.wait(() => this.#responses > before, deadline)) return;
    }
    throw new Error("the watch is silent while etcd's revision advances");
  }
}

type NewestEntry = Pick<WatchEvent, "key" | "after">;

function newestOf(view: View, { prefix }: Keyspace): NewestEntry | undefined {
  let newest: Entry | undefined;
  for (const entry of view.range(prefix, prefixEnd(prefix)))
    if (newest === undefined || entry.modRevision > newest.modRevision) newest = entry;
  return newest && { key: newest.key, after: newest };
}

function isSame(found: KeyValue | undefined, known: Entry | undefined): boolean {
  if (found === undefined || known === undefined) return found === known;
  const { mod_revision, version, value } = found;
  return (
    mod_revision === known.modRevision &&
    version === known.version &&
    Buffer.compare(value, known.value) === 0
  );
}

/** etcd's past differs from the one that it reported before. */
class PastError extends Error {
  override readonly name = "PastError";
}

/** The user lacks the permission to watch everything. */
class ScopeError extends Error {
  override readonly name = "ScopeError";
}

/** Usually one slice; several after a long outage, so that other work can run in between. */
function slices(responses: readonly WatchResponse[]): (readonly WatchResponse[])[] {
  const result: WatchResponse[][] = [];
  let events = SLICE_EVENTS;
  for (const response of responses) {
    if (events >= SLICE_EVENTS) {
      result.push([]);
      events = 0;
    }
    result.at(-1)?.push(response);
    events += response.events.length;
  }
  return result.length === 1 ? [responses] : result;
}

function checkResponse({ canceled, compact_revision, cancel_reason }: WatchResponse): void {
  if (compact_revision > 0) throw new StoreError("Compacted", "etcd no longer has the next events");
  if (!canceled) return;
  if (cancel_reason.includes("permission denied")) throw new ScopeError(cancel_reason);
  throw new Error(`etcd ended the watch: ${cancel_reason}`);
}

function messageOf(error: unknown): string {
  return errorText(error);
}
