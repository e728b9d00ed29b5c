/** Sizes of the values of an expression, from literals, from declared types along a value's path, and from functions. */
import type { Expr } from "./ast.ts";
import type { EstimatedValue } from "./call-estimate.ts";
import type { CheckedExpression } from "./checker.ts";
import { codePoints } from "./library/conversion.ts";
import { fixedSize, type SizeRange, unionOfSizes, UNKNOWN_SIZE } from "./size-range.ts";
import { type CelType, DYN } from "./type.ts";
import { findHint, type SizeHints, type ValuePath } from "./value-path.ts";
import { Bytes, type CelValue } from "./value.ts";

/** Sizes of the keys and values of a list or map that the expression makes. */
export interface EntrySize {
  readonly container: "list" | "map";
  readonly key: SizeRange;
  readonly value: SizeRange;
}

/** A value with a name in part of the expression. */
export interface LocalVariable {
  readonly name: string;
  readonly path: ValuePath | undefined;
  readonly size: SizeRange | undefined;
  readonly entries: EntrySize | undefined;
}

export class ValueSizes {
  readonly #checked: CheckedExpression;
  readonly #hints: SizeHints;
  readonly #paths = new Map<Expr, ValuePath>();
  readonly #sizes = new Map<Expr, SizeRange>();
  readonly #entries = new Map<Expr, EntrySize>();
  readonly #locals: LocalVariable[] = [];

  constructor(checked: CheckedExpression, hints: SizeHints) {
    this.#checked = checked;
    this.#hints = hints;
  }

  /** Runs the step while the variables are in scope. */
  within<T>(locals: readonly LocalVariable[], step: () => T): T {
    this.#locals.push(...locals);
    const result = step();
    this.#locals.length -= locals.length;
    return result;
  }

  /** The innermost variable with the name. */
  findLocal(name: string): LocalVariable | undefined {
    return this.#locals.findLast((local) => local.name === name);
  }

  localOf(name: string, value: Expr): LocalVariable {
    return { name, path: this.pathOf(value), size: this.sizeOf(value), entries: this.entriesOf(value) };
  }

  typeOf(expr: Expr): CelType {
    return this.#checked.typeOf(expr);
  }

  pathOf(expr: Expr): ValuePath | undefined {
    const local = expr.kind === "ident" ? this.findLocal(expr.name) : undefined;
    return local === undefined ? this.#paths.get(expr) : local.path;
  }

  setPath(expr: Expr, path: ValuePath | undefined): void {
    if (path !== undefined) this.#paths.set(expr, path);
  }

  entriesOf(expr: Expr): EntrySize | undefined {
    const known = this.#entries.get(expr);
    if (known !== undefined || expr.kind !== "ident") return known;
    return this.findLocal(expr.name)?.entries;
  }

  setEntries(expr: Expr, entries: EntrySize | undefined): void {
    if (entries !== undefined) this.#entries.set(expr, entries);
  }

  /**
   * Size of a value; `undefined` when unknown. The hint is stored, because the last name of a path may change later (see
   * ValuePath).
   */
  sizeOf(expr: Expr): SizeRange | undefined {
    const known = this.#sizes.get(expr) ?? literalSize(expr);
    if (known !== undefined) return known;
    const hint = this.#hint(this.pathOf(expr)?.names);
    this.setSize(expr, hint);
    if (hint !== undefined) return hint;
    const size = typeSize(this.typeOf(expr));
    return size ?? (expr.kind === "ident" ? this.findLocal(expr.name)?.size : undefined);
  }

  setSize(expr: Expr, size: SizeRange | undefined): void {
    if (size !== undefined) this.#sizes.set(expr, size);
  }

  /** Size of a variable in the expansion of a macro. */
  sizeOfLocal(local: LocalVariable | undefined, type: CelType): SizeRange | undefined {
    return this.#hint(local?.path?.names) ?? typeSize(type) ?? local?.size;
  }

  copy(to: Expr, from: Expr): void {
    this.setSize(to, this.sizeOf(from));
    this.setEntries(to, this.entriesOf(from));
  }

  valueOf(expr: Expr): EstimatedValue {
    const type = this.typeOf(expr);
    const path = this.pathOf(expr);
    return {
      type,
      size: this.sizeOf(expr) ?? UNKNOWN_SIZE,
      literal: expr.kind === "literal" ? expr.value : undefined,
      items: () => {
        const [item] = type.parameters;
        if (item === undefined) return undefined;
        const names = path === undefined ? undefined : [...path.names, "@items"];
        return { type: item, size: this.#hint(names) ?? UNKNOWN_SIZE };
      },
    };
  }

  #hint(path: readonly string[] | undefined): SizeRange | undefined {
    return path === undefined ? undefined : findHint(path, this.#hints);
  }
}

export function unionOfEntries(
  one: EntrySize | undefined,
  other: EntrySize | undefined,
): EntrySize | undefined {
  if (one === undefined || other === undefined) return undefined;
  return {
    container: one.container,
    key: unionOfSizes(one.key, other.key),
    value: unionOfSizes(one.value, other.value),
  };
}

function literalSize(expr: Expr): SizeRange | undefined {
  if (expr.kind === "literal") return fixedSize(sizeOfValue(expr.value));
  if (expr.kind === "list") return fixedSize(expr.items.length);
  return expr.kind === "map" ? fixedSize(expr.entries.length) : undefined;
}

function sizeOfValue(value: CelValue): number {
  if (typeof value === "string") return codePoints(value);
  return value instanceof Bytes ? value.data.length : 1;
}

const SCALARS: ReadonlySet<string> = new Set([
  "bool",
  "double",
  "int",
  "uint",
  "google.protobuf.Duration",
  "google.protobuf.Timestamp",
]);

/** Size of a type whose values all have the same size. */
export function typeSize(type: CelType): SizeRange | undefined {
  if (type.kind === "optional") return typeSize(type.parameters[0] ?? DYN);
  return SCALARS.has(type.name) ? fixedSize(1) : undefined;
}
