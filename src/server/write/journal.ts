/**
 * Remembers recent writes in this server's memory: author, revision, keys, cause. A controller names the cause of a
 * write in the header `Setpoint-Cause`. The journal shows it to clients that ask why an object changed.
 */
import { managerName } from "../../api/apply/writer.ts";
import { Fifo } from "../../base/loop/loop-fifo.ts";
import type { AcceptedRequest } from "../request/http.ts";

/** Author of a request; passed as an argument to each write. */
export interface Author {
  readonly user: string;
  /** Field manager of the written fields. */
  readonly manager: string;
  readonly userAgent: string;
  /** Cause of the write as the author names it, for example the id of a reconcile. */
  readonly cause: string | undefined;
}

/** One write. All keys that it changed have this revision. */
export interface JournalEntry extends Author {
  readonly revision: number;
  readonly keys: readonly string[];
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Author of the server's own upkeep. */
export const SERVER_AUTHOR: Author = {
  user: "system:apiserver",
  manager: "kube-apiserver",
  userAgent: "kube-apiserver",
  cause: undefined,
};

const CAUSE_HEADER = "setpoint-cause";
/** The cause is an id without spaces, not a sentence. */
const CAUSE = /^[\x21-\x7e]{1,128}$/;
const AGENT_LENGTH_MAX = 256;

/** Author of a request. An invalid cause is dropped, so that it never fails a write. */
export function authorOf({ request, query, user }: Authored): Author {
  const userAgent = request.headers.get("user-agent") ?? "";
  const cause = request.headers.get(CAUSE_HEADER);
  return {
    user: user.name,
    manager: managerName(query.get("fieldManager") ?? "", userAgent),
    userAgent: userAgent.slice(0, AGENT_LENGTH_MAX),
    cause: cause !== undefined && CAUSE.test(cause) ? cause : undefined,
  };
}

interface Authored {
  readonly request: AcceptedRequest;
  readonly query: URLSearchParams;
  readonly user: { readonly name: string };
}

export interface JournalLimits {
  readonly maxEntries: number;
  readonly maxBytes: number;
}

/** Some seconds of writes in the busiest cluster, or days in a small one. */
const DEFAULT_LIMITS: JournalLimits = { maxEntries: 20_000, maxBytes: 8 << 20 };

/** Frequent writes get a part of their own, an eighth, so that they never evict other entries. */
const FREQUENT_PART = 8;

/** `frequent`: a heartbeat or a record, which is written all the time and seldom asked about. */
export type WriteFrequency = "ordinary" | "frequent";

export class Journal {
  readonly #ordinary: Pages;
  readonly #frequent: Pages;

  constructor({ maxEntries, maxBytes }: JournalLimits = DEFAULT_LIMITS) {
    this.#ordinary = new Pages({ maxEntries, maxBytes });
    this.#frequent = new Pages({
      maxEntries: Math.ceil(maxEntries / FREQUENT_PART),
      maxBytes: Math.ceil(maxBytes / FREQUENT_PART),
    });
  }

  record(entry: JournalEntry, frequency: WriteFrequency = "ordinary"): void {
    (frequency === "frequent" ? this.#frequent : this.#ordinary).add(entry);
  }

  /** Undefined if the entry is evicted, or if no client of this server made the write (expiry, another server). */
  findByRevision(revision: number): JournalEntry | undefined {
    return [...this.#ordinary, ...this.#frequent].find((entry) => entry.revision === revision);
  }

  /** Remembered writes of a key, oldest first. */
  of(key: string): readonly JournalEntry[] {
    return [...this.#frequent, ...this.#ordinary].filter(({ keys }) => keys.includes(key));
  }
}

/** Estimated memory of an entry beside its texts: the object, its keys and its slot in the queue. */
const ENTRY_BYTES = 150;

/**
 * A bounded queue of entries that evicts the oldest. Lookups scan it, because writes are frequent and lookups are
 * rare.
 */
class Pages implements Iterable<JournalEntry> {
  readonly #entries = new Fifo<JournalEntry>();
  readonly #limits: JournalLimits;
  #bytes = 0;

  constructor(limits: JournalLimits) {
    this.#limits = limits;
  }

  [Symbol.iterator](): Iterator<JournalEntry> {
    return this.#entries[Symbol.iterator]();
  }

  add(entry: JournalEntry): void {
    this.#entries.push(entry);
    this.#bytes += bytesOf(entry);
    while (!this.#fits) {
      const oldest = this.#entries.shift();
      if (oldest !== undefined) this.#bytes -= bytesOf(oldest);
    }
  }

  get #fits(): boolean {
    const { maxEntries, maxBytes } = this.#limits;
    return this.#entries.length <= maxEntries && this.#bytes <= maxBytes;
  }
}

function bytesOf({ keys, user, manager, userAgent, cause = "" }: JournalEntry): number {
  let bytes = ENTRY_BYTES + user.length + manager.length + userAgent.length + cause.length;
  for (const key of keys) bytes += key.length;
  return bytes;
}
