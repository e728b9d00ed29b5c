/**
 * The store over an etcd cluster, shared by several servers. Reads come from memory, which a watch keeps equal to etcd.
 * Writes are etcd transactions, answered once memory shows them. Keys have kube-apiserver's names, so that a
 * kube-apiserver can take over.
 */
import { silentLog, type Log } from "../../base/log/log.ts";
import { backoffMs, type Backoff } from "../../base/loop/backoff.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { Metrics } from "../../base/metrics/metrics.ts";
import { createDeferred } from "../deferred.ts";
import { historyWithin } from "../history.ts";
import type { HistoryOptions } from "../history.ts";
import { Mirror } from "../mirror.ts";
import type { State } from "../state.ts";
import { isStoreError, StoreError } from "../store-error.ts";
import { prefixEnd } from "../store.ts";
import type { Committed, Lookup, Store, StoreHealth, StoreSpace, Transaction } from "../store.ts";
import type { PastChange, View, Watch, WatchOptions } from "../store.ts";
import { compactEtcd, Compactor } from "./compactor.ts";
import { ConditionVariable } from "./condition-variable.ts";
import { EtcdArchive } from "./etcd-archive.ts";
import { EtcdSpace } from "./etcd-space.ts";
import { WatchFeed } from "./etcd-watch-feed.ts";
import { EtcdWriter } from "./etcd-writer.ts";
import { Keyspace } from "./keyspace.ts";
import { LinearizableReads } from "./linearizable-reads.ts";
import { raiseRevision, type RaiseOptions } from "./revision-raise.ts";
import { readSnapshot } from "./snapshot.ts";
import { EtcdConnection, type EtcdCredentials } from "./wire/etcd-connection.ts";
import type { EtcdTls } from "./wire/etcd-endpoint.ts";
import { isRefused } from "./wire/etcd-error.ts";

export interface EtcdStoreOptions {
  readonly loop: Loop;
  readonly log?: Log;
  readonly metrics?: Metrics;
  /** `http://HOST:PORT` or `https://HOST:PORT` of members of one cluster. */
  readonly endpoints: readonly string[];
  readonly tls?: EtcdTls;
  readonly credentials?: EtcdCredentials;
  /** Prefix of all keys of the store; ends with a slash. */
  readonly prefix?: string;
  /** Least age up to which etcd's history is kept; 0 leaves compaction to others. */
  readonly compactionIntervalMs?: number;
  readonly history?: HistoryOptions;
  /** Bytes in memory above which this server's writes that add data fail with `NoSpace`; default no limit. */
  readonly quotaBytes?: number | undefined;
  /** Timeout of every request to etcd. */
  readonly requestTimeoutMs?: number;
  /** Interval at which a silent watch must prove that it is alive. */
  readonly proveEveryMs?: number;
  /** Upper bound of the wait for etcd when the store is opened. */
  readonly openTimeoutMs?: number;
  /** Aborts the wait for etcd when the store is opened. */
  readonly signal?: AbortSignal;
}

const DEFAULTS = {
  // Kube-apiserver's value.
  prefix: "/registry/",
  compactionIntervalMs: 5 * 60_000,
  // A dead connection is noticed after this plus a request's timeout, before a client gives up.
  proveEveryMs: 5_000,
  openTimeoutMs: 15_000,
};

const RETRY_OPEN: Backoff = { baseMs: 50, maxMs: 1_000 };

type Phase =
  | { readonly state: "open" }
  | { readonly state: "broken"; readonly error: StoreError }
  | { readonly state: "closed" };

/** Reads all keys and starts to follow etcd. Fails with `Unavailable` when etcd refuses or stays unreachable. */
export function openEtcdStore(options: EtcdStoreOptions): Promise<EtcdStore> {
  return EtcdStore.open(options);
}

interface Parts {
  readonly connection: EtcdConnection;
  readonly keyspace: Keyspace;
  readonly state: State;
}

export class EtcdStore implements Store {
  readonly isShared = true;
  readonly ended: Promise<void>;
  readonly #end: { readonly resolve: () => void; readonly reject: (error: Error) => void };
  readonly #connection: EtcdConnection;
  readonly #keyspace: Keyspace;
  readonly #mirror: Mirror;
  readonly #archive: EtcdArchive;
  readonly #condition: ConditionVariable;
  readonly #space: EtcdSpace;
  readonly #writer: EtcdWriter;
  readonly #fresh: LinearizableReads;
  readonly #feed: WatchFeed;
  readonly #compactor: Compactor | undefined;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #phase: Phase = { state: "open" };

  private constructor(options: EtcdStoreOptions & typeof DEFAULTS & Parts) {
    const { loop, log = silentLog, connection, keyspace, state, quotaBytes } = options;
    const history = historyWithin(quotaBytes, options.history);
    const { promise, ...end } = createDeferred();
    this.ended = promise;
    this.#end = end;
    this.#connection = connection;
    this.#keyspace = keyspace;
    const coverage = (): WatchFeed["coverage"] => this.#feed.coverage;
    this.#archive = new EtcdArchive({ loop, connection, keyspace, coverage });
    this.#mirror = new Mirror({ loop, archive: this.#archive, history }, state);
    this.#space = new EtcdSpace(this.#mirror, quotaBytes);
    this.#condition = new ConditionVariable(loop);
    const shared = { loop, log, connection, keyspace, mirror: this.#mirror, condition: this.#condition };
    const onCompacted = (revision: number): void => this.#archive.raiseFloor(revision);
    const reconnects = options.metrics?.counter({
      name: "setpoint_etcd_reconnects_total",
      help: "How often the watch on etcd broke or could not be opened.",
    });
    this.#writer = new EtcdWriter(shared);
    this.#fresh = new LinearizableReads(shared);
    this.#feed = new WatchFeed({
      ...shared,
      onCompacted,
      proveEveryMs: options.proveEveryMs,
      made: (entry) => this.#writer.noteEntry(entry),
      onReconnect: () => reconnects?.add(),
      newestRevision: () => this.#fresh.newestRevision(),
    });
    const intervalMs = options.compactionIntervalMs;
    if (intervalMs > 0) this.#compactor = new Compactor({ ...shared, onCompacted, intervalMs });
  }

  static async open(options: EtcdStoreOptions): Promise<EtcdStore> {
    const { loop } = options;
    const given = { ...DEFAULTS, ...options };
    const connection = new EtcdConnection(options);
    const keyspace = new Keyspace(given.prefix);
    const bounds = { ...options, deadline: loop.now() + given.openTimeoutMs };
    let store: EtcdStore | undefined;
    try {
      const state = await retried(bounds, () => readSnapshot(connection, { keyspace }));
      store = new EtcdStore({ ...given, connection, keyspace, state });
      await store.#start(bounds);
      return store;
    } catch (error) {
      if (store === undefined) connection.close();
      else await store.close();
      throw error;
    }
  }

  get view(): View {
    return this.#mirror.state;
  }

  /** Only etcd judges transactions, so no write counts as accepted before it is visible. */
  get accepted(): View {
    return this.#mirror.state;
  }

  get acceptedNow(): Lookup {
    return this.#mirror.state;
  }

  settling(): undefined {
    return undefined;
  }

  turn(key: string): Promise<void> | undefined {
    return this.#writer.turn(key);
  }

  async fresh(): Promise<View> {
    this.#checkOpen();
    return this.#fresh.view(this.#feed);
  }

  /**
   * Reads an old revision. Revisions before this store was opened are rebuilt by undoing etcd's later events, if etcd
   * still has all of them and they are fewer than the keys. Otherwise the keys are read from etcd. So is a revision
   * that memory never reaches, though `fresh` may have shown it.
   */
  async at(revision: number, prefix: string): Promise<View> {
    this.#checkOpen();
    const isBeyond = revision > this.#mirror.revision && this.#feed.catchesUp === "never";
    if (!isBeyond && this.#isUndone(revision, prefix)) return this.#mirror.at(revision, prefix);
    this.#archive.checkFloor(revision);
    return readSnapshot(this.#connection, { keyspace: this.#keyspace, prefix, revision });
  }

  async change(revision: number, key: string): Promise<PastChange | undefined> {
    this.#checkOpen();
    return this.#mirror.change(revision, key);
  }

  /** Whether memory can rebuild a revision in fewer steps than there are objects. */
  #isUndone(revision: number, prefix: string): boolean {
    const { scope, loadedAt } = this.#feed.coverage;
    if (revision >= loadedAt) return true;
    return (
      scope === "everything" && loadedAt - revision < this.#mirror.state.count(prefix, prefixEnd(prefix))
    );
  }

  async write(transaction: Transaction): Promise<Committed> {
    this.#checkOpen();
    return this.#space.during(transaction, () => this.#writer.write(transaction));
  }

  watch(options: WatchOptions): Watch {
    this.#checkOpen();
    return this.#mirror.watch(options);
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen();
    await compactEtcd(this.#connection, revision);
    this.#archive.raiseFloor(revision);
    // etcd may have compacted a revision, written by another server, that the watch has yet to deliver.
    if (revision > this.#mirror.revision) await this.fresh();
    this.#mirror.compact(revision);
  }

  /** Raises etcd's revision to `target` or beyond, for a restore. Throws `Overloaded`, with a remedy, if that is too far. */
  async raiseRevision(
    target: number,
    options: Pick<RaiseOptions, "loop" | "onProgress" | "signal">,
  ): Promise<void> {
    this.#checkOpen();
    await raiseRevision(target, { ...options, connection: this.#connection, keyspace: this.#keyspace });
    await this.fresh();
  }

  health(): StoreHealth {
    switch (this.#phase.state) {
      case "open":
        return this.#feed.health;
      case "broken":
        return { state: "degraded", reason: this.#phase.error.message };
      case "closed":
        return { state: "degraded", reason: "the store is closed" };
    }
  }

  get space(): StoreSpace {
    return this.#space.look();
  }

  async close(): Promise<void> {
    if (this.#phase.state === "open") {
      this.#phase = { state: "closed" };
      await this.#writer.drained();
      this.#stop.abort();
      this.#condition.close();
      await this.#running;
      this.#release(new StoreError("Closed", "the store was closed"));
      this.#end.resolve();
    }
    // Only `ended` reports a failure; `close` succeeds either way.
    await this.ended.catch(() => undefined);
  }

  async #start(bounds: RetryBounds): Promise<void> {
    this.#running = this.#run();
    const isSettled = (): boolean => this.#phase.state !== "open" || this.#feed.health.state === "ready";
    const probe = async (): Promise<void> => {
      this.#checkOpen();
      await this.#archive.probe();
    };
    const [isLive] = await Promise.all([
      this.#condition.wait(isSettled, bounds.deadline),
      retried(bounds, probe),
    ]);
    this.#checkOpen();
    if (!isLive) throw new StoreError("Unavailable", this.#feed.health.reason ?? "etcd does not answer");
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    try {
      await Promise.all([this.#feed.run(signal), this.#compactor?.run(signal)]);
    } catch (error) {
      this.#break(error);
    }
  }

  #break(cause: unknown): void {
    const error = isStoreError(cause)
      ? cause
      : new StoreError("Damaged", `following etcd failed: ${String(cause)}`, { cause });
    if (this.#phase.state === "open") this.#phase = { state: "broken", error };
    this.#stop.abort();
    this.#release(error);
    this.#end.reject(error);
  }

  #release(error: StoreError): void {
    this.#mirror.end(error);
    this.#condition.close();
    this.#connection.close();
  }

  #checkOpen(): void {
    if (this.#phase.state === "closed") throw new StoreError("Closed", "the store was closed");
    if (this.#phase.state === "broken") throw this.#phase.error;
  }
}

interface RetryBounds {
  readonly loop: Loop;
  readonly log?: Log;
  readonly signal?: AbortSignal;
  /** Deadline by Loop.now. */
  readonly deadline: number;
}

/** Retries transient errors until the deadline; any other refusal of etcd is final. */
async function retried<T>(bounds: RetryBounds, attempt: () => Promise<T>): Promise<T> {
  const { loop, log = silentLog, signal, deadline } = bounds;
  const random = loop.random("open");
  for (let retry = 0; ; retry++) {
    try {
      return await attempt();
    } catch (error) {
      const isPassing = isStoreError(error, "Unavailable") || isStoreError(error, "Compacted");
      const isOver = loop.now() >= deadline || signal?.aborted === true;
      if (!isPassing || isRefused(error) || isOver) throw error;
      if (retry === 0) log.warn("etcd does not answer yet, trying again", { error });
      const at = loop.now() + backoffMs(retry, RETRY_OPEN, random);
      await new Promise<void>((resolve) => loop.timer(at, "progress", resolve));
    }
  }
}
