/**
 * The long selectors of open watches. A selector in its compiled form takes some twenty times what its text does, and stays as long as its watch:
 * watches that say the same share one, and of different ones there is room for so many terms.
 */
import { tooManyRequests } from "../../../api/errors/api-error.ts";
import { fieldSelectorText } from "../../../api/selectors/field-selector.ts";
import { labelSelectorText } from "../../../api/selectors/label-selector.ts";
import type { ListOptions } from "../read/list-options.ts";

export type Selectors = Pick<ListOptions, "labels" | "fields">;

/** At 160 to 200 bytes each. What is short is not counted: it takes no more than the rest of its watch. */
const TERMS_MAX = 500_000;

interface Held {
  readonly text: string;
  readonly selectors: Selectors;
  readonly terms: number;
  /** Watches that use it. */
  users: number;
}

export class OpenSelectors {
  readonly #max: number;
  readonly #byText = new Map<string, Held>();
  readonly #bySelectors = new WeakMap<Selectors, Held>();
  #terms = 0;

  constructor(max = TERMS_MAX) {
    this.#max = max;
  }

  /** Throws an ApiError when `hold` would. */
  requireRoom(selectors: Selectors): void {
    if (!isLong(selectors) || this.#terms === 0) return;
    const isKnown = this.#byText.has(textOf(selectors));
    if (!isKnown) this.#requireTerms(termsOf(selectors));
  }

  /** What to use in place of these, until it is released. */
  hold(selectors: Selectors): Selectors {
    if (!isLong(selectors)) return selectors;
    const text = textOf(selectors);
    const held = this.#byText.get(text) ?? this.#add(text, selectors);
    held.users += 1;
    return held.selectors;
  }

  /** Once for each time that it was held. */
  release(selectors: Selectors): void {
    const held = this.#bySelectors.get(selectors);
    if (held === undefined) return;
    held.users -= 1;
    if (held.users > 0) return;
    this.#terms -= held.terms;
    this.#byText.delete(held.text);
  }

  #add(text: string, { labels, fields }: Selectors): Held {
    const selectors = { labels, fields };
    const terms = termsOf(selectors);
    this.#requireTerms(terms);
    this.#terms += terms;
    const held = { text, selectors, terms, users: 0 };
    this.#byText.set(text, held);
    this.#bySelectors.set(selectors, held);
    return held;
  }

  #requireTerms(terms: number): void {
    if (this.#terms + terms > this.#max)
      throw tooManyRequests("the selectors of open watches are too long, please try again later", 1);
  }
}

function isLong({ labels, fields }: Selectors): boolean {
  return labels.index !== undefined || fields.byField !== undefined;
}

/** What is before the first line's end is about labels: none of their names and values has one. */
function textOf({ labels, fields }: Selectors): string {
  return `${labelSelectorText(labels)}\n${fieldSelectorText(fields)}`;
}

function termsOf({ labels, fields }: Selectors): number {
  let terms = fields.terms.length;
  for (const { values } of labels.requirements) terms += Math.max(1, values.length);
  return terms;
}
