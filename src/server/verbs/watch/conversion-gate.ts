/**
 * Holds the entries of a watch back until the conversion webhook of their kind has converted them. Only watches of
 * kinds with such a webhook have a gate.
 */
import { StoredObject } from "../../objects/stored-object.ts";
import { entriesIn, type WatchedEntries, type WatchItem } from "./watched-entries.ts";

/** Converts objects ahead of their use. Undefined when they are converted already; rejects when the webhook fails. */
export type ConvertAhead = (objects: readonly StoredObject[]) => Promise<void> | undefined;

interface Held {
  readonly item: WatchItem;
  /** Revision of the source before it returned the item. */
  readonly revision: number;
}

type GateState =
  | { readonly name: "open" }
  /** A conversion request is in flight. */
  | { readonly name: "converting"; readonly held: Held }
  | { readonly name: "converted"; readonly held: Held }
  | { readonly name: "failed"; readonly held: Held; readonly error: unknown };

const OPEN: GateState = { name: "open" };

export class ConversionGate implements WatchedEntries {
  readonly #source: WatchedEntries;
  readonly #convert: ConvertAhead;
  readonly #onAnswer: () => void;
  #state: GateState = OPEN;

  /** Calls `onAnswer` when the webhook has answered. */
  constructor(source: WatchedEntries, convert: ConvertAhead, onAnswer: () => void) {
    this.#source = source;
    this.#convert = convert;
    this.#onAnswer = onAnswer;
  }

  /** Excludes held changes: a client that resumes after this revision must still get them. */
  get revision(): number {
    const state = this.#state;
    return state.name === "open" ? this.#source.revision : state.held.revision;
  }

  take(): WatchItem | "end" | undefined {
    const state = this.#state;
    switch (state.name) {
      case "converting":
        return undefined;
      case "failed":
        throw state.error;
      case "converted":
        return this.#pass(state.held);
      case "open": {
        const { revision } = this.#source;
        const item = this.#source.take();
        return item === undefined || item === "end" ? item : this.#pass({ item, revision });
      }
    }
  }

  /** Asks again after each answer: the cache may have evicted a conversion before its use. */
  #pass(held: Held): WatchItem | undefined {
    const entries = entriesIn(held.item);
    const asked =
      entries.length === 0 ? undefined : this.#convert(entries.map((entry) => StoredObject.of(entry)));
    if (asked === undefined) {
      this.#state = OPEN;
      return held.item;
    }
    this.#state = { name: "converting", held };
    asked.then(
      () => this.#answered({ name: "converted", held }),
      (error: unknown) => this.#answered({ name: "failed", held, error }),
    );
    return undefined;
  }

  #answered(state: GateState): void {
    this.#state = state;
    this.#onAnswer();
  }
}
