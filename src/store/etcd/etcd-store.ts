/**
 * The store over an etcd cluster, for several servers at a time. Reads come from memory, which a watch keeps equal to etcd;
 * writes are etcd transactions, answered once memory has seen them. Keys have their full names in etcd, so a
 * kube-apiserver can take over.
 */
import { silentLog, type Log } from "../../base/log/log.ts";
import { backoffMs, type Backoff } from "../../base/loop/backoff.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { Metrics } from "../../base/metrics/metrics.ts";
import { createEnding } from "../ending.ts";
import { historyWithin } from "../history.ts";
import type { HistoryOptions } from "../history.ts";
import { Mirror } from "../mirror.ts";
import type { State } from "../state.ts";
import { isStoreError, StoreError } from "../store-error.ts";
import { prefixEnd } from "../store.ts";
import type { Committed, Glance, Store, StoreHealth, StoreSpace, Transaction } from "../store.ts";
import type { View, Watch, WatchOptions } from "../store.ts";
import { compactEtcd, Compactor } from "./compactor.ts";
import { EtcdArchive } from "./etcd-archive.ts";
import { EtcdSpace } from "./etcd-space.ts";
import { EtcdWriter } from "./etcd-writer.ts";
import { FreshViews } from "./fresh-view.ts";
import { Gate } from "./gate.ts";
import { Keyspace } from "./keyspace.ts";
import { raiseRevision, type RaiseOptions } from "./revision-raise.ts";
import { readSnapshot } from "./snapshot.ts";
import { WatchFeed } from "./watch-feed.ts";
import { Connection, type EtcdCredentials } from "./wire/connection.ts";
import type { EtcdTls } from "./wire/endpoint.ts";
import { isRefused } from "./wire/etcd-error.ts";

export interface EtcdStoreOptions {
  readonly loop: Loop;
  readonly log?: Log;
  readonly metrics?: Metrics;
  /** `http://HOST:PORT` or `https://HOST:PORT`, members of one cluster. */
  readonly endpoints: readonly string[];
  readonly tls?: EtcdTls;
  readonly credentials?: EtcdCredentials;
  /** All keys of the store are below; ends with a slash. */
  readonly prefix?: string;
  /** How much of etcd's history is kept, at least; 0 leaves compaction to others. */
  readonly compactionIntervalMs?: number;
  readonly history?: HistoryOptions;
  /** Above it, in memory, writes of this server that add data fail with `NoSpace`; none unless given. */
  readonly quotaBytes?: number | undefined;
  /** Bound of every request to etcd. */
  readonly requestTimeoutMs?: number;
  /** How often a silent watch must prove that it is alive. */
  readonly proveEveryMs?: number;
  /** How long etcd may be away when the store is opened. */
  readonly openTimeoutMs?: number;
  /** Once aborted, an etcd that is away is no longer waited for when the store is opened. */
  readonly signal?: AbortSignal;
}

const DEFAULTS = {
  // As kube-apiserver's.
  prefix: "/registry/",
  compactionIntervalMs: 5 * 60_000,
  // A dead connection is noticed after this and a request's bound: before a client's patience ends.
  proveEveryMs: 5_000,
  openTimeoutMs: 15_000,
};

const RETRY_OPEN: Backoff = { baseMs: 50, maxMs: 1_000 };

type Phase =
  | { readonly state: "open" }
  | { readonly state: "broken"; readonly error: StoreError }
  | { readonly state: "closed" };

/** Reads everything, and begins to follow etcd. Fails with `Unavailable` when etcd refuses or stays away. */
export function openEtcdStore(options: EtcdStoreOptions): Promise<EtcdStore> {
  return EtcdStore.open(options);
}

interface Parts {
  readonly connection: Connection;
  readonly keyspace: Keyspace;
  readonly state: State;
}

export class EtcdStore implements Store {
  readonly ended: Promise<void>;
  readonly #end: { readonly resolve: () => void; readonly reject: (error: Error) => void };
  readonly #connection: Connection;
  readonly #keyspace: Keyspace;
  readonly #mirror: Mirror;
  readonly #archive: EtcdArchive;
  readonly #gate: Gate;
  readonly #space: EtcdSpace;
  readonly #writer: EtcdWriter;
  readonly #fresh: FreshViews;
  readonly #feed: WatchFeed;
  readonly #compactor: Compactor | undefined;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #phase: Phase = { state: "open" };

  private constructor(options: EtcdStoreOptions & typeof DEFAULTS & Parts) {
    const { loop, log = silentLog, connection, keyspace, state, quotaBytes } = options;
    const history = historyWithin(quotaBytes, options.history);
    const { promise, ...end } = createEnding();
    this.ended = promise;
    this.#end = end;
    this.#connection = connection;
    this.#keyspace = keyspace;
    const coverage = (): WatchFeed["coverage"] => this.#feed.coverage;
    this.#archive = new EtcdArchive({ loop, connection, keyspace, coverage });
    this.#mirror = new Mirror({ loop, archive: this.#archive, history }, state);
    this.#space = new EtcdSpace(this.#mirror, quotaBytes);
    this.#gate = new Gate(loop);
    const shared = { loop, log, connection, keyspace, mirror: this.#mirror, gate: this.#gate };
    const onCompacted = (revision: number): void => this.#archive.raiseFloor(revision);
    const reconnects = options.metrics?.counter({
      name: "setpoint_etcd_reconnects_total",
      help: "How often the watch on etcd broke or could not be opened.",
    });
    this.#writer = new EtcdWriter(shared);
    this.#fresh = new FreshViews(shared);
    this.#feed = new WatchFeed({
      ...shared,
      onCompacted,
      proveEveryMs: options.proveEveryMs,
      made: (entry) => this.#writer.saw(entry),
      onReconnect: () => reconnects?.add(),
      newestRevision: () => this.#fresh.newestRevision(),
    });
    const intervalMs = options.compactionIntervalMs;
    if (intervalMs > 0) this.#compactor = new Compactor({ ...shared, onCompacted, intervalMs });
  }

  static async open(options: EtcdStoreOptions): Promise<EtcdStore> {
    const { loop } = options;
    const given = { ...DEFAULTS, ...options };
    const connection = new Connection(options);
    const keyspace = new Keyspace(given.prefix);
    const patience = { ...options, deadline: loop.now() + given.openTimeoutMs };
    let store: EtcdStore | undefined;
    try {
      const state = await patiently(patience, () => readSnapshot(connection, { keyspace }));
      store = new EtcdStore({ ...given, connection, keyspace, state });
      await store.#start(patience);
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

  /** Only etcd judges, so nothing is known to be accepted before it is visible. */
  get accepted(): View {
    return this.#mirror.state;
  }

  get acceptedNow(): Glance {
    return this.#mirror.state;
  }

  settling(): undefined {
    return undefined;
  }

  turn(key: string): Promise<void> | undefined {
    return this.#writer.turn(key);
  }

  /** Another server may have acknowledged more. */
  get freshView(): undefined {
    return undefined;
  }

  async fresh(): Promise<View> {
    this.#checkOpen();
    return this.#fresh.view(this.#feed);
  }

  /**
   * What was before this store was opened is what etcd tells to have happened since, undone; or read from etcd whole, if it does not tell all of it or
   * has more to tell than there is to read. So is a revision that memory does not get to, though `fresh` may have shown it.
   */
  async at(revision: number, prefix: string): Promise<View> {
    this.#checkOpen();
    const isBeyond = revision > this.#mirror.revision && this.#feed.catchesUp === "never";
    if (!isBeyond && this.#isUndone(revision, prefix)) return this.#mirror.at(revision, prefix);
    this.#archive.checkFloor(revision);
    return readSnapshot(this.#connection, { keyspace: this.#keyspace, prefix, revision });
  }

  /** Whether memory gets back to a revision, and in no more steps than there are objects. */
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
    this.#mirror.compact(revision);
  }

  /** Takes etcd's revision to `target` or beyond, for a restore. Throws `Overloaded`, with a remedy, where that is too far. */
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
      this.#gate.close();
      await this.#running;
      this.#release(new StoreError("Closed", "the store was closed"));
      this.#end.resolve();
    }
    // How it broke is told by `ended` only: whoever closes has done so either way.
    await this.ended.catch(() => undefined);
  }

  async #start(patience: Patience): Promise<void> {
    this.#running = this.#run();
    const isSettled = (): boolean => this.#phase.state !== "open" || this.#feed.health.state === "ready";
    const probe = async (): Promise<void> => {
      this.#checkOpen();
      await this.#archive.probe();
    };
    const [isLive] = await Promise.all([
      this.#gate.wait(isSettled, patience.deadline),
      patiently(patience, probe),
    ]);
    this.#checkOpen();
    if (!isLive) throw new StoreError("Unavailable", this.#feed.health.reason ?? "etcd stays away");
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
    this.#gate.close();
    this.#connection.close();
  }

  #checkOpen(): void {
    if (this.#phase.state === "closed") throw new StoreError("Closed", "the store was closed");
    if (this.#phase.state === "broken") throw this.#phase.error;
  }
}

interface Patience {
  readonly loop: Loop;
  readonly log?: Log;
  readonly signal?: AbortSignal;
  /** By Loop.now. */
  readonly deadline: number;
}

/** Tries until the deadline while etcd is away; what it refuses it would refuse again. */
async function patiently<T>(patience: Patience, attempt: () => Promise<T>): Promise<T> {
  const { loop, log = silentLog, signal, deadline } = patience;
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
