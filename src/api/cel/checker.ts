/** Type checker: finds the type of each part of an expression, the functions it calls, and every type error. */
import type {
  BindExpr,
  CallExpr,
  Expr,
  FoldExpr,
  ListExpr,
  LogicExpr,
  MapExpr,
  SelectExpr,
  StructExpr,
} from "./ast.ts";
import type { CelIssue } from "./cel-error.ts";
import { functionTable, PATCH_FUNCTIONS } from "./function-table.ts";
import { Inference } from "./inference.ts";
import { findFormatMistake } from "./library/text-format.ts";
import { findLiteralMistake } from "./literal-check.ts";
import type { BindSupport } from "./macro.ts";
import type { Overload } from "./overload.ts";
import { qualifiedName } from "./parser.ts";
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  ERROR,
  INT,
  listOf,
  mapOf,
  namedType,
  NULL,
  optionalOf,
  parameterOf,
  STRING,
  TIMESTAMP,
  typeOf,
  typeText,
  UINT,
} from "./type.ts";
import { type CelValue, tagOf } from "./value.ts";

export interface Declarations {
  /** Variables by name. A name may have dots: `authorizer.requestResource`. */
  readonly variables: ReadonlyMap<string, CelType>;
  /** Types of objects that expressions may construct, by name. */
  readonly structs?: { get(name: string): CelType | undefined };
  /** Whether `cel.bind` is available: device selectors have it, validation rules and policies do not. */
  readonly bindings?: BindSupport;
}

/** Resolved call: the candidate functions, and the arguments, including the value before the dot. */
export interface Resolution {
  readonly overloads: readonly Overload[];
  readonly args: readonly Expr[];
}

export interface CheckedExpression {
  readonly type: CelType;
  readonly calls: ReadonlyMap<Expr, Resolution>;
  /** Names that resolve to variables of the caller. */
  readonly variables: ReadonlyMap<Expr, string>;
  /** Names that resolve to types. */
  readonly typeNames: ReadonlyMap<Expr, string>;
  /** Type of a part, as far as it is known. */
  typeOf(expr: Expr): CelType;
  readonly issues: readonly CelIssue[];
}

const TYPE_NAMES: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ...["bool", "int", "uint", "double", "string", "bytes", "null_type"].map((name): [string, CelType] => [
    name,
    namedType(name),
  ]),
  ["list", listOf(DYN)],
  ["map", mapOf(DYN, DYN)],
  ["type", typeOf(DYN)],
  ["optional_type", optionalOf(DYN)],
  ["google.protobuf.Timestamp", namedType("timestamp")],
  ["google.protobuf.Duration", namedType("duration")],
  ["net.IP", namedType("net.IP")],
  ["net.CIDR", namedType("net.CIDR")],
]);

const LITERALS: ReadonlyMap<string, CelType> = new Map(
  [BOOL, INT, UINT, DOUBLE, STRING, BYTES, NULL].map((type) => [type.name, type]),
);

/** Upper bound of reported issues; more would not help the author. */
const ISSUES_MAX = 100;

export function checkCel(expr: Expr, declarations: Declarations): CheckedExpression {
  const checker = new Checker(declarations);
  const type = checker.settled(checker.check(expr));
  return { type, ...checker.found };
}

class Checker {
  readonly #declarations: Declarations;
  readonly #inference = new Inference();
  /** Variables of macros, the innermost last. */
  readonly #scope: (readonly [name: string, type: CelType])[] = [];
  readonly #calls = new Map<Expr, Resolution>();
  readonly #variables = new Map<Expr, string>();
  readonly #typeNames = new Map<Expr, string>();
  readonly #types = new Map<Expr, CelType>();
  /** Depth of calls whose arguments may be lists and maps with items of several types. */
  #mixed = 0;
  readonly #issues: CelIssue[] = [];

  constructor(declarations: Declarations) {
    this.#declarations = declarations;
  }

  get found(): Omit<CheckedExpression, "type"> {
    return {
      calls: this.#calls,
      variables: this.#variables,
      typeNames: this.#typeNames,
      typeOf: (expr) => this.settled(this.#types.get(expr) ?? DYN),
      issues: this.#issues.toSorted((left, right) => left.at - right.at),
    };
  }

  settled(type: CelType): CelType {
    return this.#inference.settle(type);
  }

  check(expr: Expr): CelType {
    const type = this.#typed(expr);
    this.#types.set(expr, type);
    return type;
  }

  #typed(expr: Expr): CelType {
    switch (expr.kind) {
      case "literal":
        return literalType(expr.value);
      case "ident":
        return this.#name(expr, expr.name) ?? this.#undeclared(expr.at, expr.name);
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
        return this.#fold(expr);
      case "bind":
        return this.#bind(expr);
    }
  }

  #report(at: number, message: string): CelType {
    if (this.#issues.length < ISSUES_MAX) this.#issues.push({ at, message });
    return ERROR;
  }

  #undeclared(at: number, name: string): CelType {
    return this.#report(at, `undeclared reference to '${name.replace(/^\./, "")}' (in container '')`);
  }

  #text(type: CelType): string {
    return typeText(this.settled(type));
  }

  /** The type of a variable, or of a type's name. A leading dot skips the variables of macros. */
  #name(expr: Expr, name: string): CelType | undefined {
    const local = this.#scope.findLast(([known]) => known === name);
    if (local !== undefined) return local[1];
    const rooted = name.replace(/^\./, "");
    const declared = this.#declarations.variables.get(rooted);
    if (declared !== undefined) {
      this.#variables.set(expr, rooted);
      return declared;
    }
    const named = TYPE_NAMES.get(rooted);
    if (named === undefined) return undefined;
    this.#typeNames.set(expr, rooted);
    return typeOf(named);
  }

  #isLocal(name: string): boolean {
    const [first = ""] = name.split(".", 1);
    return this.#scope.some(([known]) => known === first);
  }

  #select(expr: SelectExpr): CelType {
    const name = expr.mode === "value" ? qualifiedName(expr) : undefined;
    const named = name === undefined || this.#isLocal(name) ? undefined : this.#name(expr, name);
    if (named !== undefined) return named;
    const operand = this.#inference.resolve(this.check(expr.operand));
    const isOptional = operand.kind === "optional";
    const container = isOptional ? this.#inference.resolve(parameterOf(operand)) : operand;
    const field = this.#field(container, expr);
    if (expr.mode === "test") return BOOL;
    return isOptional || expr.mode === "optional" ? optionalOf(field) : field;
  }

  #field(container: CelType, { field, at }: SelectExpr): CelType {
    switch (container.kind) {
      case "object":
        return fieldType(container, field) ?? this.#report(at, `undefined field '${field}'`);
      case "map":
        return parameterOf(container, 1);
      case "parameter":
        this.#inference.accepts(container, DYN);
        return DYN;
      case "dyn":
        return DYN;
      case "error":
        return ERROR;
      case "list":
      case "named":
      case "optional":
      case "type":
        return this.#report(at, `type '${this.#text(container)}' does not support field selection`);
    }
  }

  #call(expr: CallExpr): CelType {
    const { name, target, at } = expr;
    const qualified = target === undefined ? undefined : qualifiedName(target);
    const overloads = functionTable();
    const full = `${(qualified ?? "").replace(/^\./, "")}.${name}`;
    if (qualified !== undefined && this.#isKnown(full) && !this.#isLocal(qualified))
      return this.#resolve(expr, { overloads: overloads.get(full) ?? [], args: expr.args });
    const known = overloads.get(name.replace(/^\./, ""));
    const args = target === undefined ? expr.args : [target, ...expr.args];
    if (known !== undefined) return this.#resolve(expr, { overloads: known, args });
    for (const arg of args) this.check(arg);
    return this.#undeclared(at, name);
  }

  #isKnown(name: string): boolean {
    const isThere = !PATCH_FUNCTIONS.has(name) || this.#declarations.structs !== undefined;
    return isThere && functionTable().has(name);
  }

  #resolve(expr: CallExpr, { overloads, args }: Resolution): CelType {
    const given = expr.name === "format" ? this.#mixing(args) : args.map((arg) => this.check(arg));
    if (given.some((type) => this.#inference.resolve(type).kind === "error")) return ERROR;
    const isMember = args.length > expr.args.length;
    const fitting: Overload[] = [];
    let result: CelType | undefined;
    for (const overload of overloads) {
      if (overload.isMember !== isMember || overload.parameters.length !== args.length) continue;
      const found = this.#fit(overload, given);
      if (found === undefined) continue;
      fitting.push(overload);
      result = result === undefined || this.#text(result) === this.#text(found) ? found : DYN;
    }
    if (result === undefined) return this.#unfitting(expr, overloads, given);
    this.#calls.set(expr, { overloads: fitting, args });
    const mistake =
      findLiteralMistake(expr, args) ??
      findFormatMistake(expr, (arg) => this.settled(this.#types.get(arg) ?? DYN));
    return mistake === undefined ? result : this.#report(mistake.at, mistake.message);
  }

  /** The result type if the arguments fit the function. */
  #fit({ parameters, result, tags }: Overload, given: readonly CelType[]): CelType | undefined {
    const inference = this.#inference;
    // Fast path: the tags of the arguments rule out most functions of the name.
    if (given.some((type, at) => isOther(tags[at], inference.resolve(type)))) return undefined;
    const [made = DYN, ...wanted] = inference.fresh([result, ...parameters]);
    const fits = inference.attempt(() =>
      wanted.every((type, at) => inference.accepts(type, given[at] ?? DYN)),
    );
    return fits ? made : undefined;
  }

  #unfitting(expr: CallExpr, overloads: readonly Overload[], given: readonly CelType[]): CelType {
    const name = overloads[0]?.name ?? expr.name;
    const texts = given.map((type) => this.#text(type));
    const [target, ...others] = texts;
    const isMember = given.length > expr.args.length;
    const applied = isMember ? `${target ?? ""}.(${others.join(", ")})` : `(${texts.join(", ")})`;
    return this.#report(expr.at, `found no matching overload for '${name}' applied to '${applied}'`);
  }

  #logic({ name, terms, at }: LogicExpr): CelType {
    for (const term of terms) {
      const type = this.check(term);
      if (!this.#inference.accepts(BOOL, type))
        this.#report(at, `found no matching overload for '${name}' applied to '(bool, ${this.#text(type)})'`);
    }
    return BOOL;
  }

  /** The common type of items. As in Kubernetes, the items of a list or map must have one type. */
  #join(before: CelType | undefined, type: CelType, at: number): CelType {
    if (before === undefined) return type;
    if (this.#inference.accepts(before, type)) return this.#inference.general(before, type);
    if (this.#mixed > 0) return DYN;
    return this.#report(at, `expected type '${this.#text(before)}' but found '${this.#text(type)}'`);
  }

  #mixing(args: readonly Expr[]): readonly CelType[] {
    this.#mixed += 1;
    const types = args.map((arg) => this.check(arg));
    this.#mixed -= 1;
    return types;
  }

  #unwrapped(type: CelType, isOptional: boolean, at: number): CelType {
    const found = this.#inference.resolve(type);
    if (!isOptional || found.kind === "dyn" || found.kind === "error") return found;
    if (found.kind === "optional") return parameterOf(found);
    return this.#report(
      at,
      `expected type 'optional_type(${this.#text(found)})' but found '${this.#text(found)}'`,
    );
  }

  #list({ items }: ListExpr): CelType {
    let element: CelType | undefined;
    for (const { value, isOptional } of items) {
      const type = this.#unwrapped(this.check(value), isOptional, value.at);
      element = this.#join(element, type, value.at);
    }
    return listOf(element ?? this.#inference.unknown());
  }

  #map({ entries }: MapExpr): CelType {
    let key: CelType | undefined;
    let value: CelType | undefined;
    for (const entry of entries) {
      key = this.#join(key, this.check(entry.key), entry.key.at);
      const type = this.#unwrapped(this.check(entry.value), entry.isOptional, entry.value.at);
      value = this.#join(value, type, entry.value.at);
    }
    return mapOf(key ?? this.#inference.unknown(), value ?? this.#inference.unknown());
  }

  #struct({ name, fields, at }: StructExpr): CelType {
    const type = this.#declarations.structs?.get(name);
    const values = fields.map((field) =>
      this.#unwrapped(this.check(field.value), field.isOptional, field.at),
    );
    if (type === undefined) return this.#undeclared(at, name);
    for (const [index, field] of fields.entries()) {
      const wanted = fieldType(type, field.name);
      const given = values[index] ?? DYN;
      if (wanted === undefined) this.#report(field.at, `undefined field '${field.name}'`);
      else if (!this.#inference.accepts(wanted, given))
        this.#report(
          field.at,
          `expected type of field '${field.name}' is '${this.#text(wanted)}' but provided type is '${this.#text(given)}'`,
        );
    }
    return type;
  }

  /** The types of the variables that loop over a list or a map. */
  #rangeTypes({ range, variables }: FoldExpr): readonly [CelType, CelType] {
    const type = this.#inference.resolve(this.check(range));
    const isPair = variables.length > 1;
    switch (type.kind) {
      case "list":
        return isPair ? [INT, parameterOf(type)] : [parameterOf(type), DYN];
      case "map":
        return [parameterOf(type), parameterOf(type, 1)];
      case "parameter":
      case "dyn":
        return [DYN, DYN];
      case "error":
        return [ERROR, ERROR];
      case "named":
      case "object":
      case "optional":
      case "type": {
        const text = `expression of type '${this.#text(type)}' cannot be range of a comprehension (must be list, map, or dynamic)`;
        this.#report(range.at, text);
        return [ERROR, ERROR];
      }
    }
  }

  #within<T>(names: readonly (readonly [string, CelType])[], step: () => T): T {
    this.#scope.push(...names);
    const result = step();
    this.#scope.length -= names.length;
    return result;
  }

  #fold(expr: FoldExpr): CelType {
    const types = this.#rangeTypes(expr);
    const names = expr.variables.map((name, at) => [name, types[at] ?? DYN] as const);
    const { filter, body } = expr;
    const bodyType = this.#within(names, () => {
      if (filter !== undefined) this.#condition(filter, "_?_:_");
      return this.check(body);
    });
    switch (expr.name) {
      case "all":
        return this.#boolean(bodyType, body.at, "_&&_");
      case "exists":
        return this.#boolean(bodyType, body.at, "_||_");
      case "existsOne":
        return this.#boolean(bodyType, body.at, "_?_:_");
      case "filter":
        this.#boolean(bodyType, body.at, "_?_:_");
        return listOf(types[0]);
      case "sortBy":
        return this.#sorted(expr, types[0], bodyType);
      case "map":
      case "transformList":
        return listOf(bodyType);
      case "transformMap":
        return mapOf(types[0], bodyType);
      case "transformMapEntry":
        return this.#entryMap(bodyType, body.at);
    }
  }

  /** Type of a sorted list. The range must be a list and the key comparable. */
  #sorted({ range, at }: FoldExpr, item: CelType, key: CelType): CelType {
    const list = this.#types.get(range) ?? DYN;
    if (this.#inference.accepts(listOf(DYN), list) && hasOrder(this.#inference.resolve(key)))
      return listOf(item);
    const given = `${this.#text(list)}.(list(${this.#text(key)}))`;
    return this.#report(at, `found no matching overload for '@sortByAssociatedKeys' applied to '${given}'`);
  }

  #condition(expr: Expr, operator: string): void {
    this.#boolean(this.check(expr), expr.at, operator);
  }

  #boolean(type: CelType, at: number, operator: string): CelType {
    if (this.#inference.accepts(BOOL, type)) return BOOL;
    const text = this.#text(type);
    const given = operator === "_?_:_" ? `(${text}, dyn, dyn)` : `(bool, ${text})`;
    this.#report(at, `found no matching overload for '${operator}' applied to '${given}'`);
    return BOOL;
  }

  #entryMap(type: CelType, at: number): CelType {
    const any = mapOf(this.#inference.unknown(), this.#inference.unknown());
    if (this.#inference.accepts(any, type)) return any;
    return this.#report(at, `expected type 'map(dyn, dyn)' but found '${this.#text(type)}'`);
  }

  #bind({ mode, variable, value, body, at }: BindExpr): CelType {
    const type = this.#inference.resolve(this.check(value));
    const bound = mode === "value" ? type : this.#content(type, at);
    const result = this.#inference.resolve(this.#within([[variable, bound]], () => this.check(body)));
    if (mode === "optMap") return optionalOf(result);
    if (
      mode === "optFlatMap" &&
      result.kind !== "optional" &&
      result.kind !== "dyn" &&
      result.kind !== "error"
    )
      return this.#report(body.at, `expected type 'optional_type(dyn)' but found '${this.#text(result)}'`);
    return result;
  }

  #content(type: CelType, at: number): CelType {
    if (type.kind === "optional") return parameterOf(type);
    if (type.kind === "dyn" || type.kind === "error") return type;
    return this.#report(at, `found no matching overload for 'hasValue' applied to '${this.#text(type)}.()'`);
  }
}

function fieldType({ fields }: CelType, name: string): CelType | undefined {
  return fields?.find(name)?.type;
}

/** True when a value of the type can never have the tag. */
function isOther(tag: string | undefined, { kind, name }: CelType): boolean {
  if (tag === undefined || kind === "dyn" || kind === "error" || kind === "parameter" || name === NULL.name)
    return false;
  return kind === "object" ? tag !== "object" : tag !== name;
}

/** Types with an order. */
const ORDERED: ReadonlySet<string> = new Set(
  [BOOL, INT, UINT, DOUBLE, STRING, BYTES, TIMESTAMP, DURATION].map(({ name }) => name),
);

function hasOrder({ kind, name }: CelType): boolean {
  return kind === "dyn" || kind === "error" || kind === "parameter" || ORDERED.has(name);
}

function literalType(value: CelValue): CelType {
  return LITERALS.get(tagOf(value)) ?? DYN;
}
