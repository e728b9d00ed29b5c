/** Tracks unreadable stored values that were found, for the log, the metrics and the warnings of lists. */
import type { Log } from "../../../base/log/log.ts";
import { isUnder } from "../../../store/key-group.ts";
import type { Entry, View } from "../../../store/store.ts";
import { StoredObject } from "../stored-object.ts";
import { UnreadableValue } from "../unreadable.ts";

/** Bound of the recorded keys. Values of further keys are skipped too. */
const KEYS_MAX = 10_000;
/** Bound of the log lines, one per value. */
const LOGGED_MAX = 100;

export interface UnreadableOptions {
  readonly log: Log;
}

export class UnreadableEntries {
  readonly #log: Log;
  /** Revision of the unreadable value, by key. */
  readonly #found = new Map<string, number>();
  /** Unreadable entries, so that each is tried only once. */
  readonly #known = new WeakSet<Entry>();
  #logged = 0;

  constructor({ log }: UnreadableOptions) {
    this.#log = log;
  }

  isReadable(entry: Entry): boolean {
    if (this.#known.has(entry)) return false;
    try {
      StoredObject.of(entry);
      return true;
    } catch (error) {
      if (!(error instanceof UnreadableValue)) throw error;
      this.#note(entry, error);
      return false;
    }
  }

  /** Recorded keys whose value is unchanged. */
  under(prefix: string, view: View): readonly string[] {
    const keys: string[] = [];
    for (const [key, revision] of this.#found) {
      if (view.get(key)?.modRevision !== revision) this.#found.delete(key);
      else if (isUnder(key, prefix)) keys.push(key);
    }
    return keys.toSorted();
  }

  #note(entry: Entry, error: UnreadableValue): void {
    this.#known.add(entry);
    if (this.#found.size < KEYS_MAX) this.#found.set(entry.key, entry.modRevision);
    this.#logged += 1;
    if (this.#logged <= LOGGED_MAX)
      this.#log.warn("a stored value cannot be read: its object is not served", { error: error.message });
  }
}
