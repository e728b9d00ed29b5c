/**
 * Shares the selectors of open watches. Watches with equal selectors share one filter, and so the events that it lets through. A
 * compiled selector takes about twenty times the memory of its text and lives as long as its watch: the number of terms in
 * different long ones is limited.
 */
import { tooManyRequests } from "../../../api/errors/api-error.ts";
import { fieldSelectorText } from "../../../api/selectors/field-selector.ts";
import { labelSelectorText } from "../../../api/selectors/label-selector.ts";
import type { StoredResource } from "../../objects/registry.ts";
import type { Versions } from "../../objects/versions.ts";
import type { ListOptions } from "../read/list-options.ts";
import { filterOf } from "../read/object-filter.ts";
import type { ObjectFilter } from "../read/object-filter.ts";

export type Selectors = Pick<ListOptions, "labels" | "fields">;

/** A term takes 160 to 200 bytes. Short selectors are not counted: they take no more memory than the rest of their watch. */
const TERMS_MAX = 500_000;

interface Held {
  readonly text: string;
  readonly selectors: Selectors;
  /** Terms that count towards the limit. */
  readonly terms: number;
  readonly filters: Map<StoredResource, ObjectFilter>;
  /** Number of watches that use it. */
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

  /** Throws an ApiError if `hold` would throw one. */
  requireRoom(selectors: Selectors): void {
    if (!isLong(selectors) || this.#terms === 0) return;
    const isKnown = this.#byText.has(textOf(selectors));
    if (!isKnown) this.#requireTerms(termsOf(selectors));
  }

  /** Returns the shared selectors to use instead of these, until released. */
  hold(selectors: Selectors): Selectors {
    if (isEmpty(selectors)) return selectors;
    const text = textOf(selectors);
    const held = this.#byText.get(text) ?? this.#add(text, selectors);
    held.users += 1;
    return held.selectors;
  }

  /** The filter of held selectors, one for all watches of a resource. Undefined when every object matches. */
  filter(held: Selectors, resource: StoredResource, versions: Versions): ObjectFilter | undefined {
    const filters = this.#bySelectors.get(held)?.filters;
    const known = filters?.get(resource);
    if (known !== undefined) return known;
    const made = filterOf(held, resource, versions);
    if (made !== undefined) filters?.set(resource, made);
    return made;
  }

  /** Called once for each `hold`. */
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
    const terms = isLong(selectors) ? termsOf(selectors) : 0;
    this.#requireTerms(terms);
    this.#terms += terms;
    const held = { text, selectors, terms, filters: new Map<StoredResource, ObjectFilter>(), users: 0 };
    this.#byText.set(text, held);
    this.#bySelectors.set(selectors, held);
    return held;
  }

  #requireTerms(terms: number): void {
    if (terms > 0 && this.#terms + terms > this.#max)
      throw tooManyRequests("the selectors of open watches are too long, please try again later", 1);
  }
}

function isEmpty({ labels, fields }: Selectors): boolean {
  return labels.requirements.length === 0 && fields.terms.length === 0;
}

function isLong({ labels, fields }: Selectors): boolean {
  return labels.index !== undefined || fields.byField !== undefined;
}

/** The first line holds the labels, because no label name or value contains a newline. */
function textOf({ labels, fields }: Selectors): string {
  return `${labelSelectorText(labels)}\n${fieldSelectorText(fields)}`;
}

function termsOf({ labels, fields }: Selectors): number {
  let terms = fields.terms.length;
  for (const { values } of labels.requirements) terms += Math.max(1, values.length);
  return terms;
}
