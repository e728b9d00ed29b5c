/** Parser: turns the tokens of an expression into a tree. */
import {
  type CallExpr,
  childrenOf,
  type Expr,
  type ListItem,
  type LogicExpr,
  type MapItem,
  type SelectExpr,
  type StructItem,
} from "./ast.ts";
import { CelCompileError } from "./cel-error.ts";
import { type Token, tokenize } from "./cel-token.ts";
import { bytesOf, doubleOf, intOf, stringOf, uintOf } from "./literal.ts";
import { type BindSupport, expandMacro, MacroError } from "./macro.ts";
import type { CelValue } from "./value.ts";

/** Bound of nested brackets, as in cel-go. */
const NESTING_MAX = 250;
/**
 * Bound of the tree's height, as in cel-go. Chains of operators and of fields make it high without brackets; usual heights
 * are below ten.
 */
const HEIGHT_MAX = 250;
/** Offset of issues that concern the whole expression. */
const NOWHERE = -1;
/** Bound of one expression, as in Kubernetes. */
const SOURCE_MAX = 100_000;

/** Reserved words, which cannot be identifiers. */
export const RESERVED: ReadonlySet<string> = new Set([
  "as",
  "break",
  "const",
  "continue",
  "else",
  "for",
  "function",
  "if",
  "import",
  "let",
  "loop",
  "package",
  "namespace",
  "return",
  "var",
  "void",
  "while",
]);
export const KEYWORDS: ReadonlySet<string> = new Set(["true", "false", "null", "in"]);
const EXPECTED =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** Binary operators from weak to strong. Those in one row have equal precedence. */
const BINARY: readonly (readonly string[])[] = [
  ["<", "<=", ">=", ">", "==", "!=", "in"],
  ["+", "-"],
  ["*", "/", "%"],
];

/** Parses an expression. Throws a CelCompileError. */
export function parseCel(source: string, bindings: BindSupport = "unknown"): Expr {
  if (source.length > SOURCE_MAX)
    throw new CelCompileError(source.slice(0, 100), [
      {
        at: 0,
        message: `expression code point size exceeds limit: size: ${source.length}, limit ${SOURCE_MAX}`,
      },
    ]);
  const { tokens, issue } = tokenize(source);
  if (issue !== undefined) throw new CelCompileError(source, [issue]);
  try {
    return new Parser(tokens, bindings).whole();
  } catch (error) {
    if (error instanceof MacroError)
      throw new CelCompileError(source, [{ at: error.at, message: error.message }]);
    throw error;
  }
}

/** Error for a mistake in the grammar or in a macro. The first one ends the parse. */
function mistake(at: number, message: string): MacroError {
  return new MacroError(at, message);
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #bindings: BindSupport;
  #at = 0;
  #nesting = 0;

  constructor(tokens: readonly Token[], bindings: BindSupport) {
    this.#tokens = tokens;
    this.#bindings = bindings;
  }

  whole(): Expr {
    const expr = this.#expr();
    const rest = this.#next();
    if (rest.kind !== "end")
      throw mistake(rest.at, `Syntax error: extraneous input '${rest.text}' expecting <EOF>`);
    checkHeight(expr);
    return expr;
  }

  #peek(): Token {
    return this.#tokens[Math.min(this.#at, this.#tokens.length - 1)] ?? { kind: "end", text: "<EOF>", at: 0 };
  }

  #next(): Token {
    const token = this.#peek();
    this.#at += 1;
    return token;
  }

  #sees(text: string): boolean {
    const token = this.#peek();
    return token.text === text && (token.kind === "sign" || token.kind === "identifier");
  }

  #takes(text: string): boolean {
    const isThere = this.#sees(text);
    if (isThere) this.#at += 1;
    return isThere;
  }

  #expect(text: string): Token {
    const token = this.#next();
    if (token.kind === "sign" && token.text === text) return token;
    throw mistake(token.at, `Syntax error: mismatched input '${token.text}' expecting '${text}'`);
  }

  #expr(): Expr {
    this.#nesting += 1;
    if (this.#nesting > NESTING_MAX)
      throw mistake(NOWHERE, `expression recursion limit exceeded: ${NESTING_MAX}`);
    const condition = this.#logic("||", () => this.#logic("&&", () => this.#binary(0)));
    const expr = this.#sees("?") ? this.#conditional(condition) : condition;
    this.#nesting -= 1;
    return expr;
  }

  #conditional(condition: Expr): Expr {
    const { at } = this.#next();
    const yes = this.#logic("||", () => this.#logic("&&", () => this.#binary(0)));
    this.#expect(":");
    const no = this.#expr();
    return { kind: "call", name: "_?_:_", target: undefined, args: [condition, yes, no], at };
  }

  #logic(sign: "&&" | "||", operand: () => Expr): Expr {
    const first = operand();
    if (!this.#sees(sign)) return first;
    const { at } = this.#peek();
    const terms = [first];
    while (this.#takes(sign)) terms.push(operand());
    const name: LogicExpr["name"] = sign === "&&" ? "_&&_" : "_||_";
    return { kind: "logic", name, terms, at };
  }

  #binary(level: number): Expr {
    const signs = BINARY[level];
    if (signs === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    while (signs.some((sign) => this.#sees(sign))) {
      const { text, at } = this.#next();
      const right = this.#binary(level + 1);
      const name = text === "in" ? "@in" : `_${text}_`;
      left = { kind: "call", name, target: undefined, args: [left, right], at };
    }
    return left;
  }

  #unary(): Expr {
    const first = this.#peek();
    if (!this.#sees("!") && !this.#sees("-")) return this.#member(this.#primary());
    let count = 0;
    while (this.#takes(first.text)) count += 1;
    if (first.text === "-" && count === 1) {
      const literal = this.#negative(first);
      if (literal !== undefined) return this.#member(literal);
    }
    const operand = this.#member(this.#primary());
    // An even number of operators cancels out.
    if (count % 2 === 0) return operand;
    const name = first.text === "!" ? "!_" : "-_";
    return { kind: "call", name, target: undefined, args: [operand], at: first.at };
  }

  /** A negative number as one literal, because the smallest integer has no positive counterpart. */
  #negative({ at }: Token): Expr | undefined {
    const token = this.#peek();
    if (token.kind !== "int" && token.kind !== "double") return undefined;
    this.#at += 1;
    const value = token.kind === "int" ? literalValue(token, (text) => negated(text)) : -doubleOf(token.text);
    return { kind: "literal", value, at };
  }

  #member(start: Expr): Expr {
    let expr = start;
    for (;;) {
      if (this.#sees(".")) expr = this.#field(expr);
      else if (this.#sees("[")) expr = this.#index(expr);
      else if (this.#sees("{") && qualifiedName(expr) !== undefined) expr = this.#struct(expr);
      else return expr;
    }
  }

  #field(operand: Expr): Expr {
    const { at } = this.#next();
    const mode: SelectExpr["mode"] = this.#takes("?") ? "optional" : "value";
    const token = this.#next();
    const field = fieldName(token);
    if (mode === "value" && token.kind === "identifier" && this.#sees("(")) {
      const open = this.#next();
      return expandMacro(this.#call(operand, field, open.at), this.#bindings);
    }
    return { kind: "select", operand, field, mode, at };
  }

  #call(target: Expr | undefined, name: string, at: number): CallExpr {
    const args: Expr[] = [];
    while (!this.#sees(")")) {
      args.push(this.#expr());
      if (!this.#takes(",")) break;
      if (this.#sees(")")) throw unexpected(this.#peek());
    }
    this.#expect(")");
    return { kind: "call", name, target, args, at };
  }

  #index(operand: Expr): Expr {
    const { at } = this.#next();
    const name = this.#takes("?") ? "_[?_]" : "_[_]";
    const index = this.#expr();
    this.#expect("]");
    return { kind: "call", name, target: undefined, args: [operand, index], at };
  }

  #primary(): Expr {
    const token = this.#next();
    const { at } = token;
    const value = scalarOf(token);
    if (value !== undefined) return { kind: "literal", value, at };
    if (token.kind === "identifier" && !KEYWORDS.has(token.text)) return this.#ident(token, "");
    if (token.kind !== "sign") throw unexpected(token);
    switch (token.text) {
      case "(": {
        const inner = this.#expr();
        this.#expect(")");
        return inner;
      }
      case "[":
        return this.#list(at);
      case "{":
        return this.#map(at);
      case ".": {
        const name = this.#next();
        if (name.kind !== "identifier" || KEYWORDS.has(name.text)) throw unexpected(name);
        return this.#ident(name, ".");
      }
      default:
        throw unexpected(token);
    }
  }

  #ident({ text, at }: Token, prefix: "" | "."): Expr {
    if (RESERVED.has(text)) throw mistake(at, `reserved identifier: ${text}`);
    if (!this.#sees("(")) return { kind: "ident", name: prefix + text, at };
    const open = this.#next();
    return expandMacro(this.#call(undefined, prefix + text, open.at), this.#bindings);
  }

  #list(at: number): Expr {
    const items: ListItem[] = [];
    while (!this.#sees("]")) {
      const isOptional = this.#takes("?");
      items.push({ value: this.#expr(), isOptional });
      if (!this.#takes(",")) break;
    }
    this.#expect("]");
    return { kind: "list", items, at };
  }

  #map(at: number): Expr {
    const entries: MapItem[] = [];
    while (!this.#sees("}")) {
      const isOptional = this.#takes("?");
      const key = this.#expr();
      const colon = this.#expect(":");
      entries.push({ key, value: this.#expr(), isOptional, at: colon.at });
      if (!this.#takes(",")) break;
    }
    this.#expect("}");
    return { kind: "map", entries, at };
  }

  #struct(named: Expr): Expr {
    const { at } = this.#next();
    const fields: StructItem[] = [];
    while (!this.#sees("}")) {
      const isOptional = this.#takes("?");
      const name = fieldName(this.#next());
      const colon = this.#expect(":");
      fields.push({ name, value: this.#expr(), isOptional, at: colon.at });
      if (!this.#takes(",")) break;
    }
    this.#expect("}");
    return { kind: "struct", name: qualifiedName(named) ?? "", fields, at };
  }
}

function fieldName(token: Token): string {
  if (token.kind === "quoted") return token.text.slice(1, -1);
  if (token.kind === "identifier" && !KEYWORDS.has(token.text)) return token.text;
  const found =
    token.kind === "end" ? "no viable alternative at input '.'" : `mismatched input '${token.text}'`;
  throw mistake(token.at, `Syntax error: ${found} expecting IDENTIFIER`);
}

function unexpected({ text, at }: Token): MacroError {
  return mistake(at, `Syntax error: mismatched input '${text}' expecting ${EXPECTED}`);
}

function negated(text: string): bigint {
  return intOf(`${-BigInt(text)}`);
}

/** Value of a literal token; `undefined` for any other token. */
function scalarOf(token: Token): CelValue | undefined {
  switch (token.kind) {
    case "int":
      return literalValue(token, intOf);
    case "uint":
      return literalValue(token, uintOf);
    case "double":
      return literalValue(token, doubleOf);
    case "string":
      return literalValue(token, stringOf);
    case "bytes":
      return literalValue(token, bytesOf);
    case "identifier":
      return token.text === "null" ? null : BOOLEANS.get(token.text);
    case "quoted":
    case "sign":
    case "end":
      return undefined;
  }
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
]);

function literalValue<T>({ text, at }: Token, read: (text: string) => T): T {
  try {
    return read(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw mistake(at, error.message);
    throw error;
  }
}

/** `a.b.c` as one name; `undefined` for any other expression. */
export function qualifiedName(expr: Expr): string | undefined {
  const names: string[] = [];
  let at = expr;
  while (at.kind === "select" && at.mode === "value") {
    names.push(at.field);
    at = at.operand;
  }
  return at.kind === "ident" ? [at.name, ...names.toReversed()].join(".") : undefined;
}

/** Refuses trees that are too high for the recursive functions that walk them later. */
function checkHeight(expr: Expr): void {
  let level: readonly Expr[] = [expr];
  for (let height = 0; level.length > 0; height++) {
    if (height > HEIGHT_MAX) throw mistake(NOWHERE, "max recursion depth exceeded");
    level = level.flatMap(childrenOf);
  }
}
