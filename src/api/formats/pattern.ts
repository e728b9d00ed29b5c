/** Regular expressions that users write, in the language and with the guarantee of Go's engine: time linear in the text. */
import { createRequire } from "node:module";
import type * as Re2 from "re2js";
import type { RE2JS } from "re2js";
import { patternSize } from "./pattern-size.ts";

/**
 * Linear in the text is not short when pattern and text are both large: instructions of the one times characters of the other,
 * at some 30 ns each in the worst case. Ordinary patterns have less than a hundred instructions.
 */
const STEPS_MAX = 10_000_000;

/** Instructions of one pattern, which take a tenth of a second to be made. */
const SIZE_MAX = 50_000;

/** Patterns that were found to be good: definitions repeat the same few, once for each version. */
const GOOD_MAX = 1000;
const GOOD_LENGTH_MAX = 1000;
const good = new Set<string>();

let loaded: typeof Re2 | undefined;

/** Takes 8 ms to load, and most programs never meet a pattern: it is loaded with the first one. */
function re2(): typeof Re2 {
  return (loaded ??= createRequire(import.meta.url)("re2js") as typeof Re2);
}

/** Compiled when first asked: most patterns of most kinds are never needed. */
export class Pattern {
  readonly source: string;
  #compiled: RE2JS | undefined;

  constructor(source: string) {
    this.source = source;
  }

  /** Whether it matches anywhere in the text. A text that would take too long counts as one that it does not match. */
  isFoundIn(text: string): boolean {
    this.#compiled ??= re2().RE2JS.compile(this.source);
    if (this.#compiled.programSize() * text.length > STEPS_MAX) return false;
    return this.#compiled.matcher(text).find();
  }

  /** How many steps a match in the text may take at most. */
  stepsIn(text: string): number {
    this.#compiled ??= re2().RE2JS.compile(this.source);
    return this.#compiled.programSize() * text.length;
  }

  /** What it matches in the text, one after the other, at most `max`; `undefined` when that would take too long. */
  find(text: string, max: number): readonly string[] | undefined {
    this.#compiled ??= re2().RE2JS.compile(this.source);
    if (this.#compiled.programSize() * text.length > STEPS_MAX) return undefined;
    const matcher = this.#compiled.matcher(text);
    const found: string[] = [];
    while (found.length < max && matcher.find()) found.push(matcher.group() ?? "");
    return found;
  }
}

/** Why a text is no pattern, in Go's words; `undefined` when it is one. */
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
