/**
 * Remembers recent writes in this server's memory: author, revision, keys, cause. A controller names the cause of a
 * write in the header `Setpoint-Cause` (`cause-text.ts`). `causes.setpoint.dev` shows the journal to clients.
 */
import { managerName } from "../../api/apply/writer.ts";
import { isCause } from "../../api/causes/cause-text.ts";
import { Fifo } from "../../base/loop/loop-fifo.ts";
import type { AcceptedRequest } from "../request/http.ts";

/** Author of a request; passed as an argument to each write. */
export interface Author {
  readonly user: string;
  /** Field manager of the written fields. */
  readonly manager: string;
  readonly userAgent: string;
  /** Command of kubectl, as its header states it. */
  readonly command?: string | undefined;
  /** Id of the request in the audit log; absent for requests in the process. */
  readonly auditId?: string | undefined;
  /** Text of the cause, as the author states it. */
  readonly cause: string | undefined;
}

/** One write. All keys that it changed have this revision. */
export interface JournalEntry extends Author {
  readonly revision: number;
  /** The key of the written object is first; the others are written with it. */
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
/** Kubectl sends its command line in it, without arguments. */
const COMMAND_HEADER = "kubectl-command";
const COMMAND = /^[a-z][a-z -]{0,63}$/;
const AGENT_LENGTH_MAX = 256;
const AUDIT_ID_LENGTH_MAX = 64;
/** Longer ones are refused before. */
const MANAGER_LENGTH_MAX = 128;

/** Author of a request. An invalid cause is dropped, so that it never fails a write. */
export function authorOf({ request, query, user, notes }: Authored): Author {
  const userAgent = request.headers.get("user-agent") ?? "";
  const cause = request.headers.get(CAUSE_HEADER);
  const command = request.headers.get(COMMAND_HEADER);
  return {
    user: user.name,
    manager: ownText(managerName(query.get("fieldManager") ?? "", userAgent), MANAGER_LENGTH_MAX),
    userAgent: ownText(userAgent, AGENT_LENGTH_MAX),
    cause: cause !== undefined && isCause(cause) ? cause : undefined,
    ...(command !== undefined && COMMAND.test(command) && { command }),
    ...(notes?.auditId !== undefined && { auditId: ownText(notes.auditId, AUDIT_ID_LENGTH_MAX) }),
  };
}

/** Copies the text: a slice would keep the whole header in memory for as long as the entry. */
function ownText(text: string, lengthMax: number): string {
  return Buffer.from(text.slice(0, lengthMax)).toString();
}

interface Authored {
  readonly request: AcceptedRequest;
  readonly query: URLSearchParams;
  readonly user: { readonly name: string };
  readonly notes?: { readonly auditId: string | undefined };
}

export interface JournalLimits {
  readonly maxEntries: number;
  readonly maxBytes: number;
}

/** Some seconds of writes in the busiest cluster, or days in a small one. */
const JOURNAL_LIMITS: JournalLimits = { maxEntries: 20_000, maxBytes: 16 << 20 };

/** Frequent writes get a part of their own, an eighth, so that they never evict other entries. */
const FREQUENT_PART = 8;

/** `frequent`: a heartbeat or a record, which is written all the time and seldom asked about. */
export type WriteFrequency = "ordinary" | "frequent";

export class Journal {
  readonly #ordinary: JournalPart;
  readonly #frequent: JournalPart;

  readonly #start: number;

  /** `start` is the revision of the store when the journal begins. */
  constructor(start = 0, { maxEntries, maxBytes }: JournalLimits = JOURNAL_LIMITS) {
    this.#start = start;
    this.#ordinary = new JournalPart({ maxEntries, maxBytes });
    this.#frequent = new JournalPart({
      maxEntries: Math.ceil(maxEntries / FREQUENT_PART),
      maxBytes: Math.ceil(maxBytes / FREQUENT_PART),
    });
  }

  record(entry: JournalEntry, frequency: WriteFrequency = "ordinary"): void {
    (frequency === "frequent" ? this.#frequent : this.#ordinary).add(entry);
  }

  /** Undefined if the entry is evicted, or if no client of this server made the write (expiry, another server). */
  findByRevision(revision: number): JournalEntry | undefined {
    return this.#ordinary.byRevision.get(revision) ?? this.#frequent.byRevision.get(revision);
  }

  /** Remembered writes of a key, oldest first. */
  of(key: string): readonly JournalEntry[] {
    const [ordinary, frequent] = [this.#ordinary.byKey.get(key), this.#frequent.byKey.get(key)];
    return [...(frequent ?? []), ...(ordinary ?? [])];
  }

  /** Remembered writes of the pass that made a write, oldest first; empty for a write without a cause. */
  ofPass(entry: JournalEntry): readonly JournalEntry[] {
    const { cause, user } = entry;
    if (cause === undefined) return [];
    const found = this.#ordinary.byCause.get(cause) ?? this.#frequent.byCause.get(cause) ?? [];
    // A client cannot add writes to the pass of another user.
    return found.filter((each) => each.user === user);
  }

  /** Remembered ordinary writes after a revision, oldest first. */
  *since(revision: number): IterableIterator<JournalEntry> {
    for (const entry of this.#ordinary.entries) if (entry.revision > revision) yield entry;
  }

  /** The newest remembered ordinary write at a time; undefined when all are newer. */
  newestAt(time: number): JournalEntry | undefined {
    let found: JournalEntry | undefined;
    for (const entry of this.#ordinary.entries) if (entry.at <= time) found = entry;
    return found;
  }

  /** Revision after which all ordinary writes of this server are remembered. */
  get floor(): number {
    return Math.max(this.#start, this.#ordinary.evictedThrough);
  }
}

/** Estimated memory of an entry beside its texts: the object, its keys, its slots in the queue and in three indexes. */
const ENTRY_BYTES = 400;

/** A bounded queue of entries that evicts the oldest, with indexes. The indexes hold exactly the queued entries. */
class JournalPart {
  readonly entries = new Fifo<JournalEntry>();
  readonly byRevision = new Map<number, JournalEntry>();
  readonly byKey = new Map<string, JournalEntry[]>();
  /** The writes of a pass have the same text, so that no key is made for a write. */
  readonly byCause = new Map<string, JournalEntry[]>();
  /** Newest revision whose entry was evicted. */
  evictedThrough = 0;
  readonly #limits: JournalLimits;
  #bytes = 0;

  constructor(limits: JournalLimits) {
    this.#limits = limits;
  }

  add(entry: JournalEntry): void {
    this.entries.push(entry);
    this.byRevision.set(entry.revision, entry);
    for (const key of entry.keys) append(this.byKey, key, entry);
    if (entry.cause !== undefined) append(this.byCause, entry.cause, entry);
    this.#bytes += bytesOf(entry);
    while (!this.#fits) this.#evictOldest();
  }

  #evictOldest(): void {
    const oldest = this.entries.shift();
    if (oldest === undefined) return;
    this.evictedThrough = oldest.revision;
    this.byRevision.delete(oldest.revision);
    for (const key of oldest.keys) removeFirst(this.byKey, key);
    if (oldest.cause !== undefined) removeFirst(this.byCause, oldest.cause);
    this.#bytes -= bytesOf(oldest);
  }

  get #fits(): boolean {
    const { maxEntries, maxBytes } = this.#limits;
    return this.entries.length <= maxEntries && this.#bytes <= maxBytes;
  }
}

function append(index: Map<string, JournalEntry[]>, key: string, entry: JournalEntry): void {
  const known = index.get(key);
  if (known === undefined) index.set(key, [entry]);
  else known.push(entry);
}

/** The oldest entry of the queue is the first of each of its lists. */
function removeFirst(index: Map<string, JournalEntry[]>, key: string): void {
  const known = index.get(key);
  if (known === undefined || known.length <= 1) index.delete(key);
  else known.shift();
}

/** Runs for every write: it allocates nothing. */
function bytesOf(entry: JournalEntry): number {
  const { keys, user, manager, userAgent, cause = "", command = "", auditId = "" } = entry;
  let bytes = ENTRY_BYTES + user.length + manager.length + userAgent.length;
  bytes += cause.length + command.length + auditId.length;
  for (const key of keys) bytes += key.length;
  return bytes;
}
