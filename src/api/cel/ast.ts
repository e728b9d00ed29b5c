/** The syntax tree of an expression, with macros expanded. `at` is the offset in the source for messages. */
import type { CelValue } from "./value.ts";

export type Expr =
  | LiteralExpr
  | IdentExpr
  | SelectExpr
  | CallExpr
  | LogicExpr
  | ListExpr
  | MapExpr
  | StructExpr
  | FoldExpr
  | BindExpr;

interface Placed {
  readonly at: number;
}

export interface LiteralExpr extends Placed {
  readonly kind: "literal";
  readonly value: CelValue;
}

export interface IdentExpr extends Placed {
  readonly kind: "ident";
  readonly name: string;
}

export interface SelectExpr extends Placed {
  readonly kind: "select";
  readonly operand: Expr;
  readonly field: string;
  /** `value` is `a.b`, `optional` is `a.?b`, `test` is `has(a.b)`. */
  readonly mode: "value" | "optional" | "test";
}

/** A call of a function, or of an operator such as `_+_`. */
export interface CallExpr extends Placed {
  readonly kind: "call";
  readonly name: string;
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
}

/** `&&` and `||` with all their terms in one node, because chains may be long. */
export interface LogicExpr extends Placed {
  readonly kind: "logic";
  readonly name: "_&&_" | "_||_";
  readonly terms: readonly Expr[];
}

export interface ListExpr extends Placed {
  readonly kind: "list";
  readonly items: readonly ListItem[];
}

export interface ListItem {
  readonly value: Expr;
  readonly isOptional: boolean;
}

export interface MapExpr extends Placed {
  readonly kind: "map";
  readonly entries: readonly MapItem[];
}

export interface MapItem extends Placed {
  readonly key: Expr;
  readonly value: Expr;
  readonly isOptional: boolean;
}

export interface StructExpr extends Placed {
  readonly kind: "struct";
  readonly name: string;
  readonly fields: readonly StructItem[];
}

export interface StructItem extends Placed {
  readonly name: string;
  readonly value: Expr;
  readonly isOptional: boolean;
}

export type FoldName =
  | "all"
  | "exists"
  | "existsOne"
  | "map"
  | "filter"
  | "sortBy"
  | "transformList"
  | "transformMap"
  | "transformMapEntry";

/** A macro that loops over a list or a map. */
export interface FoldExpr extends Placed {
  readonly kind: "fold";
  readonly name: FoldName;
  readonly range: Expr;
  /** One name for the item or key, or two names: index and item, or key and value. */
  readonly variables: readonly string[];
  readonly filter: Expr | undefined;
  readonly body: Expr;
}

/** Binds a name to a value within the body. The `opt` modes take an optional value and return none when it is empty. */
export interface BindExpr extends Placed {
  readonly kind: "bind";
  readonly mode: "value" | "optMap" | "optFlatMap";
  readonly variable: string;
  readonly value: Expr;
  readonly body: Expr;
}

/** The direct children of an expression. */
export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case "literal":
    case "ident":
      return [];
    case "select":
      return [expr.operand];
    case "call":
      return callChildren(expr);
    case "logic":
      return expr.terms;
    case "list":
      return expr.items.map(({ value }) => value);
    case "map":
      return expr.entries.flatMap(({ key, value }) => [key, value]);
    case "struct":
      return expr.fields.map(({ value }) => value);
    case "fold":
      return foldChildren(expr);
    case "bind":
      return [expr.value, expr.body];
  }
}

function callChildren({ target, args }: CallExpr): readonly Expr[] {
  return target === undefined ? args : [target, ...args];
}

function foldChildren({ range, filter, body }: FoldExpr): readonly Expr[] {
  return filter === undefined ? [range, body] : [range, filter, body];
}
