/**
 * Upper bound on the cost of an expression before it runs, equal to that of cel-go's estimator in Kubernetes. Sizes come
 * from literals, from declared types along the path to a value, and from the functions that made the value.
 */
import type { BindExpr, CallExpr, Expr, FoldExpr, ListExpr, MapExpr, SelectExpr, StructExpr } from "./ast.ts";
import { type CallEstimate, type EstimatedValue, estimateCall, estimateSort } from "./call-estimate.ts";
import type { CheckedExpression, Resolution } from "./checker.ts";
import * as unit from "./cost-unit.ts";
import type { Overload } from "./overload.ts";
import { fixedSize, NO_SIZE, type SizeRange, unionOfSizes, UNKNOWN_SIZE } from "./size-range.ts";
import { parameterOf } from "./type.ts";
import { addSaturating, multiplySaturating } from "./uint64.ts";
import { pathWithin, type SizeHints, ValuePath } from "./value-path.ts";
import { type LocalVariable, typeSize, unionOfEntries, ValueSizes } from "./value-sizes.ts";

/** Estimated cost from 0 to 2^64-1, where the maximum stands for every larger cost. */
export function estimateCost(expr: Expr, checked: CheckedExpression, hints: SizeHints): bigint {
  return new Estimate(checked, hints).cost(expr);
}

const LIST_COST = BigInt(unit.LIST_COST);
const MAP_COST = BigInt(unit.MAP_COST);
const STRUCT_COST = BigInt(unit.STRUCT_COST);

/** Name of the target of `sortBy` in cel-go's expansion. No expression can use this name. */
const SORTED = "@__sortBy_input__";

class Estimate {
  readonly #checked: CheckedExpression;
  readonly #sizes: ValueSizes;

  constructor(checked: CheckedExpression, hints: SizeHints) {
    this.#checked = checked;
    this.#sizes = new ValueSizes(checked, hints);
  }

  cost(expr: Expr): bigint {
    switch (expr.kind) {
      case "literal":
        return 0n;
      case "ident":
        return this.#ident(expr, this.#checked.variables.get(expr) ?? expr.name);
      case "select":
        return this.#select(expr);
      case "call":
        return this.#call(expr);
      case "logic":
        return this.#sum(expr.terms);
      case "list":
        return this.#list(expr);
      case "map":
        return this.#map(expr);
      case "struct":
        return this.#struct(expr);
      case "fold":
        return this.#fold(expr);
      case "bind":
        return this.#bind(expr);
    }
  }

  #sum(exprs: readonly Expr[]): bigint {
    let sum = 0n;
    for (const expr of exprs) sum = addSaturating(sum, this.cost(expr));
    return sum;
  }

  #ident(expr: Expr, name: string): bigint {
    const local = this.#sizes.findLocal(name);
    this.#sizes.setPath(expr, local === undefined ? ValuePath.of(name) : local.path);
    return 1n;
  }

  /** A presence test adds no cost, nor does a field of a value of unknown type. */
  #select(expr: SelectExpr): bigint {
    const declared = this.#checked.variables.get(expr) ?? this.#checked.typeNames.get(expr);
    if (declared !== undefined) return this.#ident(expr, declared);
    const operand = this.cost(expr.operand);
    if (expr.mode === "test") return operand;
    if (expr.mode === "optional") return addSaturating(operand, 1n);
    this.#sizes.setPath(expr, pathWithin(this.#sizes.pathOf(expr.operand), expr.field));
    const { kind } = this.#sizes.typeOf(expr.operand);
    return kind === "map" || kind === "object" ? addSaturating(operand, 1n) : operand;
  }

  #call(expr: CallExpr): bigint {
    const resolution = this.#checked.calls.get(expr);
    if (resolution === undefined) return 0n;
    const { args, target } = this.#arguments(expr, resolution);
    const costs: bigint[] = [];
    const values: EstimatedValue[] = [];
    for (const arg of args) {
      costs.push(this.cost(arg));
      // Read at once: the next argument may change the last name of this path (see ValuePath).
      values.push(this.#sizes.valueOf(arg));
    }
    const before = target === undefined ? 0n : this.cost(target);
    const value = target === undefined ? undefined : this.#sizes.valueOf(target);
    if (expr.name === "dyn" && args[0] !== undefined) {
      this.#sizes.copy(expr, args[0]);
      return addSaturating(1n, costs[0] ?? 0n);
    }
    let own = 0n;
    let size: SizeRange | undefined;
    for (const overload of resolution.overloads) {
      const estimate = estimateCall({ overload, target: value, args: values });
      if (estimate.cost > own) own = estimate.cost;
      size = this.#resultSize(expr, args, { overload, estimate, size });
    }
    this.#sizes.setSize(expr, size);
    this.#setEntriesOfResult(expr, args);
    return addSaturating(before, addSaturating(own, argumentCost(expr, costs)));
  }

  #arguments(
    { target }: CallExpr,
    { overloads, args }: Resolution,
  ): { readonly args: readonly Expr[]; readonly target: Expr | undefined } {
    const isMember = target !== undefined && overloads[0]?.isMember === true;
    return isMember ? { target, args: args.slice(1) } : { target: undefined, args };
  }

  #resultSize(
    expr: CallExpr,
    [container]: readonly Expr[],
    call: {
      readonly overload: Overload;
      readonly estimate: CallEstimate;
      /** Size from the previous overloads. */
      readonly size: SizeRange | undefined;
    },
  ): SizeRange | undefined {
    const { overload, estimate } = call;
    let size =
      call.size === undefined || estimate.size === undefined
        ? (call.size ?? estimate.size)
        : unionOfSizes(call.size, estimate.size);
    const kind = overload.parameters[0]?.kind;
    if (overload.name === "_[_]" && container !== undefined && (kind === "list" || kind === "map")) {
      size = this.#sizes.entriesOf(container)?.value;
      this.#sizes.setPath(
        expr,
        pathWithin(this.#sizes.pathOf(container), kind === "list" ? "@items" : "@values"),
      );
    }
    return size ?? this.#sizes.sizeOf(expr);
  }

  #setEntriesOfResult(expr: CallExpr, [first, second, third]: readonly Expr[]): void {
    const [one, other] = expr.name === "_?_:_" ? [second, third] : expr.name === "_+_" ? [first, second] : [];
    if (one === undefined || other === undefined) return;
    this.#sizes.setEntries(expr, unionOfEntries(this.#sizes.entriesOf(one), this.#sizes.entriesOf(other)));
  }

  #list(expr: ListExpr): bigint {
    let cost = LIST_COST;
    let value = expr.items.length === 0 ? fixedSize(0) : NO_SIZE;
    for (const item of expr.items) {
      cost = addSaturating(cost, this.cost(item.value));
      value = unionOfSizes(value, this.#sizes.sizeOf(item.value) ?? UNKNOWN_SIZE);
    }
    this.#sizes.setEntries(expr, { container: "list", key: fixedSize(1), value });
    return cost;
  }

  #map(expr: MapExpr): bigint {
    let cost = MAP_COST;
    let key = expr.entries.length === 0 ? fixedSize(0) : NO_SIZE;
    let value = key;
    for (const entry of expr.entries) {
      cost = addSaturating(cost, addSaturating(this.cost(entry.key), this.cost(entry.value)));
      key = unionOfSizes(key, this.#sizes.sizeOf(entry.key) ?? UNKNOWN_SIZE);
      value = unionOfSizes(value, this.#sizes.sizeOf(entry.value) ?? UNKNOWN_SIZE);
    }
    this.#sizes.setEntries(expr, { container: "map", key, value });
    return cost;
  }

  #struct({ fields }: StructExpr): bigint {
    return addSaturating(STRUCT_COST, this.#sum(fields.map(({ value }) => value)));
  }

  /** Cost of cel-go's expansion of the macro. */
  #fold(expr: FoldExpr): bigint {
    if (expr.name === "sortBy") return this.#sortBy(expr);
    const before = this.cost(expr.range);
    const range = { path: this.#sizes.pathOf(expr.range), entries: this.#sizes.entriesOf(expr.range) };
    const { step, item } = this.#turn(expr, range);
    const turns = this.#sizes.sizeOf(expr.range) ?? UNKNOWN_SIZE;
    const { made } = FOLDS[expr.name];
    this.#sizes.setSize(expr, made === undefined ? fixedSize(1) : turns);
    // The macro starts with an empty list, whose items have no size.
    const value = unionOfSizes(fixedSize(0), item ?? UNKNOWN_SIZE);
    if (made === "list") this.#sizes.setEntries(expr, { container: "list", key: fixedSize(1), value });
    return addSaturating(before, foldCost(expr, turns, step));
  }

  /** As expanded by cel-go: the list is bound to a name, and sorted by the keys that a `map` makes of it. */
  #sortBy(expr: FoldExpr): bigint {
    const before = addSaturating(LIST_COST, this.cost(expr.range));
    const sorted = this.#sizes.localOf(SORTED, expr.range);
    const { step } = this.#turn(expr, sorted);
    const turns = this.#sizes.sizeOfLocal(sorted, this.#sizes.typeOf(expr.range)) ?? UNKNOWN_SIZE;
    const sort = estimateSort(turns, this.#sizes.typeOf(expr.body));
    this.#sizes.setSize(expr, sort.size);
    // The name is read twice: before the dot, and as the range of the `map`.
    const keys = addSaturating(2n, foldCost(expr, turns, step));
    return addSaturating(before, addSaturating(keys, sort.cost));
  }

  /** Cost of the filter and the body, and the size of the item they make. */
  #turn(
    expr: FoldExpr,
    range: Pick<LocalVariable, "path" | "entries">,
  ): { readonly step: bigint; readonly item: SizeRange | undefined } {
    return this.#sizes.within(this.#iterators(expr, range), () => {
      const filter = expr.filter === undefined ? 0n : this.cost(expr.filter);
      const step = addSaturating(filter, this.cost(expr.body));
      return {
        step,
        item: expr.name === "filter" ? this.#iteratorSize(expr) : this.#sizes.sizeOf(expr.body),
      };
    });
  }

  #iteratorSize({ range, variables: [name = ""] }: FoldExpr): SizeRange | undefined {
    return this.#sizes.sizeOfLocal(this.#sizes.findLocal(name), parameterOf(this.#sizes.typeOf(range)));
  }

  #iterators(
    { range, variables }: FoldExpr,
    { path, entries }: Pick<LocalVariable, "path" | "entries">,
  ): readonly LocalVariable[] {
    const isList = (entries?.container ?? this.#sizes.typeOf(range).kind) === "list";
    const key = { step: isList ? "@indices" : "@keys", size: entries?.key };
    const value = { step: isList ? "@items" : "@values", size: entries?.value };
    const parts = variables.length > 1 ? [key, value] : [isList ? value : key];
    return parts.map(({ step, size }, at) => ({
      name: variables[at] ?? "",
      path: pathWithin(path, step),
      size,
      entries: undefined,
    }));
  }

  #bind(expr: BindExpr): bigint {
    if (expr.mode !== "value") return this.#bindOptional(expr);
    const before = addSaturating(LIST_COST, this.cost(expr.value));
    const local = this.#sizes.localOf(expr.variable, expr.value);
    const body = this.#sizes.within([local], () => this.cost(expr.body));
    this.#sizes.copy(expr, expr.body);
    return addSaturating(before, body);
  }

  /**
   * Expansion: `value.hasValue() ? optional.of(cel.bind(variable, value.value(), body)) : optional.none()`, or without
   * `optional.of`.
   */
  #bindOptional(expr: BindExpr): bigint {
    const value = this.cost(expr.value);
    const local: LocalVariable = {
      name: expr.variable,
      path: undefined,
      size: typeSize(parameterOf(this.#sizes.typeOf(expr.value))),
      entries: undefined,
    };
    const body = this.#sizes.within([local], () => this.cost(expr.body));
    this.#sizes.setSize(expr, typeSize(this.#sizes.typeOf(expr)) ?? UNKNOWN_SIZE);
    const calls = expr.mode === "optMap" ? 3n : 2n;
    return addSaturating(addSaturating(value, value), addSaturating(LIST_COST + calls, body));
  }
}

/** Cost of a macro besides its range and body, by its expansion in cel-go. */
interface FoldCost {
  readonly once: bigint;
  readonly turn: bigint;
  /** Type of the macro's result; `undefined` for a scalar. */
  readonly made: "list" | "map" | undefined;
}

const LIST_FOLD: FoldCost = { once: LIST_COST + 1n, turn: LIST_COST + 2n, made: "list" };
const MAP_FOLD: FoldCost = { once: MAP_COST + 1n, turn: 3n, made: "map" };
const FOLDS: Readonly<Record<FoldExpr["name"], FoldCost>> = {
  all: { once: 1n, turn: 3n, made: undefined },
  exists: { once: 1n, turn: 4n, made: undefined },
  existsOne: { once: 2n, turn: 2n, made: undefined },
  // The variable is part of the list that is appended.
  filter: { ...LIST_FOLD, turn: LIST_COST + 3n },
  map: LIST_FOLD,
  sortBy: LIST_FOLD,
  transformList: LIST_FOLD,
  transformMap: MAP_FOLD,
  transformMapEntry: { ...MAP_FOLD, turn: 2n },
};

function foldCost({ name }: FoldExpr, turns: SizeRange, step: bigint): bigint {
  const { once, turn } = FOLDS[name];
  return addSaturating(once, multiplySaturating(turns.max, addSaturating(turn, step)));
}

/** Cost of the arguments. A conditional evaluates only one of its branches. */
function argumentCost({ name }: CallExpr, costs: readonly bigint[]): bigint {
  const [condition = 0n, yes = 0n, no = 0n] = costs;
  if (name === "_?_:_") return addSaturating(condition, yes > no ? yes : no);
  let sum = 0n;
  for (const cost of costs) sum = addSaturating(sum, cost);
  return sum;
}
