/**
 * Provides views at least as new as all that any server acknowledged before the request. It learns etcd's newest
 * revision through one shared request, and waits until the mirror has reached it.
 */
import type { Loop } from "../../base/loop/loop.ts";
import type { Mirror } from "../mirror.ts";
import { StoreError } from "../store-error.ts";
import type { View } from "../store.ts";
import type { ConditionVariable } from "./condition-variable.ts";
import type { WatchFeed } from "./etcd-watch-feed.ts";
import type { Keyspace } from "./keyspace.ts";
import { SharedRequest } from "./shared-request.ts";
import { readSnapshot } from "./snapshot.ts";
import type { EtcdConnection } from "./wire/etcd-connection.ts";
import { revisionWentBack } from "./wire/etcd-error.ts";
import { RANGE } from "./wire/etcd-protocol.ts";

export interface LinearizableReadsOptions {
  readonly loop: Loop;
  readonly connection: EtcdConnection;
  readonly keyspace: Keyspace;
  readonly mirror: Mirror;
  readonly condition: ConditionVariable;
}

/** Interval of progress requests while a reader waits: etcd answers only after the preceding events. */
const PROGRESS_EVERY_MS = 100;

export class LinearizableReads {
  readonly #options: LinearizableReadsOptions;
  readonly #revision: SharedRequest<number>;
  readonly #snapshot: SharedRequest<View>;
  #clusterId: number | undefined;

  constructor(options: LinearizableReadsOptions) {
    this.#options = options;
    const { connection, keyspace } = options;
    this.#revision = new SharedRequest(() => this.#ask());
    this.#snapshot = new SharedRequest(() => readSnapshot(connection, { keyspace }));
  }

  /** Returns etcd's newest revision at some time after the call. Throws `Unavailable`, or `Damaged` when it went back. */
  newestRevision(): Promise<number> {
    return this.#revision.answer();
  }

  async view(feed: WatchFeed): Promise<View> {
    const { loop, connection, mirror, condition } = this.#options;
    if (feed.catchesUp === "never") return this.#snapshot.answer();
    const deadline = loop.now() + connection.requestTimeoutMs;
    const revision = await this.newestRevision();
    const isReached = (): boolean => mirror.revision >= revision;
    while (!isReached() && loop.now() < deadline) {
      const isOnRequest = feed.catchesUp === "on request";
      if (isOnRequest) feed.requestProgress();
      await condition.wait(
        isReached,
        isOnRequest ? Math.min(deadline, loop.now() + PROGRESS_EVERY_MS) : deadline,
      );
    }
    if (isReached()) return mirror.state;
    const reason = feed.health.reason ?? "the watch on etcd is behind";
    throw new StoreError("Unavailable", `etcd's newest state is not known here: ${reason}`);
  }

  async #ask(): Promise<number> {
    const seen = this.#options.mirror.revision;
    const revision = await this.#read();
    if (revision >= seen) return revision;
    // A paused member has been seen to answer once with an old revision (etcd#20418).
    const again = await this.#read();
    if (again < seen) throw revisionWentBack(seen, again);
    return again;
  }

  /** Not serializable, so the answer needs etcd's quorum. */
  async #read(): Promise<number> {
    const { connection, keyspace } = this.#options;
    const { header } = await connection.call(RANGE, { key: keyspace.absentKey, count_only: true });
    this.#clusterId ??= header.cluster_id;
    if (header.cluster_id !== this.#clusterId) {
      throw new StoreError(
        "Damaged",
        "the etcd endpoints belong to different clusters, or etcd was replaced",
      );
    }
    return header.revision;
  }
}
