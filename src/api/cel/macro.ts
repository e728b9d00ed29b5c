/** Macros: calls that are expanded before the expression is checked, because they bind names or delay arguments. */
import type { BindExpr, CallExpr, Expr, FoldName } from "./ast.ts";

/** A misuse of a macro, with its position. */
export class MacroError extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.name = "MacroError";
    this.at = at;
  }
}

type Expansion = (call: CallExpr) => Expr;

/** Macros by `target` or `global`, name and number of arguments. Any other call is a function. */
const MACROS: ReadonlyMap<string, Expansion> = new Map<string, Expansion>([
  ["global has 1", expandHas],
  ["target all 2", (call) => fold(call, "all", 1)],
  ["target all 3", (call) => fold(call, "all", 2)],
  ["target exists 2", (call) => fold(call, "exists", 1)],
  ["target exists 3", (call) => fold(call, "exists", 2)],
  ["target exists_one 2", (call) => fold(call, "existsOne", 1)],
  ["target exists_one 3", (call) => fold(call, "existsOne", 2)],
  ["target existsOne 2", (call) => fold(call, "existsOne", 1)],
  ["target existsOne 3", (call) => fold(call, "existsOne", 2)],
  ["target filter 2", (call) => fold(call, "filter", 1)],
  ["target sortBy 2", (call) => fold(call, "sortBy", 1)],
  ["target map 2", (call) => fold(call, "map", 1)],
  ["target map 3", (call) => fold(call, "map", 1)],
  ["target transformList 3", (call) => fold(call, "transformList", 2)],
  ["target transformList 4", (call) => fold(call, "transformList", 2)],
  ["target transformMap 3", (call) => fold(call, "transformMap", 2)],
  ["target transformMap 4", (call) => fold(call, "transformMap", 2)],
  ["target transformMapEntry 3", (call) => fold(call, "transformMapEntry", 2)],
  ["target transformMapEntry 4", (call) => fold(call, "transformMapEntry", 2)],
  ["target optMap 2", (call) => bindOptional(call, "optMap")],
  ["target optFlatMap 2", (call) => bindOptional(call, "optFlatMap")],
]);

/** Whether `cel.bind` is a macro. */
export type BindSupport = "allowed" | "unknown";

/** Expands a macro. Throws a MacroError when the macro is misused. */
export function expandMacro(call: CallExpr, bindings: BindSupport): Expr {
  const { target, name, args } = call;
  const isBind = target?.kind === "ident" && target.name === "cel" && name === "bind" && args.length === 3;
  if (isBind && bindings === "allowed") return bindValue(call);
  const place = target === undefined ? "global" : "target";
  return MACROS.get(`${place} ${name} ${args.length}`)?.(call) ?? call;
}

function expandHas({ args: [argument], at }: CallExpr): Expr {
  if (argument?.kind !== "select" || argument.mode !== "value")
    throw new MacroError(argument?.at ?? at, "invalid argument to has() macro");
  return { ...argument, mode: "test", at };
}

function fold(call: CallExpr, name: FoldName, count: number): Expr {
  const { target, args, at } = call;
  const variables = args.slice(0, count).map(simpleName);
  if (variables[0] !== undefined && variables[0] === variables[1])
    throw new MacroError(args[1]?.at ?? at, `duplicate variable name: ${variables[0]}`);
  const rest = args.slice(count);
  const body = rest.at(-1);
  const filter = rest.length > 1 ? rest[0] : undefined;
  if (target === undefined || body === undefined) return call;
  return { kind: "fold", name, range: target, variables, filter, body, at };
}

function simpleName(expr: Expr): string {
  if (expr.kind === "ident" && !expr.name.startsWith(".")) return expr.name;
  throw new MacroError(expr.at, "argument must be a simple name");
}

function bindOptional(call: CallExpr, mode: BindExpr["mode"]): Expr {
  const [variable, body] = call.args;
  if (call.target === undefined || variable === undefined || body === undefined) return call;
  return { kind: "bind", mode, variable: simpleName(variable), value: call.target, body, at: call.at };
}

function bindValue(call: CallExpr): Expr {
  const [variable, value, body] = call.args;
  if (variable === undefined || value === undefined || body === undefined) return call;
  return { kind: "bind", mode: "value", variable: simpleName(variable), value, body, at: call.at };
}
