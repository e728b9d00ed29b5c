/** Field selectors, `metadata.name=x,status.phase!=Running`: all terms must hold. Values may escape `\`, `,` and `=`. */

import { quoted } from "../values/message-text.ts";

export interface FieldTerm {
  readonly field: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

/** None selects everything. */
export interface FieldSelector {
  readonly terms: readonly FieldTerm[];
  /** Of a long one, all terms on a field together: each field of an object is looked at once. */
  readonly byField?: ReadonlyMap<string, FieldRule>;
}

interface FieldRule {
  /** The value that it must have: several are more than any object has. */
  readonly equal: Set<string>;
  readonly unequal: Set<string>;
}

/** With less, asking each is faster. */
const LONG = 16;

/** Throws a SyntaxError whose text is upstream's. */
export function parseFieldSelector(query: string): FieldSelector {
  const parts = splitTerms(query).filter((part) => part !== "");
  const terms = parts.map((part) => {
    const term = findTerm(part);
    if (term !== undefined) return term;
    throw new SyntaxError(`invalid selector: '${query}'; can't understand '${part}'`);
  });
  return terms.length > LONG ? { terms, byField: rulesOf(terms) } : { terms };
}

function rulesOf(terms: readonly FieldTerm[]): ReadonlyMap<string, FieldRule> {
  const rules = new Map<string, FieldRule>();
  for (const { field, operator, value } of terms) {
    const rule = rules.get(field) ?? { equal: new Set(), unequal: new Set() };
    rules.set(field, rule);
    (operator === "=" ? rule.equal : rule.unequal).add(value);
  }
  return rules;
}

/** Throws a SyntaxError whose text is upstream's. `supported` is what the kind can be selected by. */
export function checkSelectedFields({ terms }: FieldSelector, supported: ReadonlySet<string>): void {
  for (const { field } of terms) {
    if (!supported.has(field)) throw new SyntaxError(unsupportedText(field, supported));
  }
}

/** `fieldValue` gives the text of a field, empty when it is absent. */
export function fieldsMatch(
  { terms, byField }: FieldSelector,
  fieldValue: (field: string) => string,
): boolean {
  if (byField === undefined)
    return terms.every(({ field, operator, value }) => (fieldValue(field) === value) === (operator === "="));
  for (const [field, { equal, unequal }] of byField) {
    const value = fieldValue(field);
    if (unequal.has(value) || equal.size > 1 || (equal.size === 1 && !equal.has(value))) return false;
  }
  return true;
}

/** The one value the field must have for anything to match. */
export function requiredFieldValue(selector: FieldSelector, field: string): string | undefined {
  return selector.terms.find((term) => term.field === field && term.operator === "=")?.value;
}

export function fieldSelectorText(selector: FieldSelector): string {
  return selector.terms
    .map(({ field, operator, value }) => field + operator + escapeFieldValue(value))
    .join(",");
}

function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, "\\$&");
}

/** Cuts at commas that are not escaped. */
function splitTerms(query: string): readonly string[] {
  return query.match(/(?:\\[^]|[^\\,]|\\$)+/g) ?? [];
}

/** The first operator separates field and value. */
function findTerm(part: string): FieldTerm | undefined {
  const found = /^((?:\\[^]|[^\\=!]|!(?!=))*)(!=|==|=)([^]*)$/.exec(part);
  if (found === null) return undefined;
  const [, field = "", operator = "", escaped = ""] = found;
  return { field, operator: operator === "!=" ? "!=" : "=", value: unescapeValue(escaped) };
}

function unescapeValue(escaped: string): string {
  return escaped.replace(/\\([^]?)|[,=]/g, (sequence, next: string | undefined) => {
    if (next === undefined) {
      // Upstream tells the number of the character.
      throw new SyntaxError(
        `invalid field selector: unescaped character in value: ${sequence.charCodeAt(0)}`,
      );
    }
    if (next !== "" && "\\,=".includes(next)) return next;
    throw new SyntaxError(`invalid field selector: invalid escape sequence: ${sequence}`);
  });
}

/** Kinds that have no fields of their own answer in other words. */
function unsupportedText(field: string, supported: ReadonlySet<string>): string {
  const hasOwnFields = [...supported].some((name) => !name.startsWith("metadata."));
  if (hasOwnFields) return `field label not supported: ${field}`;
  return `${quoted(field)} is not a known field selector: only ${[...supported].map(quoted).join(", ")}`;
}
