/** CEL functions of regular expressions, in linear time. */
import { Pattern, findPatternMistake } from "../../formats/pattern.ts";
import { CelEvaluationError } from "../cel-error.ts";
import type { Library } from "../overload.ts";
import type { Run } from "../run.ts";
import { type CelValue, PlainList } from "../value.ts";

/** Bound of cached patterns. Compiling takes longer than matching, and rules repeat the same few patterns. */
const PATTERNS_MAX = 1000;
/** Longest cached pattern, which bounds the memory of the cache. */
const KEPT_LENGTH_MAX = 1000;
const patterns = new Map<string, Pattern>();

function patternOf(source: string, run: Run): Pattern {
  const known = patterns.get(source);
  if (known !== undefined) return known;
  run.charge(source.length);
  const mistake = findPatternMistake(source);
  if (mistake !== undefined) throw new CelEvaluationError(mistake);
  const pattern = new Pattern(source);
  if (source.length > KEPT_LENGTH_MAX) return pattern;
  if (patterns.size >= PATTERNS_MAX) patterns.clear();
  patterns.set(source, pattern);
  return pattern;
}

interface Search {
  readonly text: string;
  readonly source: string;
  readonly max: number;
}

/** Steps of a match that count as one unit of effort. Most matches take far fewer steps than the upper bound. */
const STEPS_PER_UNIT = 3;

/**
 * Up to `max` matches. Cost is as in cel-go, a tenth of the text times a quarter of the pattern; effort counts the steps.
 */
function find({ text, source, max }: Search, run: Run): readonly string[] {
  const pattern = patternOf(source, run);
  const lengths = Math.ceil((text.length + 1) * 0.1) * Math.ceil(source.length * 0.25);
  const steps = Math.ceil(pattern.stepsIn(text) / STEPS_PER_UNIT);
  run.charge(Math.max(lengths, steps));
  const found = pattern.find(text, max);
  if (found === undefined) throw new CelEvaluationError("the text is too long for the regular expression");
  run.charge(found.length);
  return found;
}

function matches([text, source]: readonly [CelValue, CelValue, ...CelValue[]], run: Run): boolean {
  return find({ text: text as string, source: source as string, max: 1 }, run).length > 0;
}

export const REGEX: Library = [
  ["matches(string, string): bool", matches],
  ["string -> matches(string): bool", matches],
  [
    "string -> find(string): string",
    ([text, source], run) => find({ text: text as string, source: source as string, max: 1 }, run)[0] ?? "",
  ],
  [
    "string -> findAll(string): list<string>",
    ([text, source], run) =>
      new PlainList(
        find({ text: text as string, source: source as string, max: Number.POSITIVE_INFINITY }, run),
      ),
  ],
  [
    "string -> findAll(string, int): list<string>",
    ([text, source, limit], run) => {
      const max = (limit as bigint) < 0n ? Number.POSITIVE_INFINITY : Number(limit as bigint);
      return new PlainList(find({ text: text as string, source: source as string, max }, run));
    },
  ],
];
