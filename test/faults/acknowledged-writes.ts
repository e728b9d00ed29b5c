/** Acknowledged writes of the crash test, and the comparison of a store with them after a crash. */
import {
  prefixEnd,
  type Change,
  type Entry,
  type Store,
  type View,
  type WatchEvent,
} from "../../src/store/store.ts";
import { CRASH_ROOT, stepChanges, stepKey, WRITERS } from "./crash-plan.ts";

/** A value, and the step that wrote it. */
interface Written {
  readonly value: Uint8Array;
  readonly step: number;
}

interface WriterState {
  /** Last step known to be in the store. */
  step: number;
  readonly values: Map<string, Written>;
  /** Revisions of steps that were acknowledged, or found after a crash. */
  readonly revisions: Map<number, number>;
}

export class AcknowledgedWrites {
  readonly #seed: number;
  readonly #writers: readonly WriterState[];
  /** Effective changes of acknowledged revisions that no watch has delivered yet. */
  readonly #unseen = new Map<number, readonly string[]>();
  #revision = 0;
  #compacted = 0;
  #acknowledged = 0;

  constructor(seed: number) {
    this.#seed = seed;
    this.#writers = Array.from({ length: WRITERS }, () => ({
      step: 0,
      values: new Map(),
      revisions: new Map(),
    }));
  }

  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Records a line of the child's output. */
  take(line: string): void {
    const [kind, ...numbers] = line.split(" ");
    const [first = 0, step = 0, revision = 0] = numbers.map(Number);
    if (kind === "o") this.#opened(first);
    else if (kind === "c") this.#compacted = Math.max(this.#compacted, first);
    else if (kind === "a") this.#acknowledge({ writer: first, step, revision });
    else throw new Error(`the child said: ${line}`);
  }

  /** Throws if an acknowledged write is missing or changed, a transaction is partial, or a revision went back. */
  async check(store: Store): Promise<void> {
    const { view } = store;
    this.#opened(view.revision);
    for (const [writer] of this.#writers.entries()) this.#checkWriter(view, writer);
    this.#checkForeign(view);
    await this.#checkHistory(store);
  }

  #opened(revision: number): void {
    if (revision < this.#revision)
      throw new Error(`revision ${revision} after ${this.#revision}: it went back`);
    this.#revision = revision;
  }

  #acknowledge({ writer, step, revision }: { writer: number; step: number; revision: number }): void {
    const state = this.#writer(writer);
    if (step !== state.step + 1)
      throw new Error(`writer ${writer} acknowledged step ${step} after ${state.step}`);
    if ((state.revisions.get(state.step) ?? 0) >= revision)
      throw new Error(`step ${step} of writer ${writer} went back to ${revision}`);
    this.#apply(writer, step, revision);
    this.#revision = Math.max(this.#revision, revision);
    this.#acknowledged += 1;
  }

  #apply(writer: number, step: number, revision: number): void {
    const state = this.#writer(writer);
    const changes = stepChanges({ seed: this.#seed, writer, step });
    const effective = changes.filter(({ type, key }) => type === "put" || state.values.has(key));
    for (const change of changes) applyTo(state.values, change, step);
    state.step = step;
    state.revisions.set(step, revision);
    const needed = new Set([...state.values.values()].map((written) => written.step));
    for (const known of state.revisions.keys()) if (!needed.has(known)) state.revisions.delete(known);
    this.#unseen.set(revision, effective.map(({ key }) => key).toSorted());
  }

  /** One step may be durable although its response was lost. */
  #checkWriter(view: View, writer: number): void {
    const state = this.#writer(writer);
    const found = view.get(stepKey(writer));
    const step = found === undefined ? 0 : Number(Buffer.from(found.value).toString());
    if (found !== undefined && step === state.step + 1) this.#apply(writer, step, found.modRevision);
    if (step !== state.step) throw new Error(`writer ${writer} is at step ${step} instead of ${state.step}`);
    for (const [key, written] of state.values) this.#checkEntry(view.get(key), key, { written, state });
  }

  #checkEntry(
    entry: Entry | undefined,
    key: string,
    { written, state }: { written: Written; state: WriterState },
  ): void {
    if (entry === undefined && key.endsWith("/short")) return;
    if (entry === undefined) throw new Error(`${key} of step ${written.step} is missing`);
    if (!Buffer.from(written.value).equals(entry.value))
      throw new Error(`${key} is not as step ${written.step} wrote it`);
    const revision = state.revisions.get(written.step);
    if (revision !== entry.modRevision)
      throw new Error(`${key} has revision ${entry.modRevision} instead of ${revision}`);
  }

  #checkForeign(view: View): void {
    for (const { key } of view.range(CRASH_ROOT, prefixEnd(CRASH_ROOT))) {
      if (!this.#writers.some(({ values }) => values.has(key))) throw new Error(`${key} should not be there`);
    }
  }

  /** Every transaction acknowledged since the last check is in the history, whole, unless it was compacted. */
  async #checkHistory(store: Store): Promise<void> {
    // The revision of an empty store has no event: a watch would wait for it forever.
    if (this.#unseen.size === 0) return;
    const oldest = Math.min(...this.#unseen.keys());
    const after = Math.max(oldest - 1, this.#compacted);
    const seen = await keysByRevision(store, after);
    for (const [revision, keys] of this.#unseen) {
      if (revision <= after) continue;
      const found = seen.get(revision)?.toSorted() ?? [];
      if (found.join() !== keys.join())
        throw new Error(`revision ${revision} changed ${keys.join()}, its history says ${found.join()}`);
    }
    this.#unseen.clear();
  }

  #writer(writer: number): WriterState {
    const state = this.#writers[writer];
    if (state === undefined) throw new Error(`no writer ${writer}`);
    return state;
  }
}

function applyTo(values: Map<string, Written>, change: Change, step: number): void {
  if (change.type === "delete") values.delete(change.key);
  else values.set(change.key, { value: change.value, step });
}

async function keysByRevision(store: Store, after: number): Promise<Map<number, string[]>> {
  const keys = new Map<number, string[]>();
  const end = store.view.revision;
  if (after >= end) return keys;
  const note = ({ revision, key }: WatchEvent): void => {
    keys.set(revision, [...(keys.get(revision) ?? []), key]);
  };
  for await (const batch of store.watch({ prefix: CRASH_ROOT, after })) {
    for (const event of batch.events) note(event);
    if (batch.revision >= end) break;
  }
  return keys;
}
