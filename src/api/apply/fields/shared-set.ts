/**
 * Shares equal field sets between objects. The pods of one template are written by one manager with one set, which is a
 * third of their text and half of their memory.
 */
import { shareParts } from "../../json/json-share.ts";
import { EMPTY, type FieldSet, union } from "./field-set.ts";

/**
 * Size of each of the two generations of cached sets. A set unused for a whole generation is evicted. A set mostly takes a
 * kilobyte.
 */
const GENERATION = 2000;
/** Longest cached text; larger sets are practically unique. */
const TEXT_LENGTH_MAX = 8192;

let young = new Map<string, FieldSet>();
let old: ReadonlyMap<string, FieldSet> = new Map();
/** Texts of the cached sets. */
const texts = new WeakMap<FieldSet, string>();
/** The set that was cached last. The status of each pod has a set of its own, which differs in its addresses only. */
let newest: FieldSet = EMPTY;

/** The shared instance of a set equal to this one. */
export function sharedSet(set: FieldSet): FieldSet {
  if (texts.has(set)) return set;
  const text = JSON.stringify(set);
  return find(text) ?? keepNew(text, set);
}

/** The set with this JSON text, which must be canonical. */
export function setOf(text: string): FieldSet {
  const known = find(text);
  if (known !== undefined) return known;
  const set = JSON.parse(text) as FieldSet;
  // Keeps a fresh text: `text` may be a slice of a longer string and would retain all of it.
  return keepNew(JSON.stringify(set), set);
}

/** Known unions, by shared set and added set, for as long as both are in use. */
const unions = new WeakMap<FieldSet, WeakMap<FieldSet, FieldSet>>();

/** The union of both sets; `set` itself when it already has all of `added`, else a shared instance. */
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

/** JSON text of the set. */
export function setText(set: FieldSet): string {
  return texts.get(set) ?? JSON.stringify(set);
}

function find(text: string): FieldSet | undefined {
  const known = young.get(text);
  if (known !== undefined) return known;
  const set = old.get(text);
  return set === undefined ? undefined : keep(text, set);
}

/** Takes the parts that equal those of the newest set from there. */
function keepNew(text: string, set: FieldSet): FieldSet {
  if (text.length > TEXT_LENGTH_MAX) return set;
  newest = shareParts(set, newest);
  return keep(text, newest);
}

function keep(text: string, set: FieldSet): FieldSet {
  if (young.size === GENERATION) evictOld();
  young.set(text, set);
  texts.set(set, text);
  return set;
}

/** A set that is in use nevertheless loses its text, which takes as much memory as the set. */
function evictOld(): void {
  for (const [text, set] of old) if (!young.has(text)) texts.delete(set);
  old = young;
  young = new Map();
}
