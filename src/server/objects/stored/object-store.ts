/**
 * The store as the server uses it. Entries keep their stored bytes; `StoredObject` decodes one on first use, as its
 * slot says. Values of encrypted resources are encrypted on write, with the unencrypted form kept in the slot.
 *
 * An unreadable entry is left out of ranges and watches, so it affects only its own object. `get` returns it, and
 * reading it throws an UnreadableValue.
 */
import { prefixEnd } from "../../../store/store.ts";
import type {
  Change,
  Committed,
  Entry,
  PastChange,
  Store,
  StoreHealth,
  StoreSpace,
  Transaction,
} from "../../../store/store.ts";
import type {
  Lookup,
  Mark,
  MarkedChange,
  View,
  Watch,
  WatchBatch,
  WatchEvent,
  WatchOptions,
} from "../../../store/store.ts";
import type { Encryption } from "../encryption/encryption.ts";
import { EntryDecoder } from "../encryption/entry-decoder.ts";
import type { Transformer } from "../encryption/transformer.ts";
import { isEncoded } from "../object-encoder.ts";
import { StoredObject, UnreadValue } from "../stored-object.ts";
import { UnreadableEntries } from "./unreadable-entries.ts";
import type { UnreadableOptions } from "./unreadable-entries.ts";
import type { ValueReader } from "./value-reader.ts";

/** Values read in one step: a few milliseconds. */
const PIECE = 100;

export interface ObjectStoreOptions extends UnreadableOptions {
  readonly store: Store;
  readonly reader: ValueReader;
  /** Encryption of resources. Default: all are stored unencrypted. */
  readonly encryption?: Encryption | undefined;
}

class Reading {
  readonly #encryption: Encryption | undefined;
  readonly #reader: ValueReader;
  /** One slot for all entries with the same transformer. */
  readonly #slots = new WeakMap<Transformer, UnreadValue>();
  readonly #unencrypted: UnreadValue;

  constructor({ encryption, reader }: Pick<ObjectStoreOptions, "encryption" | "reader">) {
    this.#encryption = encryption;
    this.#reader = reader;
    this.#unencrypted = new UnreadValue(new EntryDecoder({ transformer: undefined, reader }), undefined);
  }

  /** Returns the entry, with a slot that knows how to decode it. */
  marked(entry: Entry): Entry {
    if (entry.slot === undefined) entry.slot = this.#slotOf(entry.key);
    else if (this.#encryption?.hasChanged === true) this.#mendSlot(entry, this.#encryption);
    return entry;
  }

  /** The change with its value encrypted. */
  encrypted(change: Change): Change {
    if (change.type === "delete") return change;
    const { key, value, slot } = change;
    const transformer = this.#encryption?.transformerOf(key);
    if (transformer === undefined) return change;
    const written = isEncoded(slot) ? slot : undefined;
    return {
      ...change,
      value: transformer.encrypt(value, key),
      slot: new UnreadValue(new EntryDecoder({ transformer, reader: this.#reader }), written),
    };
  }

  #slotOf(key: string): UnreadValue {
    const transformer = this.#encryption?.transformerOf(key);
    if (transformer === undefined) return this.#unencrypted;
    const known = this.#slots.get(transformer);
    if (known !== undefined) return known;
    const slot = new UnreadValue(new EntryDecoder({ transformer, reader: this.#reader }), undefined);
    this.#slots.set(transformer, slot);
    return slot;
  }

  /**
   * Decodes a value again after the rules changed: it may be stale now, and the next write encrypts it again even if the
   * object is unchanged.
   */
  #mendSlot(entry: Entry, encryption: Encryption): void {
    const transformer = encryption.transformerOf(entry.key);
    const before = this.#decoderOf(entry.slot);
    if (before.transformer === transformer) return;
    entry.slot = new UnreadValue(new EntryDecoder({ transformer, reader: this.#reader, before }), undefined);
  }

  /** An entry written unencrypted has no decoder. */
  #decoderOf(slot: unknown): EntryDecoder {
    const decoder = slot instanceof UnreadValue || slot instanceof StoredObject ? slot.decoder : undefined;
    return decoder instanceof EntryDecoder
      ? decoder
      : new EntryDecoder({ transformer: undefined, reader: this.#reader });
  }
}

export class ObjectStore implements Store {
  readonly #store: Store;
  readonly #reading: Reading;
  readonly #unreadable: UnreadableEntries;
  /** Prefixes whose entries were read once, or are being read. Bounded by the number of resources. */
  readonly #begun = new Map<string, Promise<void> | "read">();
  readonly #views = new WeakMap<View, View>();
  readonly acceptedNow: Lookup;

  constructor(options: ObjectStoreOptions) {
    const { store } = options;
    const reading = new Reading(options);
    this.#store = store;
    this.#reading = reading;
    this.#unreadable = new UnreadableEntries(options);
    this.acceptedNow = {
      get: (key) => {
        const entry = store.acceptedNow.get(key);
        return entry === undefined ? undefined : reading.marked(entry);
      },
      mark: (prefix) => store.acceptedNow.mark(prefix),
    };
  }

  get view(): View {
    return this.#seen(this.#store.view);
  }

  get accepted(): View {
    return this.#seen(this.#store.accepted);
  }

  get isShared(): boolean {
    return this.#store.isShared;
  }

  get ended(): Promise<void> {
    return this.#store.ended;
  }

  settling(): Promise<boolean> | undefined {
    return this.#store.settling();
  }

  turn(key: string): Promise<void> | undefined {
    return this.#store.turn(key);
  }

  fresh(): View | Promise<View> {
    const fresh = this.#store.fresh();
    return fresh instanceof Promise ? fresh.then((view) => this.#seen(view)) : this.#seen(fresh);
  }

  async at(revision: number, prefix: string): Promise<View> {
    return this.#seen(await this.#store.at(revision, prefix));
  }

  async change(revision: number, key: string): Promise<PastChange | undefined> {
    const change = await this.#store.change(revision, key);
    if (change === undefined) return undefined;
    return { ...change, before: this.findReadable(change.before), after: this.findReadable(change.after) };
  }

  /** Encrypts without an await, so that writes reach the store in call order. */
  write(transaction: Transaction): Promise<Committed> {
    const changes = transaction.changes.map((change) => this.#reading.encrypted(change));
    return this.#store.write({ ...transaction, changes });
  }

  watch(options: WatchOptions): Watch {
    return new ObjectWatch(this.#store.watch(options), this);
  }

  /** Keys under the prefix with an unreadable value, as far as found. */
  unreadable(prefix: string): readonly string[] {
    return this.#unreadable.under(prefix, this.#store.view);
  }

  /**
   * Undefined if the entries of a resource were read before; otherwise settles once they are. Reads in pieces, with
   * `turn` between them, so that the first list after a start does not block other requests.
   */
  ready(prefix: string, turn: () => Promise<void>): Promise<void> | undefined {
    const begun = this.#begun.get(prefix);
    if (begun !== undefined) return begun === "read" ? undefined : begun;
    if (this.#store.view.count(prefix, prefixEnd(prefix)) <= PIECE) {
      this.#begun.set(prefix, "read");
      return undefined;
    }
    const reading = this.#readAll(prefix, turn);
    this.#begun.set(prefix, reading);
    return reading;
  }

  async #readAll(prefix: string, turn: () => Promise<void>): Promise<void> {
    let count = 0;
    try {
      for (const entry of this.#store.view.range(prefix, prefixEnd(prefix))) {
        this.readable(entry);
        count += 1;
        if (count % PIECE === 0) await turn();
      }
    } finally {
      this.#begun.set(prefix, "read");
    }
  }

  /** Returns the entry, with a slot that knows how to read it. */
  marked(entry: Entry): Entry {
    return this.#reading.marked(entry);
  }

  /** Undefined for a missing entry too. */
  findReadable(entry: Entry | undefined): Entry | undefined {
    return entry === undefined ? undefined : this.readable(entry);
  }

  /** Undefined for an unreadable entry, which is recorded. */
  readable(entry: Entry): Entry | undefined {
    const marked = this.#reading.marked(entry);
    const { slot } = marked;
    const isKnown = slot instanceof StoredObject || isEncoded(slot);
    return isKnown || this.#unreadable.isReadable(marked) ? marked : undefined;
  }

  compact(revision: number): Promise<void> {
    return this.#store.compact(revision);
  }

  health(): StoreHealth {
    return this.#store.health();
  }

  get space(): StoreSpace {
    return this.#store.space;
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  #seen(view: View): View {
    const known = this.#views.get(view);
    if (known !== undefined) return known;
    const made = new ObjectView(view, this);
    this.#views.set(view, made);
    return made;
  }
}

class ObjectView implements View {
  readonly #view: View;
  readonly #store: ObjectStore;

  constructor(view: View, store: ObjectStore) {
    this.#view = view;
    this.#store = store;
  }

  get revision(): number {
    return this.#view.revision;
  }

  get(key: string): Entry | undefined {
    const entry = this.#view.get(key);
    return entry === undefined ? undefined : this.#store.marked(entry);
  }

  *range(from: string, to: string): Generator<Entry> {
    for (const entry of this.#view.range(from, to)) {
      const readable = this.#store.readable(entry);
      if (readable !== undefined) yield readable;
    }
  }

  /** Includes unreadable entries: excluding them would require reading every entry. */
  count(from: string, to: string): number {
    return this.#view.count(from, to);
  }

  mark(prefix: string): Mark {
    return this.#view.mark(prefix);
  }

  *changesSince(mark: Mark, prefix: string): Generator<MarkedChange> {
    for (const { before, after } of this.#view.changesSince(mark, prefix)) {
      const change = { before: this.#store.findReadable(before), after: this.#store.findReadable(after) };
      if (change.before !== undefined || change.after !== undefined) yield change;
    }
  }
}

class ObjectWatch implements Watch {
  readonly #watch: Watch;
  readonly #store: ObjectStore;

  constructor(watch: Watch, store: ObjectStore) {
    this.#watch = watch;
    this.#store = store;
  }

  get revision(): number {
    return this.#watch.revision;
  }

  async next(): Promise<IteratorResult<WatchBatch>> {
    const result = await this.#watch.next();
    return result.done === true ? result : { done: false, value: this.#readable(result.value) };
  }

  take(): WatchBatch | "end" | undefined {
    const taken = this.#watch.take();
    return taken === undefined || taken === "end" ? taken : this.#readable(taken);
  }

  whenReady(listener: () => void): void {
    this.#watch.whenReady(listener);
  }

  /** Watchers that share an array of events share its filtered form. */
  #readable({ events, revision }: WatchBatch): WatchBatch {
    const known = readableEvents.get(events);
    if (known !== undefined) return { events: known, revision };
    const made = this.#withoutUnreadable(events);
    readableEvents.set(events, made);
    return { events: made, revision };
  }

  /** An unreadable new value appears as a deletion; a value that becomes readable again appears as new. */
  #withoutUnreadable(events: readonly WatchEvent[]): readonly WatchEvent[] {
    const isReadable = (entry: Entry | undefined): boolean =>
      entry === undefined || this.#store.readable(entry) !== undefined;
    if (events.every(({ before, after }) => isReadable(before) && isReadable(after))) return events;
    return events.flatMap((event) => {
      const before = isReadable(event.before) ? event.before : undefined;
      const after = isReadable(event.after) ? event.after : undefined;
      return before === undefined && after === undefined ? [] : [{ ...event, before, after }];
    });
  }

  async return(): Promise<IteratorResult<WatchBatch>> {
    this.close();
    return { done: true, value: undefined };
  }

  close(): void {
    this.#watch.close();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

const readableEvents = new WeakMap<readonly WatchEvent[], readonly WatchEvent[]>();
