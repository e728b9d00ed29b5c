/** Reads from etcd the history that memory lacks, through a watch that begins in the past. */
import type { Loop } from "../../base/loop/loop.ts";
import type { Archive, ArchivePiece } from "../archive.ts";
import { isStoreError, StoreError } from "../store-error.ts";
import type { WatchEvent } from "../store.ts";
import { revisionsOf } from "./feed-events.ts";
import { toEntry, type Keyspace } from "./keyspace.ts";
import type { EtcdConnection } from "./wire/etcd-connection.ts";
import {
  ALL_KEYS,
  EVENT_DELETE,
  keyString,
  RANGE,
  type EtcdEvent,
  type WatchResponse,
} from "./wire/etcd-protocol.ts";
import type { WatchStream } from "./wire/watch-stream.ts";

/** A piece ends with the response that exceeds this. */
const PIECE_EVENTS = 1_000;

/** Revision of an etcd without any write. */
const FIRST_REVISION = 1;

/** The feed's knowledge of the past. */
export interface Coverage {
  /** "everything" when all of etcd is watched: then every revision has an event. */
  readonly scope: "everything" | "prefix";
  /** Revision at which memory was loaded. */
  readonly loadedAt: number;
  /** Newest revision of the store's keys that the feed delivered since; `loadedAt` without one. */
  readonly lastEvent: number;
}

export interface EtcdArchiveOptions {
  readonly loop: Loop;
  readonly connection: EtcdConnection;
  readonly keyspace: Keyspace;
  readonly coverage: () => Coverage;
}

export class EtcdArchive implements Archive {
  readonly #options: EtcdArchiveOptions;
  #floor = 0;

  constructor(options: EtcdArchiveOptions) {
    this.#options = options;
  }

  get floor(): number {
    return this.#floor;
  }

  /** Records that etcd compacted its history before this revision. */
  raiseFloor(revision: number): void {
    this.#floor = Math.max(this.#floor, revision);
  }

  /** Throws `Compacted` for an older revision. */
  checkFloor(revision: number): void {
    if (revision < this.#floor) throw compacted(revision, this.#floor);
  }

  /** Finds etcd's compacted revision: etcd reports it only to a watch that cannot begin. */
  async probe(): Promise<void> {
    const key = this.#options.keyspace.absentKey;
    try {
      await this.#checkKept(FIRST_REVISION);
      return;
    } catch (error) {
      if (!isStoreError(error, "Compacted")) throw error;
    }
    const request = { key, range_end: Uint8Array.of(...key, 0), start_revision: FIRST_REVISION };
    await this.#watch(request, async (stream) => {
      while (this.#floor === 0) this.#noteFloor(await stream.next());
    });
  }

  async read(after: number, upTo: number): Promise<ArchivePiece> {
    this.checkFloor(after);
    const { scope, loadedAt, lastEvent } = this.#options.coverage();
    // A watch of the prefix alone does not report its progress. It must deliver all that the feed has delivered.
    if (scope === "prefix" && after < loadedAt) throw compacted(after, loadedAt);
    const target = scope === "everything" ? upTo : Math.min(upTo, lastEvent);
    if (target <= after) return { commits: [], through: upTo };
    await this.#checkKept(after);
    const range = scope === "everything" ? ALL_KEYS : this.#options.keyspace.range;
    const request = { ...range, start_revision: after + 1, prev_kv: true };
    const events = await this.#watch(request, (stream) => this.#collect(stream, { after, target }));
    await this.#checkKept(after);
    const last = events.at(-1)?.kv.mod_revision ?? after;
    return { commits: this.#commits(events, upTo), through: last >= target ? upTo : last };
  }

  async #collect(stream: WatchStream, span: { after: number; target: number }): Promise<EtcdEvent[]> {
    const events: EtcdEvent[] = [];
    for (;;) {
      const responses = await stream.next();
      this.#check(responses, span.after);
      for (const response of responses) events.push(...response.events);
      const last = events.at(-1)?.kv.mod_revision ?? 0;
      if (last >= span.target || events.length >= PIECE_EVENTS) return events;
    }
  }

  #commits(events: readonly EtcdEvent[], upTo: number): ArchivePiece["commits"] {
    return [...revisionsOf(events, this.#options.keyspace)]
      .filter(([revision]) => revision <= upTo)
      .map(([revision, group]) => ({ revision, events: group.map(toWatchEvent) }));
  }

  #noteFloor(responses: readonly WatchResponse[]): void {
    for (const { compact_revision } of responses) this.raiseFloor(compact_revision);
  }

  #check(responses: readonly WatchResponse[], after: number): void {
    this.#noteFloor(responses);
    for (const { canceled, compact_revision, cancel_reason } of responses) {
      if (compact_revision > 0) throw compacted(after, compact_revision);
      if (canceled) throw new StoreError("Unavailable", `etcd refuses to watch: ${cancel_reason}`);
    }
  }

  /**
   * etcd may omit deletions at the compacted revision itself (etcd#18089). The history is complete only if the previous
   * revision still exists.
   */
  async #checkKept(after: number): Promise<void> {
    const { connection, keyspace } = this.#options;
    if (after === 0) return;
    await connection.call(RANGE, { key: keyspace.absentKey, count_only: true, revision: after });
  }

  async #watch<T>(
    request: { key: Uint8Array; range_end: Uint8Array; start_revision: number; prev_kv?: boolean },
    use: (stream: WatchStream) => Promise<T>,
  ): Promise<T> {
    const { loop, connection } = this.#options;
    // Callers have sent a request before, which replaced an expired token.
    const { stream } = await connection.openWatch({ token: "known" });
    const late = new StoreError("Unavailable", "etcd did not send its history in time");
    const timer = loop.timer(loop.now() + connection.requestTimeoutMs, "progress", () => stream.close(late));
    try {
      stream.send({ create_request: request });
      return await loop.outside("etcd", use(stream));
    } catch (error) {
      if (error instanceof StoreError) throw error;
      throw new StoreError("Unavailable", `etcd did not send its history: ${String(error)}`, {
        cause: error,
      });
    } finally {
      timer.cancel();
      stream.close(late);
    }
  }
}

function toWatchEvent(event: EtcdEvent, ordinal: number): WatchEvent {
  return {
    revision: event.kv.mod_revision,
    ordinal,
    key: keyString(event.kv.key),
    before: event.prev_kv === null ? undefined : toEntry(event.prev_kv, 0),
    after: event.type === EVENT_DELETE ? undefined : toEntry(event.kv, ordinal),
  };
}

function compacted(revision: number, floor: number): StoreError {
  return new StoreError(
    "Compacted",
    `revision ${String(revision)} is no longer kept, the oldest is ${String(floor)}: read the newest state and go on from there`,
    { floor },
  );
}
