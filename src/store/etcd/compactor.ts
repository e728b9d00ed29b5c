/**
 * Compacts etcd's history once per interval, for all servers on it together, by kube-apiserver's protocol. Each server
 * tries to write `compact_rev_key`, compared with the version of an interval ago. The first one compacts to the
 * revision of that time, so nothing younger than an interval is dropped.
 */
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { pause } from "../../base/loop/pause.ts";
import { isStoreError } from "../store-error.ts";
import { COMPACT_REV_KEY, type Keyspace } from "./keyspace.ts";
import type { EtcdConnection } from "./wire/etcd-connection.ts";
import { isPermissionDenied } from "./wire/etcd-error.ts";
import { COMPACT, EQUAL, keyBytes, TARGET_VERSION, TXN } from "./wire/etcd-protocol.ts";

export interface CompactorOptions {
  readonly loop: Loop;
  readonly log: Log;
  readonly connection: EtcdConnection;
  readonly keyspace: Keyspace;
  readonly intervalMs: number;
  /** Called after this process compacted etcd to this revision. */
  readonly onCompacted: (revision: number) => void;
}

export class Compactor {
  readonly #options: CompactorOptions;
  #key = COMPACT_REV_KEY;
  /** Version of the key and etcd's revision at the last check (0 before the first). */
  #version = 0;
  #revision = 0;

  constructor(options: CompactorOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { loop, log, intervalMs } = this.#options;
    while (!signal.aborted) {
      await pause(loop, { ms: intervalMs, kind: "periodic" }, signal);
      if (signal.aborted) return;
      try {
        await this.#turn();
      } catch (error) {
        if (!isStoreError(error)) throw error;
        if (isPermissionDenied(error) && !this.#mayUseAnotherKey()) {
          log.warn("this etcd user may not compact: let etcd do so itself (--auto-compaction-retention)");
          return;
        }
        log.warn("etcd was not compacted, next try after the interval", { error: error.message });
      }
    }
  }

  #mayUseAnotherKey(): boolean {
    const { ownCompactRevKey } = this.#options.keyspace;
    if (this.#key === ownCompactRevKey) return false;
    this.#key = ownCompactRevKey;
    return true;
  }

  async #turn(): Promise<void> {
    const { connection, log, onCompacted } = this.#options;
    const key = keyBytes(this.#key);
    const [version, revision] = [this.#version, this.#revision];
    const { header, succeeded, responses } = await connection.call(TXN, {
      compare: [{ result: EQUAL, target: TARGET_VERSION, key, version }],
      success: [{ request_put: { key, value: keyBytes(String(revision)) } }],
      failure: [{ request_range: { key } }],
    });
    this.#revision = header.revision;
    this.#version = succeeded ? version + 1 : (responses[0]?.response_range?.kvs[0]?.version ?? 0);
    if (!succeeded || revision === 0) return;
    await compactEtcd(connection, revision);
    onCompacted(revision);
    log.debug("compacted etcd", { revision });
  }
}

/** Compacting twice is a no-op. Throws `FutureRevision`. */
export async function compactEtcd(connection: EtcdConnection, revision: number): Promise<void> {
  try {
    await connection.call(COMPACT, { revision });
  } catch (error) {
    if (!isStoreError(error, "Compacted")) throw error;
  }
}
