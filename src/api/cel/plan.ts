/** Turns a checked expression into nested functions: each part of the tree becomes one step. */
import type {
  BindExpr,
  CallExpr,
  Expr,
  ListExpr,
  LogicExpr,
  MapExpr,
  SelectExpr,
  StructExpr,
} from "./ast.ts";
import { CelEvaluationError } from "./cel-error.ts";
import type { CheckedExpression, Resolution } from "./checker.ts";
import { LIST_COST, MAP_COST, STRUCT_COST } from "./cost-unit.ts";
import { putEntry, type MapEntries, settle, type Evaluator, type EvaluatorPlanner } from "./evaluator.ts";
import { planFold } from "./fold.ts";
import type { Args, Overload } from "./overload.ts";
import type { Run } from "./run.ts";
import {
  CelList,
  CelMap,
  CelRecord,
  type CelValue,
  NONE,
  Optional,
  PlainList,
  PlainMap,
  PlainRecord,
  tagOf,
  TypeValue,
} from "./value.ts";

/** Plans an expression. Slots hold the caller's variables first, in order, then those of macros by depth. */
export function planCel(expr: Expr, checked: CheckedExpression, variables: readonly string[]): Evaluator {
  return new Planner(checked, variables).plan(expr);
}

class Planner implements EvaluatorPlanner {
  readonly #checked: CheckedExpression;
  readonly #globals: ReadonlyMap<string, number>;
  readonly #scope: (readonly [name: string, slot: number])[] = [];

  constructor(checked: CheckedExpression, variables: readonly string[]) {
    this.#checked = checked;
    this.#globals = new Map(variables.map((name, at) => [name, at]));
  }

  plan(expr: Expr): Evaluator {
    return this.#declared(expr) ?? this.#planned(expr);
  }

  /** The step of a name that the caller or the language declares. */
  #declared(expr: Expr): Evaluator | undefined {
    const variable = this.#checked.variables.get(expr);
    if (variable !== undefined) return readSlot(this.#globals.get(variable) ?? -1, variable);
    const typeName = this.#checked.typeNames.get(expr);
    return typeName === undefined ? undefined : constant(new TypeValue(typeName));
  }

  #planned(expr: Expr): Evaluator {
    switch (expr.kind) {
      case "literal":
        return constant(expr.value);
      case "ident":
        return this.#local(expr.name);
      case "select":
        return this.#select(expr);
      case "call":
        return this.#call(expr);
      case "logic":
        return this.#logic(expr);
      case "list":
        return this.#list(expr);
      case "map":
        return this.#map(expr);
      case "struct":
        return this.#struct(expr);
      case "fold":
        return planFold(expr, this);
      case "bind":
        return this.#bind(expr);
    }
  }

  #local(name: string): Evaluator {
    return readSlot(this.#scope.findLast(([known]) => known === name)?.[1] ?? -1, name);
  }

  within<T>(names: readonly string[], step: (slots: readonly number[]) => T): T {
    const first = this.#globals.size + this.#scope.length;
    const slots = names.map((_, at) => first + at);
    this.#scope.push(...names.map((name, at) => [name, first + at] as const));
    const result = step(slots);
    this.#scope.length -= names.length;
    return result;
  }

  #select({ operand, field, mode }: SelectExpr): Evaluator {
    const container = this.plan(operand);
    if (mode === "test") return (run) => hasField(container(run), field);
    const select = mode === "optional" ? selectOptional : selectField;
    return (run) => {
      run.step(1);
      return select(container(run), field);
    };
  }

  #call(expr: CallExpr): Evaluator {
    const resolution = this.#checked.calls.get(expr);
    if (resolution === undefined) throw new Error(`the call of ${expr.name} was not checked`);
    const args = resolution.args.map((arg) => this.plan(arg));
    const [first, second, third] = args;
    if (expr.name === "_?_:_" && first !== undefined && second !== undefined && third !== undefined)
      return conditional(first, second, third);
    const isFallback = resolution.overloads.some(({ parameters: [target] }) => target?.kind === "optional");
    if (isFallback && first !== undefined && second !== undefined) {
      if (expr.name === "or") return fallback(first, second, "or");
      if (expr.name === "orValue") return fallback(first, second, "orValue");
    }
    return callStep(isConstantSet(expr) ? withoutCost(resolution) : resolution, args);
  }

  #logic({ name, terms }: LogicExpr): Evaluator {
    const steps = terms.map((term) => this.plan(term));
    // The value that decides the result alone: false for `&&`, true for `||`.
    const decisive = name === "_||_";
    return (run) => decide(steps, decisive, run);
  }

  #list(expr: ListExpr): Evaluator {
    const { items } = expr;
    const cost = isConstant(expr) ? 0 : LIST_COST;
    const steps = items.map(({ value, isOptional }) => ({ step: this.plan(value), isOptional }));
    return (run) => {
      run.step(cost, LIST_COST + steps.length);
      const made: CelValue[] = [];
      for (const { step, isOptional } of steps) {
        const value = isOptional ? contentOf(step(run)) : step(run);
        if (value !== undefined) made.push(value);
      }
      return new PlainList(made);
    };
  }

  #map(expr: MapExpr): Evaluator {
    const { entries } = expr;
    const cost = isConstant(expr) ? 0 : MAP_COST;
    const steps = entries.map(({ key, value, isOptional }) => ({
      key: this.plan(key),
      value: this.plan(value),
      isOptional,
    }));
    return (run) => {
      run.step(cost, MAP_COST + steps.length);
      const made: MapEntries = new Map();
      for (const { key, value, isOptional } of steps) {
        const name = key(run);
        const content = isOptional ? contentOf(value(run)) : value(run);
        if (content !== undefined) putEntry(made, name, content);
      }
      return new PlainMap(made);
    };
  }

  #struct({ name, fields }: StructExpr): Evaluator {
    const steps = fields.map((field) => ({ ...field, step: this.plan(field.value) }));
    return (run) => {
      run.step(STRUCT_COST, STRUCT_COST + steps.length);
      const made = new Map<string, CelValue>();
      for (const { name: field, step, isOptional } of steps) {
        const value = isOptional ? contentOf(step(run)) : step(run);
        if (value !== undefined) made.set(field, value);
      }
      return new PlainRecord(name, made);
    };
  }

  #bind({ mode, variable, value, body }: BindExpr): Evaluator {
    const bound = this.plan(value);
    const { step, slot = 0 } = this.within([variable], ([at]) => ({ step: this.plan(body), slot: at }));
    if (mode === "value")
      return (run) => {
        run.slots[slot] = bound(run);
        return step(run);
      };
    return (run) => {
      const content = contentOf(bound(run));
      if (content === undefined) return NONE;
      run.slots[slot] = content;
      return mode === "optMap" ? new Optional(step(run)) : step(run);
    };
  }
}

/** True for constants. cel-go builds constant lists and maps at plan time, so evaluating them costs nothing. */
function isConstant(expr: Expr): boolean {
  if (expr.kind === "list") return expr.items.every((item) => !item.isOptional && isConstant(item.value));
  if (expr.kind !== "map") return expr.kind === "literal";
  return expr.entries.every((entry) => !entry.isOptional && isConstant(entry.key) && isConstant(entry.value));
}

/** True for a membership test in a list of constants, which cel-go turns into a set. */
function isConstantSet({ name, args: [, list] }: CallExpr): boolean {
  return name === "@in" && list?.kind === "list" && list.items.every(({ value }) => value.kind === "literal");
}

function withoutCost({ overloads, args }: Resolution): Resolution {
  return { overloads: overloads.map((overload) => ({ ...overload, cost: () => 0 })), args };
}

function constant(value: CelValue): Evaluator {
  return () => value;
}

function readSlot(slot: number, name: string): Evaluator {
  return (run) => {
    run.step(1);
    const value = run.slots[slot];
    if (value === undefined) throw new CelEvaluationError(`no such attribute(s): ${name}`);
    return value;
  };
}

function contentOf(value: CelValue): CelValue | undefined {
  if (value instanceof Optional) return value.value;
  throw new CelEvaluationError("no such overload");
}

function hasFields(value: CelValue): value is CelRecord | CelMap {
  return value instanceof CelRecord || value instanceof CelMap;
}

function noSuchKey(field: string): CelEvaluationError {
  return new CelEvaluationError(`no such key: ${field}`);
}

function selectField(container: CelValue, field: string): CelValue {
  if (container instanceof Optional) return selectOptional(container, field);
  const value = hasFields(container) ? container.find(field) : undefined;
  if (value === undefined) throw noSuchKey(field);
  return value;
}

function selectOptional(container: CelValue, field: string): CelValue {
  const inner = container instanceof Optional ? container.value : container;
  if (inner === undefined) return NONE;
  if (!hasFields(inner)) throw noSuchKey(field);
  const value = inner.find(field);
  return value === undefined ? NONE : new Optional(value);
}

/** Presence of a field. A value without fields lacks every field: `has(oldObject.spec)` is false on create. */
function hasField(container: CelValue, field: string): boolean {
  const inner = container instanceof Optional ? container.value : container;
  return inner !== undefined && hasFields(inner) && inner.find(field) !== undefined;
}

function conditional(condition: Evaluator, yes: Evaluator, no: Evaluator): Evaluator {
  return (run) => {
    const value = condition(run);
    if (typeof value !== "boolean") throw new CelEvaluationError("no such overload");
    return value ? yes(run) : no(run);
  };
}

function fallback(value: Evaluator, other: Evaluator, kind: "or" | "orValue"): Evaluator {
  return (run) => {
    run.step(1);
    const found = value(run);
    const content = contentOf(found);
    if (content === undefined) return other(run);
    return kind === "or" ? found : content;
  };
}

/** Evaluates `&&` or `||`. A deciding term hides the errors of other terms, on either side. */
function decide(steps: readonly Evaluator[], decisive: boolean, run: Run): boolean {
  let failure: CelEvaluationError | undefined;
  for (const step of steps) {
    const found = settle(step, run);
    if (found === decisive) return decisive;
    if (found instanceof CelEvaluationError) failure ??= found;
  }
  if (failure !== undefined) throw failure;
  return !decisive;
}

/**
 * The step of a call. Types at run time may differ from those the checker knew, so it calls the first candidate that accepts
 * the arguments.
 */
function callStep({ overloads }: Resolution, steps: readonly Evaluator[]): Evaluator {
  const [only] = overloads;
  const [first, second] = steps;
  if (overloads.length === 1 && only !== undefined && first !== undefined) {
    if (steps.length === 1) return (run) => apply(only, [first(run)], run);
    if (steps.length === 2 && second !== undefined)
      return (run) => apply(only, [first(run), second(run)], run);
  }
  return (run) => {
    const args = steps.map((step) => step(run));
    const fitting = overloads.find(({ tags, itemTags }) => areOf(tags, args) && haveItemsOf(itemTags, args));
    return apply(fitting ?? overloads[0], args, run);
  };
}

function areOf(tags: readonly (string | undefined)[], args: readonly CelValue[]): boolean {
  for (let at = 0; at < tags.length; at++) {
    const tag = tags[at];
    if (tag !== undefined && tagOf(args[at] ?? null) !== tag) return false;
  }
  return true;
}

/** True when the items of list arguments have the tags. Only the first item is checked; an empty list has all tags. */
function haveItemsOf(tags: readonly (string | undefined)[], args: readonly CelValue[]): boolean {
  return tags.every((tag, at) => {
    const list = args[at];
    return tag === undefined || !(list instanceof CelList) || list.size === 0 || tagOf(list.at(0)) === tag;
  });
}

function apply(overload: Overload | undefined, args: readonly CelValue[], run: Run): CelValue {
  if (overload === undefined || !areOf(overload.tags, args)) throw new CelEvaluationError("no such overload");
  const before = run.effort;
  if (overload.effort > 0) run.charge(overload.effort);
  const result = overload.apply(args as Args, run);
  // Functions that count their own effort have done so; any other call counts one.
  run.step(overload.cost(args, result), run.effort === before ? 1 : 0);
  return result;
}
