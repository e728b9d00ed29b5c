/**
 * Takes choices out of a script whose outcome is plain: `if` with a comparison of values that are known, such as the index of a Job's pod, and sums of
 * them. What is left is simple commands in a row, or a script that is not plain.
 */
import type { Environment } from "../pod/environment.ts";

/** Longer scripts are left as they are. */
const SCRIPT_MAX = 2000;
/** Choices in one script. */
const CHOICES_MAX = 20;

const VARIABLE = /\$(?:\{(?<braced>\w+)\}|(?<bare>[A-Za-z_]\w*))/g;
const SUM = /\$\(\s*expr (?<a>\d{1,9}) (?<sign>[-+/%]|\\\*) (?<b>\d{1,9})\s*\)/g;
const ARITHMETIC = /\$\(\(\s*(?<a>\d{1,9})\s*(?<sign>[-+*/%])\s*(?<b>\d{1,9})\s*\)\)/g;
const COMPARISON = /^\[\[? (?<a>\S+) (?<sign>-eq|-ne|-lt|-le|-gt|-ge|==?|!=) (?<b>\S+) \]\]?$/;

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

export function withoutChoices(script: string, environment: Environment): string {
  if (script.length > SCRIPT_MAX || !script.includes("$")) return script;
  let text = script
    .replaceAll(
      VARIABLE,
      (whole, braced?: string, bare?: string) => environment.get(braced ?? bare ?? "") ?? whole,
    )
    .replaceAll(SUM, sumOf)
    .replaceAll(ARITHMETIC, sumOf);
  for (let i = 0; i < CHOICES_MAX; i++) {
    const next = withoutFirstChoice(text);
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

/** The innermost one that ends first. */
function withoutFirstChoice(text: string): string {
  const end = /(?:^|[;\s])fi(?=[;\s]|$)/.exec(text);
  if (end === null) return text;
  const before = text.slice(0, end.index);
  const start = Math.max(before.lastIndexOf("if ["), 0);
  const {
    condition,
    yes,
    no = "",
  } = /^if (?<condition>\[[^;\n]*\])[ \t]*[;\n]\s*then\s(?<yes>[^]*?)(?:[;\s]else\s(?<no>[^]*))?$/.exec(
    before.slice(start),
  )?.groups ?? {};
  const holds = condition === undefined ? undefined : isTrue(condition);
  if (holds === undefined || /(?:^|[;\s])elif\s/.test(`${yes ?? ""} ${no}`)) return text;
  return `${before.slice(0, start)}${holds ? (yes ?? "") : no}\n${text.slice(end.index + end[0].length)}`;
}

/** Of a comparison in brackets; undefined when it is not plain. */
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
