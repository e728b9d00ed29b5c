/**
 * Field selectors, `metadata.name=x,status.phase!=Running`: an object matches if all terms hold. Values may escape `\`,
 * `,` and `=`.
 */

import { quoted } from "../values/message-text.ts";

export interface FieldTerm {
  readonly field: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

/** A selector without terms selects everything. */
export interface FieldSelector {
  readonly terms: readonly FieldTerm[];
  /** Terms of a long selector grouped by field, so that matching reads each field of an object once. */
  readonly byField?: ReadonlyMap<string, FieldRule>;
}

interface FieldRule {
  /** Values that the field must equal. An object never matches two different ones. */
  readonly equal: Set<string>;
  readonly unequal: Set<string>;
}

/** Number of terms up to which testing each term is faster. */
const LONG = 16;

/** Throws a SyntaxError with upstream's message. */
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

/** The fields that objects of a kind can be selected by. */
export interface SelectableFields {
  readonly names: ReadonlySet<string>;
  readonly isCustomKind: boolean;
}

/** Throws a SyntaxError with upstream's message if the kind does not support a selected field. */
export function checkSelectedFields({ terms }: FieldSelector, supported: SelectableFields): void {
  for (const { field } of terms) {
    if (!supported.names.has(field)) throw new SyntaxError(unsupportedText(field, supported));
  }
}

/** `fieldValue` returns the text of a field, or "" if it is absent. */
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

/** The value that the selector requires of the field. Undefined if it requires none. */
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

/** Splits at unescaped commas. */
function splitTerms(query: string): readonly string[] {
  return query.match(/(?:\\[^]|[^\\,]|\\$)+/g) ?? [];
}

/** Splits field and value at the first operator. */
function findTerm(part: string): FieldTerm | undefined {
  const found = /^((?:\\[^]|[^\\=!]|!(?!=))*)(!=|==|=)([^]*)$/.exec(part);
  if (found === null) return undefined;
  const [, field = "", operator = "", escaped = ""] = found;
  return { field, operator: operator === "!=" ? "!=" : "=", value: unescapeValue(escaped) };
}

function unescapeValue(escaped: string): string {
  return escaped.replace(/\\([^]?)|[,=]/g, (sequence, next: string | undefined) => {
    if (next === undefined) {
      // Upstream prints the character's code here, not the character.
      throw new SyntaxError(
        `invalid field selector: unescaped character in value: ${sequence.charCodeAt(0)}`,
      );
    }
    if (next !== "" && "\\,=".includes(next)) return next;
    throw new SyntaxError(`invalid field selector: invalid escape sequence: ${sequence}`);
  });
}

/** Upstream's message differs for built-in kinds without selectable fields of their own. */
function unsupportedText(field: string, { names, isCustomKind }: SelectableFields): string {
  const hasOwnFields = [...names].some((name) => !name.startsWith("metadata."));
  if (hasOwnFields || isCustomKind) return `field label not supported: ${field}`;
  return `${quoted(field)} is not a known field selector: only ${[...names].map(quoted).join(", ")}`;
}
