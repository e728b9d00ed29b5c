/**
 * Formulas of cells: `12`, `=a1+b2*2`, `=sum(a1:a3)/2`. Pure.
 *
 *     expression = term { ("+" | "-") term }
 *     term       = factor { ("*" | "/") factor }
 *     factor     = number | cell | "sum(" cell ":" cell ")" | "(" expression ")" | "-" factor
 */

export type Expression =
  | { readonly type: "number"; readonly value: number }
  | { readonly type: "cell"; readonly name: string }
  | { readonly type: "sum"; readonly cells: readonly string[] }
  | { readonly type: "negated"; readonly of: Expression }
  | {
      readonly type: "operation";
      readonly operator: string;
      readonly left: Expression;
      readonly right: Expression;
    };

/** A formula that cannot be read or calculated; the message is for the cell's status. */
export class FormulaError extends Error {
  override readonly name = "FormulaError";
}

/** Deeper formulas are refused, so that no formula overflows the stack. */
const MAX_DEPTH = 50;
/** Larger ranges are refused. */
const MAX_RANGE = 1000;

export function parseFormula(text: string): Expression {
  const source = text.trim().toLowerCase();
  if (!source.startsWith("=")) return { type: "number", value: toNumber(source) };
  return new Parser(source.slice(1)).parse();
}

/** Names of the cells in the formula, each once. */
export function cellsOf(expression: Expression): readonly string[] {
  return [...new Set(mentions(expression))];
}

/** Value of the formula, given the values of other cells. */
export function calculate(expression: Expression, valueOf: (cell: string) => number): number {
  switch (expression.type) {
    case "number":
      return expression.value;
    case "cell":
      return valueOf(expression.name);
    case "sum":
      return expression.cells.reduce((total, cell) => total + valueOf(cell), 0);
    case "negated":
      return 0 - calculate(expression.of, valueOf);
    case "operation":
      return apply(
        expression.operator,
        calculate(expression.left, valueOf),
        calculate(expression.right, valueOf),
      );
  }
}

function mentions(expression: Expression): readonly string[] {
  switch (expression.type) {
    case "number":
      return [];
    case "cell":
      return [expression.name];
    case "sum":
      return expression.cells;
    case "negated":
      return mentions(expression.of);
    case "operation":
      return [...mentions(expression.left), ...mentions(expression.right)];
  }
}

function apply(operator: string, left: number, right: number): number {
  if (operator === "+") return left + right;
  if (operator === "-") return left - right;
  // JSON has no negative zero.
  if (operator === "*") return left * right + 0;
  if (right === 0) throw new FormulaError("division by zero");
  return left / right + 0;
}

function toNumber(text: string): number {
  const value = Number(text);
  if (text === "" || !Number.isFinite(value))
    throw new FormulaError(`"${text}" is not a number; a formula starts with "="`);
  return value;
}

class Parser {
  readonly #tokens: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    this.#tokens = source.match(/\d+(?:\.\d+)?|[a-z]+\d+|[a-z]+|\S/g) ?? [];
  }

  parse(): Expression {
    const expression = this.#expression();
    const rest = this.#tokens[this.#at];
    if (rest !== undefined) throw new FormulaError(`"${rest}" is not expected here`);
    return expression;
  }

  #expression(): Expression {
    return this.#chain(["+", "-"], () => this.#chain(["*", "/"], () => this.#factor()));
  }

  #chain(operators: readonly string[], operand: () => Expression): Expression {
    let left = operand();
    for (;;) {
      const operator = operators.find((candidate) => this.#take(candidate));
      if (operator === undefined) return left;
      left = { type: "operation", operator, left, right: operand() };
    }
  }

  #factor(): Expression {
    if (++this.#depth > MAX_DEPTH) throw new FormulaError("the formula is nested too deep");
    try {
      if (this.#take("-")) return { type: "negated", of: this.#factor() };
      if (this.#take("(")) return this.#closed(this.#expression());
      if (this.#take("sum")) return this.#sum();
      const token = this.#next();
      return isCell(token) ? { type: "cell", name: token } : { type: "number", value: toNumber(token) };
    } finally {
      this.#depth--;
    }
  }

  #sum(): Expression {
    this.#expect("(");
    const first = this.#cell();
    this.#expect(":");
    return this.#closed({ type: "sum", cells: cellsBetween(first, this.#cell()) });
  }

  #closed(expression: Expression): Expression {
    this.#expect(")");
    return expression;
  }

  #cell(): string {
    const token = this.#next();
    if (!isCell(token)) throw new FormulaError(`"${token}" is not a cell`);
    return token;
  }

  #take(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at++;
    return true;
  }

  #expect(token: string): void {
    if (!this.#take(token)) throw new FormulaError(`"${token}" is missing`);
  }

  #next(): string {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw new FormulaError("the formula is not complete");
    return token;
  }
}

function isCell(token: string): boolean {
  return /^[a-z]\d+$/.test(token);
}

/** Cells of a rectangle, row by row. */
function cellsBetween(first: string, last: string): readonly string[] {
  const [left, right] = [first, last].map((cell) => cell.charCodeAt(0)).toSorted((a, b) => a - b);
  const [top, bottom] = [first, last].map((cell) => Number(cell.slice(1))).toSorted((a, b) => a - b);
  const [columns, rows] = [(right ?? 0) - (left ?? 0) + 1, (bottom ?? 0) - (top ?? 0) + 1];
  if (columns * rows > MAX_RANGE)
    throw new FormulaError(`${first}:${last} has more than ${String(MAX_RANGE)} cells`);
  return Array.from({ length: columns * rows }, (_, at) => {
    const column = String.fromCharCode((left ?? 0) + (at % columns));
    return column + String((top ?? 0) + Math.floor(at / columns));
  });
}
