/**
 * Sets of fields that many objects have alike, kept once: the pods of one template are written by one manager with one set,
 * which is a third of their text and half of their memory.
 */
import { type FieldSet, union } from "./field-set.ts";

/** Two generations of so many; what was not asked for during a whole one is forgotten. Mostly about a kilobyte each. */
const GENERATION = 2000;
/** Larger ones are as good as unique. */
const TEXT_LENGTH_MAX = 8192;

let young = new Map<string, FieldSet>();
let old: ReadonlyMap<string, FieldSet> = new Map();
const texts = new WeakMap<FieldSet, string>();

/** The one of all sets equal to this that everybody shares. */
export function sharedSet(set: FieldSet): FieldSet {
  if (texts.has(set)) return set;
  const text = JSON.stringify(set);
  return find(text) ?? keep(text, set);
}

/** The set that has this text as JSON, and is known to be in canonical form. */
export function setOf(text: string): FieldSet {
  const known = find(text);
  if (known !== undefined) return known;
  const set = JSON.parse(text) as FieldSet;
  // A text of its own: what was given may be a part of a longer one, which would be kept with it.
  return keep(JSON.stringify(set), set);
}

/** By a shared set and what was added to it, for as long as both are in use. */
const unions = new WeakMap<FieldSet, WeakMap<FieldSet, FieldSet>>();

/** What is in either of them; the first itself when it has all of the second, else the one that everybody shares. */
export function sharedUnion(set: FieldSet, added: FieldSet): FieldSet {
  const both = union(set, added);
  if (both === set) return set;
  const grown = unions.get(set) ?? new WeakMap<FieldSet, FieldSet>();
  const addition = sharedSet(added);
  const known = grown.get(addition);
  if (known !== undefined) return known;
  const shared = sharedSet(both);
  unions.set(set, grown.set(addition, shared));
  return shared;
}

/** As JSON. */
export function setText(set: FieldSet): string {
  return texts.get(set) ?? JSON.stringify(set);
}

function find(text: string): FieldSet | undefined {
  const known = young.get(text);
  if (known !== undefined) return known;
  const set = old.get(text);
  return set === undefined ? undefined : keep(text, set);
}

function keep(text: string, set: FieldSet): FieldSet {
  if (text.length > TEXT_LENGTH_MAX) return set;
  if (young.size === GENERATION) {
    old = young;
    young = new Map();
  }
  young.set(text, set);
  texts.set(set, text);
  return set;
}
