/**
 * Resolves `if` statements of a script when their conditions are decidable: comparisons of known values, a
 * Job's completion index for example, sums of them, or checks for a file in a volume. The result is a
 * sequence of simple commands, or a script that stays undecided.
 */
import type { Environment } from "../pod/environment.ts";

/** Upper bound of the length; longer scripts are not resolved. */
const SCRIPT_MAX = 2000;
/** Upper bound of the choices in one script. */
const CHOICES_MAX = 20;

const VARIABLE = /\$(?:\{(?<braced>\w+)\}|(?<bare>[A-Za-z_]\w*))/g;
const SUM = /\$\(\s*expr (?<a>\d{1,9}) (?<sign>[-+/%]|\\\*) (?<b>\d{1,9})\s*\)/g;
const ARITHMETIC = /\$\(\(\s*(?<a>\d{1,9})\s*(?<sign>[-+*/%])\s*(?<b>\d{1,9})\s*\)\)/g;
const COMPARISON = /^\[\[? (?<a>\S+) (?<sign>-eq|-ne|-lt|-le|-gt|-ge|==?|!=) (?<b>\S+) \]\]?$/;

const LOOK = /^\[\[? (?<not>! )?-[efrw] (?<file>[\w./@:+-]+) \]\]?$/;

const SUMS = new Map<string, (a: number, b: number) => number>([
  ["+", (a, b) => a + b],
  ["-", (a, b) => a - b],
  ["*", (a, b) => a * b],
  ["\\*", (a, b) => a * b],
  ["/", (a, b) => Math.trunc(a / b)],
  ["%", (a, b) => a % b],
]);

const NUMBERS = new Map<string, (a: number, b: number) => boolean>([
  ["-eq", (a, b) => a === b],
  ["-ne", (a, b) => a !== b],
  ["-lt", (a, b) => a < b],
  ["-le", (a, b) => a <= b],
  ["-gt", (a, b) => a > b],
  ["-ge", (a, b) => a >= b],
]);

/** Environment and files at the start of a script. */
export interface ScriptContext {
  readonly environment: Environment;
  /** Undefined when the state of the file is unknown. */
  readonly isThere: (file: string) => boolean | undefined;
}

/** Whether a word of a command may contain choices. */
export function mayHaveConditions(word: string): boolean {
  return word.includes("$") || word.includes("if [");
}

export function resolveConditions(script: string, { environment, isThere }: ScriptContext): string {
  if (script.length > SCRIPT_MAX || !mayHaveConditions(script)) return script;
  let text = script
    .replaceAll(
      VARIABLE,
      (whole, braced?: string, bare?: string) => environment.get(braced ?? bare ?? "") ?? whole,
    )
    .replaceAll(SUM, sumOf)
    .replaceAll(ARITHMETIC, sumOf);
  for (let i = 0; i < CHOICES_MAX; i++) {
    const next = withoutFirstChoice(text, isThere);
    if (next === text) break;
    text = next;
  }
  return text;
}

function sumOf(whole: string, ...parts: readonly unknown[]): string {
  const [a, sign, b] = parts;
  const value = SUMS.get(String(sign))?.(Number(a), Number(b));
  return value === undefined || !Number.isFinite(value) ? whole : String(value);
}

const CHOICE = /^if (?<condition>\[[^;\n]*\])[ \t]*[;\n]\s*then\s(?<yes>[^]*?)(?:[;\s]else\s(?<no>[^]*))?$/;

/** Resolves the innermost choice that ends first. */
function withoutFirstChoice(text: string, isThere: ScriptContext["isThere"]): string {
  const end = /(?:^|[;\s])fi(?=[;\s]|$)/.exec(text);
  if (end === null) return text;
  const upToEnd = text.slice(0, end.index);
  const start = Math.max(upToEnd.lastIndexOf("if ["), 0);
  const { before, after } = aroundChoice(text, start, end);
  const { condition = "", yes = "", no = "" } = CHOICE.exec(upToEnd.slice(start))?.groups ?? {};
  const holds = isTrue(condition) ?? isFound(condition, before, isThere);
  if (holds === undefined || /(?:^|[;\s])elif\s/.test(`${yes} ${no}`)) return text;
  return `${before}${holds ? yes : no}\n${after}`;
}

/** An `elif` shares its `fi` with the `if` before it. Its resolved form becomes the `else` of that `if`. */
function aroundChoice(
  text: string,
  start: number,
  end: RegExpExecArray,
): { readonly before: string; readonly after: string } {
  const before = text.slice(0, start);
  if (before.endsWith("el")) return { before: `${before}se `, after: text.slice(end.index) };
  return { before, after: text.slice(end.index + end[0].length) };
}

/**
 * Result of a file check in brackets. Undefined when it is undecidable, for example after the script itself
 * used the file.
 */
function isFound(condition: string, before: string, isThere: ScriptContext["isThere"]): boolean | undefined {
  const { file, not } = LOOK.exec(condition.trim())?.groups ?? {};
  if (file === undefined || before.includes(file)) return undefined;
  const found = isThere(file);
  return found === undefined ? undefined : found === (not === undefined);
}

/** Result of a comparison in brackets; undefined when it is undecidable. */
export function isTrue(condition: string): boolean | undefined {
  const { a = "", sign = "", b = "" } = COMPARISON.exec(condition.trim())?.groups ?? {};
  if (sign === "" || /[$`]/.test(a + b)) return undefined;
  const compare = NUMBERS.get(sign);
  if (compare === undefined) return (unquoted(a) === unquoted(b)) === (sign !== "!=");
  return /^\d+$/.test(unquoted(a)) && /^\d+$/.test(unquoted(b))
    ? compare(Number(unquoted(a)), Number(unquoted(b)))
    : undefined;
}

function unquoted(text: string): string {
  return text.replace(/^(["'])(.*)\1$/, "$2");
}
