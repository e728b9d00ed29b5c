/**
 * Who wrote which revision, and why: kept for a while beside the history, in this server's memory. A loop that writes
 * because of something names it in the header `Setpoint-Cause`; the journal says it again to whoever asks why.
 */
import { managerName } from "../../api/apply/writer.ts";
import { Fifo } from "../../base/loop/loop-fifo.ts";
import type { AcceptedRequest } from "../request/http.ts";

/** Who makes a request. Handed on as an argument to wherever something is written. */
export interface Author {
  readonly user: string;
  /** Who owns the fields that are written. */
  readonly manager: string;
  readonly userAgent: string;
  /** What the author was led by, in words of its own: the id of a reconcile. */
  readonly cause: string | undefined;
}

/** One write: all keys that it changed have this revision. */
export interface JournalEntry extends Author {
  readonly revision: number;
  readonly keys: readonly string[];
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The server's own upkeep. */
export const SERVER_AUTHOR: Author = {
  user: "system:apiserver",
  manager: "kube-apiserver",
  userAgent: "kube-apiserver",
  cause: undefined,
};

const CAUSE_HEADER = "setpoint-cause";
/** An id, not a story. */
const CAUSE = /^[\x21-\x7e]{1,128}$/;
const AGENT_LENGTH_MAX = 256;

/** A cause that is no id is left out: nobody's write fails because of it. */
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

/** Some seconds of the busiest cluster, or days of a small one. */
const DEFAULT_LIMITS: JournalLimits = { maxEntries: 20_000, maxBytes: 8 << 20 };

/** What is written all the time has a part of its own, an eighth, and pushes nothing else out. */
const BUSY_PART = 8;

function isBusy(key: string): boolean {
  return key.startsWith("/registry/leases/") || key.startsWith("/registry/events/");
}

export class Journal {
  readonly #ordinary: Pages;
  readonly #busy: Pages;

  constructor({ maxEntries, maxBytes }: JournalLimits = DEFAULT_LIMITS) {
    this.#ordinary = new Pages({ maxEntries, maxBytes });
    this.#busy = new Pages({
      maxEntries: Math.ceil(maxEntries / BUSY_PART),
      maxBytes: Math.ceil(maxBytes / BUSY_PART),
    });
  }

  record(entry: JournalEntry): void {
    (entry.keys.every(isBusy) ? this.#busy : this.#ordinary).add(entry);
  }

  /** Undefined when it is forgotten, or was no client's write (a key that expired, another server's). */
  findByRevision(revision: number): JournalEntry | undefined {
    return [...this.#ordinary, ...this.#busy].find((entry) => entry.revision === revision);
  }

  /** What is remembered of a key of the store, oldest first. */
  of(key: string): readonly JournalEntry[] {
    return [...this.#busy, ...this.#ordinary].filter(({ keys }) => keys.includes(key));
  }
}

/** What an entry costs beside its texts, about: itself, its keys, and its place among the others. */
const ENTRY_BYTES = 150;

/** Entries within bounds; the oldest go first. Every write adds one and hardly anybody asks for one: so they are looked for when they are. */
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
