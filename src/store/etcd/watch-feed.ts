/**
 * Keeps the mirror equal to etcd: one watch from where the mirror is, opened again whenever it breaks. Nothing is applied
 * twice or left out; where etcd no longer has what comes next, everything is read anew and the mirror starts over.
 *
 * All of etcd is watched, not the prefix alone: then every revision is told of, and the mirror's revision follows etcd's
 * without progress notifications, which older versions send too early (etcd#15220). A user who may not do that watches the
 * prefix.
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
import type { Coverage } from "./etcd-archive.ts";
import { advancesOf, GapError } from "./feed-events.ts";
import type { Gate } from "./gate.ts";
import { COMPACT_REV_KEY, type Keyspace } from "./keyspace.ts";
import { hasReliableProgress } from "./progress-support.ts";
import { readSnapshot } from "./snapshot.ts";
import type { Connection } from "./wire/connection.ts";
import { wentBack } from "./wire/etcd-error.ts";
import { ALL_KEYS, keyBytes, keyString, RANGE, type KeyValue, type WatchResponse } from "./wire/protocol.ts";
import type { WatchStream } from "./wire/watch-stream.ts";

export interface WatchFeedOptions {
  readonly loop: Loop;
  readonly log: Log;
  readonly connection: Connection;
  readonly keyspace: Keyspace;
  readonly mirror: Mirror;
  /** Checked after every response. */
  readonly gate: Gate;
  /** How often a silent watch must prove that it is alive. */
  readonly proveEveryMs: number;
  /** Told of every entry before it becomes visible. */
  readonly made: (entry: Entry) => void;
  /** What was before this revision is not to be had from etcd: another server compacted it, or etcd's past has become another one. */
  readonly onCompacted: (revision: number) => void;
  /** Before each further attempt. */
  readonly onReconnect: () => void;
  /** etcd's newest revision, now. */
  readonly newestRevision: () => Promise<number>;
}

type FeedState =
  | { readonly state: "connecting"; readonly reason: string }
  | { readonly state: "live"; readonly stream: WatchStream };

/** Short at first: a restarted etcd is back within a second. */
const RECONNECT: Backoff = { baseMs: 50, maxMs: 3_000 };

/** About five milliseconds of work. */
const SLICE_EVENTS = 500;

export class WatchFeed {
  readonly #options: WatchFeedOptions;
  #state: FeedState = { state: "connecting", reason: "not connected to etcd yet" };
  /** What the next attempt begins with; `forget` is to read everything anew and to count nothing that was before. */
  #begin: "resume" | "reload" | "forget" = "resume";
  #scope: Coverage["scope"] = "everything";
  #hasProgress = false;
  #loadedAt: number;
  #lastEvent: number;
  /** The newest change of ours that memory knows of, by which etcd's past is known again; undefined while there is none. */
  #witness: Witness | undefined;
  /** Responses so far: any is a sign of life. */
  #responses = 0;
  /** The guard of the last session; may be busy with its last question while the next session begins. */
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

  /** How the mirror gets to etcd's newest revision: by itself, when asked, or not at all. */
  get catchesUp(): "always" | "on request" | "never" {
    if (this.#scope === "everything") return "always";
    return this.#hasProgress ? "on request" : "never";
  }

  get health(): StoreHealth {
    const current = this.#state;
    return current.state === "live" ? { state: "ready" } : { state: "degraded", reason: current.reason };
  }

  /** For `on request`: soon moves the mirror to the newest revision, unless events are still on their way. */
  requestProgress(): void {
    if (this.#state.state === "live") this.#state.stream.send({ progress_request: {} });
  }

  /** Ends when the signal comes; rejects when the mirror can never be right again. */
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

  /** What a failed session says about the next. */
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
      log.warn("etcd cannot tell what happened meanwhile: everything is read anew", { error: error.message });
      this.#begin = isOtherPast ? "forget" : "reload";
    }
  }

  async #session(signal: AbortSignal): Promise<void> {
    const { connection, log } = this.#options;
    if (this.#begin !== "resume") await this.#reload();
    if (this.#scope === "prefix") this.#hasProgress = await hasReliableProgress(connection);
    // A watch does not tell an old token from a missing permission (etcd 3.4).
    const { stream, failed } = await connection.openWatch({ token: "new" });
    const over = new AbortController();
    const close = (): void => stream.close(new Error("the watch was closed"));
    signal.addEventListener("abort", close);
    // The signal may have come during an await above, when nobody listened.
    if (signal.aborted) close();
    try {
      const first = await this.#create(stream);
      await this.#recognize();
      this.#state = { state: "live", stream };
      this.#options.gate.check();
      log.debug("watching etcd", { scope: this.#scope, after: this.#options.mirror.revision });
      this.#guarding = this.#guard(stream, over.signal);
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

  /** Begins the watch; gives what came along with etcd's confirmation. */
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
   * Throws `Damaged` when etcd is not as far as memory: an older state of it was restored, or another one. If it has come further again since, what
   * it tells next does not follow from what is here, and what it tells of the past is not what was shown.
   */
  async #recognize(): Promise<void> {
    const { connection, mirror, newestRevision } = this.#options;
    await newestRevision();
    const { revision } = mirror;
    for (const { key, after } of this.#witnesses()) {
      const { kvs } = await connection.call(RANGE, { key: keyBytes(key), revision });
      if (!isSame(kvs[0], after)) throw new PastError(`etcd's past is another one: it has another ${key}`);
    }
  }

  /** A deletion alone says little: what never was is not there either. */
  #witnesses(): readonly Witness[] {
    const last = this.#witness;
    if (last === undefined) return [];
    const { mirror, keyspace } = this.#options;
    const living = last.after === undefined ? newestOf(mirror.state, keyspace) : undefined;
    return living === undefined ? [last] : [last, living];
  }

  /** Applies what comes until the stream breaks. */
  async #follow(stream: WatchStream, first: readonly WatchResponse[]): Promise<never> {
    const { loop, connection, keyspace, mirror } = this.#options;
    const resumedAfter = mirror.revision;
    let isComplete = false;
    for (let responses = first; ; responses = await loop.outside("etcd", stream.next())) {
      if (!isComplete && responses.some(({ events }) => events.length > 0)) {
        // etcd may leave out deletions at the compacted revision itself (etcd#18089): only if it still has the revision
        // before the first event is nothing missing.
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
    const { loop, keyspace, mirror, gate, made } = this.#options;
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
    mirror.skipTo(this.#toldUpTo(responses));
    this.#noteCompaction(responses);
    gate.check();
  }

  /** Everything of ours up to here is in these responses or was before. */
  #toldUpTo(responses: readonly WatchResponse[]): number {
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
    const { connection, keyspace, mirror, gate, onCompacted } = this.#options;
    const state = await readSnapshot(connection, { keyspace });
    if (state.revision < mirror.revision) throw wentBack(mirror.revision, state.revision);
    if (this.#begin === "forget") onCompacted(state.revision);
    mirror.reset(state);
    this.#loadedAt = state.revision;
    this.#lastEvent = state.revision;
    this.#witness = newestOf(state, keyspace);
    this.#begin = "resume";
    gate.check();
  }

  /** A connection can be dead without anybody noticing: a watch that does not follow etcd is closed. */
  async #guard(stream: WatchStream, over: AbortSignal): Promise<void> {
    const { loop, proveEveryMs } = this.#options;
    while (!over.aborted) {
      await pause(loop, { ms: proveEveryMs, kind: "periodic" }, over);
      if (over.aborted) return;
      try {
        await this.#prove(stream);
      } catch (error) {
        stream.close(error instanceof Error ? error : new Error(String(error)));
        return;
      }
    }
  }

  async #prove(stream: WatchStream): Promise<void> {
    const { loop, connection, mirror, gate, newestRevision } = this.#options;
    const revision = await newestRevision();
    const deadline = loop.now() + connection.requestTimeoutMs;
    if (this.#scope === "everything") {
      if (await gate.wait(() => mirror.revision >= revision, deadline)) return;
    } else {
      const before = this.#responses;
      stream.send({ progress_request: {} });
      if (await gate.wait(() => this.#responses > before, deadline)) return;
    }
    throw new Error("the watch is silent while etcd goes on");
  }
}

type Witness = Pick<WatchEvent, "key" | "after">;

function newestOf(view: View, { prefix }: Keyspace): Witness | undefined {
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

/** What etcd has is not what it told before. */
class PastError extends Error {
  override readonly name = "PastError";
}

/** The user may not watch everything. */
class ScopeError extends Error {
  override readonly name = "ScopeError";
}

/** Usually all of them at once; after a long absence in parts, so that others get their turn. */
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
  if (compact_revision > 0) throw new StoreError("Compacted", "etcd no longer has what comes next");
  if (!canceled) return;
  if (cancel_reason.includes("permission denied")) throw new ScopeError(cancel_reason);
  throw new Error(`etcd ended the watch: ${cancel_reason}`);
}

function messageOf(error: unknown): string {
  return errorText(error);
}
