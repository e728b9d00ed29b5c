/** Regular expressions of users, with the syntax and guarantee of Go's engine: time linear in the text. */
import { createRequire } from "node:module";
import type * as Re2 from "re2js";
import type { RE2JS } from "re2js";
import { patternSize } from "./pattern-size.ts";

/**
 * Upper bound of the steps of a match: the pattern's instructions times the text's characters, at up to 30 ns each. Linear
 * time is still long when both are large. Usual patterns have less than a hundred instructions.
 */
const STEPS_MAX = 10_000_000;

/** Upper bound of a pattern's instructions, which take 100 ms to compile. */
const SIZE_MAX = 50_000;

/** Bounds of the cache of valid patterns. Definitions repeat the same few patterns in each version. */
const GOOD_MAX = 1000;
const GOOD_LENGTH_MAX = 1000;
const good = new Set<string>();

let loaded: typeof Re2 | undefined;

/** Loads the engine with the first pattern: loading takes 8 ms, and most programs use no pattern. */
function re2(): typeof Re2 {
  return (loaded ??= createRequire(import.meta.url)("re2js") as typeof Re2);
}

/** A pattern that is compiled on first use, because most patterns of most kinds are never used. */
export class Pattern {
  readonly source: string;
  #compiled: RE2JS | undefined;

  constructor(source: string) {
    this.source = source;
  }

  /** True when the pattern matches anywhere in the text. Returns false for a text that would take too long. */
  isFoundIn(text: string): boolean {
    this.#compiled ??= re2().RE2JS.compile(this.source);
    if (this.#compiled.programSize() * text.length > STEPS_MAX) return false;
    return this.#compiled.matcher(text).find();
  }

  /** Upper bound of the steps of a match in the text. */
  stepsIn(text: string): number {
    this.#compiled ??= re2().RE2JS.compile(this.source);
    return this.#compiled.programSize() * text.length;
  }

  /** Up to `max` matches in the text, in order; `undefined` when they would take too long. */
  find(text: string, max: number): readonly string[] | undefined {
    this.#compiled ??= re2().RE2JS.compile(this.source);
    if (this.#compiled.programSize() * text.length > STEPS_MAX) return undefined;
    const matcher = this.#compiled.matcher(text);
    const found: string[] = [];
    while (found.length < max && matcher.find()) found.push(matcher.group() ?? "");
    return found;
  }
}

/** Go's error for an invalid pattern; `undefined` when the pattern is valid. */
export function findPatternMistake(source: string): string | undefined {
  if (good.has(source)) return undefined;
  if (patternSize(source, SIZE_MAX) > SIZE_MAX) return "error parsing regexp: expression too large";
  try {
    re2().RE2JS.compile(source);
  } catch (error) {
    if (error instanceof re2().RE2JSException) return error.message;
    throw error;
  }
  if (source.length <= GOOD_LENGTH_MAX) {
    if (good.size >= GOOD_MAX) good.clear();
    good.add(source);
  }
  return undefined;
}
