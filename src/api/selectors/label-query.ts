/** Parses the query syntax of label selectors, as in `?labelSelector=app in (a,b),tier!=db,!old`. */

import { fieldErrorsText, FieldErrors } from "../errors/field-error.ts";
import { qualifiedName } from "../values/names.ts";
import type { LabelOperator, LabelRequirement } from "./label-requirement.ts";
import type { LabelSelector } from "./label-selector.ts";
import { checkedRequirement, labelSelector } from "./label-selector.ts";

interface Token {
  readonly type: "identifier" | "symbol" | "unknown" | "end";
  readonly text: string;
}

const END: Token = { type: "end", text: "" };

/**
 * A run of operator characters, or a run of other characters except blanks. Blanks separate lexemes and are dropped.
 */
const LEXEME = /[=!(),<>]+|[^=!(),<>\s]+/g;
/** Longest first, so that `==` is not read as two `=`. */
const SYMBOLS = ["==", "!=", "=", "!", "(", ")", ",", "<", ">"];

const OPERATORS: ReadonlyMap<string, LabelOperator> = new Map([
  ["in", "in"],
  ["notin", "notin"],
  ["=", "="],
  ["==", "=="],
  ["!=", "!="],
  [">", "gt"],
  ["<", "lt"],
]);

/**
 * Parses a label query such as `app in (a,b),tier!=db,!old`. An empty query selects everything. Throws a SyntaxError
 * with upstream's message.
 */
export function parseLabelSelector(query: string): LabelSelector {
  return labelSelector(new Parser(tokens(query)).selector());
}

function tokens(query: string): readonly Token[] {
  return (query.match(LEXEME) ?? []).flatMap((lexeme): Token[] => {
    if (!/^[=!(),<>]/.test(lexeme)) return [{ type: "identifier", text: lexeme }];
    const symbols: Token[] = [];
    for (let at = 0; at < lexeme.length; at += symbols.at(-1)?.text.length ?? 1) {
      const text = SYMBOLS.find((symbol) => lexeme.startsWith(symbol, at)) ?? lexeme.charAt(at);
      symbols.push({ type: "symbol", text });
    }
    return symbols;
  });
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(found: readonly Token[]) {
    this.#tokens = found;
  }

  selector(): readonly LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    if (this.#next.type === "end") return requirements;
    if (!this.#beginsRequirement()) throw this.#unexpected(", expected: !, identifier, or 'end of string'");
    for (;;) {
      requirements.push(this.#requirement());
      const separator = this.#take();
      if (separator.type === "end") return requirements;
      if (separator.text !== ",") {
        throw new SyntaxError(`found '${separator.text}', expected: ',' or 'end of string'`);
      }
      if (!this.#beginsRequirement()) throw this.#unexpected(", expected: identifier after ','");
    }
  }

  get #next(): Token {
    return this.#tokens[this.#at] ?? END;
  }

  #take(): Token {
    const token = this.#next;
    this.#at++;
    return token;
  }

  #unexpected(expectation: string): SyntaxError {
    return new SyntaxError(`found '${this.#next.text}'${expectation}`);
  }

  #beginsRequirement(): boolean {
    return this.#next.type === "identifier" || this.#next.text === "!";
  }

  #requirement(): LabelRequirement {
    try {
      return this.#unwrappedRequirement();
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw new SyntaxError(`unable to parse requirement: ${error.message}`, { cause: error });
    }
  }

  #unwrappedRequirement(): LabelRequirement {
    const isNegated = this.#next.text === "!";
    if (isNegated) this.#take();
    const key = this.#key();
    const isLast = this.#next.type === "end" || this.#next.text === ",";
    if (isNegated || isLast) {
      return checkedRequirement({ key, operator: isNegated ? "!" : "exists", values: [] });
    }
    const operator = OPERATORS.get(this.#next.text);
    if (operator === undefined) throw this.#unexpected(", expected: in, notin, =, ==, !=, gt, lt");
    this.#take();
    const values = operator === "in" || operator === "notin" ? this.#valueSet() : [this.#exactValue()];
    return checkedRequirement({ key, operator, values });
  }

  #key(): string {
    if (this.#next.type !== "identifier") throw this.#unexpected(", expected: identifier");
    const key = this.#take().text;
    const problems = qualifiedName(key);
    if (problems.length === 0) return key;
    const errors = new FieldErrors();
    // Upstream passes a nil path here, which Go prints as `<nil>`.
    errors.invalid("<nil>", key, problems.join("; "));
    throw new SyntaxError(fieldErrorsText(errors.found));
  }

  #exactValue(): string {
    if (this.#next.type === "end" || this.#next.text === ",") return "";
    if (this.#next.type !== "identifier") throw this.#unexpected(", expected: identifier");
    return this.#take().text;
  }

  /** Parses `(a,b)`. An empty place between separators is the empty value. */
  #valueSet(): readonly string[] {
    if (this.#next.text !== "(") throw this.#unexpected(" expected: '('");
    this.#take();
    const values = new Set<string>();
    // Upstream's words for the tokens allowed in the place of a value.
    let beforeValue = "',', ')' or identifier";
    for (;;) {
      const isGiven = this.#next.type === "identifier";
      values.add(isGiven ? this.#take().text : "");
      const separator = this.#next;
      if (separator.text === ")") break;
      if (separator.text !== ",")
        throw this.#unexpected(`, expected: ${isGiven ? "',' or ')'" : beforeValue}`);
      this.#take();
      beforeValue = "',', or identifier";
    }
    this.#take();
    return [...values].sort();
  }
}
