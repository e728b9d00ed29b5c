/**
 * A store in which the values of some resources are sealed. Entries stay the store's own, with the bytes that are stored; in their slot they
 * say how they are opened, and `StoredObject` does so when somebody first looks at one. What is written is sealed on its way in, its plain form
 * stays in the slot. Nothing else of the server knows which resources these are.
 */
import type {
  Change,
  Committed,
  Entry,
  Store,
  StoreHealth,
  StoreSpace,
  Transaction,
} from "../../store/store.ts";
import type {
  Glance,
  Mark,
  MarkedChanges,
  View,
  Watch,
  WatchBatch,
  WatchOptions,
} from "../../store/store.ts";
import { isEncoded, Sealed, StoredObject } from "../stored-object.ts";
import type { Encryption } from "./encryption.ts";
import { Opening } from "./opening.ts";
import type { Transformer } from "./transformer.ts";

export function sealedStore(store: Store, encryption: Encryption | undefined): Store {
  return encryption === undefined ? store : new SealedStore(store, new Sealing(encryption));
}

class Sealing {
  readonly #encryption: Encryption;
  /** One for all entries that are opened in the same way. */
  readonly #slots = new WeakMap<Transformer, Sealed>();

  constructor(encryption: Encryption) {
    this.#encryption = encryption;
  }

  /** The same entry; its slot says how to open it. */
  marked(entry: Entry): Entry {
    if (entry.slot === undefined) entry.slot = this.#slotOf(entry.key);
    else if (this.#encryption.hasChanged) this.#mendSlot(entry);
    return entry;
  }

  /** What is stored instead. */
  sealed(change: Change): Change {
    if (change.type === "delete") return change;
    const { key, value, slot } = change;
    const transformer = this.#encryption.transformerOf(key);
    if (transformer === undefined) return change;
    const made = isEncoded(slot) ? slot : undefined;
    return {
      ...change,
      value: transformer.seal(value, key),
      slot: new Sealed(new Opening(transformer), made),
    };
  }

  #slotOf(key: string): Sealed | undefined {
    const transformer = this.#encryption.transformerOf(key);
    if (transformer === undefined) return undefined;
    const known = this.#slots.get(transformer);
    if (known !== undefined) return known;
    const slot = new Sealed(new Opening(transformer), undefined);
    this.#slots.set(transformer, slot);
    return slot;
  }

  /** What was opened by rules that hold no longer is opened anew: it may be stale now, and a write that changes nothing seals it then. */
  #mendSlot(entry: Entry): void {
    const transformer = this.#encryption.transformerOf(entry.key);
    const before = openingIn(entry.slot);
    if (before.transformer !== transformer)
      entry.slot = new Sealed(new Opening(transformer, before), undefined);
  }
}

/** Of what is stored as it is. */
const IN_CLEAR = new Opening(undefined);

function openingIn(slot: unknown): Opening {
  const opener = slot instanceof Sealed || slot instanceof StoredObject ? slot.opener : undefined;
  return opener instanceof Opening ? opener : IN_CLEAR;
}

class SealedStore implements Store {
  readonly #store: Store;
  readonly #sealing: Sealing;
  readonly #views = new WeakMap<View, View>();
  readonly acceptedNow: Glance;

  constructor(store: Store, sealing: Sealing) {
    this.#store = store;
    this.#sealing = sealing;
    this.acceptedNow = {
      get: (key) => {
        const entry = store.acceptedNow.get(key);
        return entry === undefined ? undefined : sealing.marked(entry);
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

  get freshView(): View | undefined {
    const { freshView } = this.#store;
    return freshView === undefined ? undefined : this.#seen(freshView);
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

  async fresh(): Promise<View> {
    return this.#seen(await this.#store.fresh());
  }

  async at(revision: number, prefix: string): Promise<View> {
    return this.#seen(await this.#store.at(revision, prefix));
  }

  /** Sealed without an await: the order of the calls is the order in which they are judged. */
  write(transaction: Transaction): Promise<Committed> {
    const changes = transaction.changes.map((change) => this.#sealing.sealed(change));
    return this.#store.write({ ...transaction, changes });
  }

  watch(options: WatchOptions): Watch {
    return new SealedWatch(this.#store.watch(options), this.#sealing);
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
    const made = new SealedView(view, this.#sealing);
    this.#views.set(view, made);
    return made;
  }
}

class SealedView implements View {
  readonly #view: View;
  readonly #sealing: Sealing;

  constructor(view: View, sealing: Sealing) {
    this.#view = view;
    this.#sealing = sealing;
  }

  get revision(): number {
    return this.#view.revision;
  }

  get(key: string): Entry | undefined {
    const entry = this.#view.get(key);
    return entry === undefined ? undefined : this.#sealing.marked(entry);
  }

  *range(from: string, to: string): Generator<Entry> {
    for (const entry of this.#view.range(from, to)) yield this.#sealing.marked(entry);
  }

  count(from: string, to: string): number {
    return this.#view.count(from, to);
  }

  mark(prefix: string): Mark {
    return this.#view.mark(prefix);
  }

  changesSince(mark: Mark, prefix: string): MarkedChanges {
    const changes = this.#view.changesSince(mark, prefix);
    for (const entry of changes.removed) this.#sealing.marked(entry);
    for (const entry of changes.added) this.#sealing.marked(entry);
    return changes;
  }
}

class SealedWatch implements Watch {
  readonly #watch: Watch;
  readonly #sealing: Sealing;

  constructor(watch: Watch, sealing: Sealing) {
    this.#watch = watch;
    this.#sealing = sealing;
  }

  get revision(): number {
    return this.#watch.revision;
  }

  async next(): Promise<IteratorResult<WatchBatch>> {
    const result = await this.#watch.next();
    if (result.done !== true) this.#mark(result.value);
    return result;
  }

  take(): WatchBatch | "end" | undefined {
    const taken = this.#watch.take();
    if (taken !== undefined && taken !== "end") this.#mark(taken);
    return taken;
  }

  whenReady(listener: () => void): void {
    this.#watch.whenReady(listener);
  }

  #mark({ events }: WatchBatch): void {
    for (const { before, after } of events) {
      if (before !== undefined) this.#sealing.marked(before);
      if (after !== undefined) this.#sealing.marked(after);
    }
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
