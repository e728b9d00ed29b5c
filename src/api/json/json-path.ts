/**
 * JSONPath as kubectl supports it, for printer columns: `.spec.replicas`, `.spec.ports[0].port`,
 * `.status.conditions[?(@.type=="Ready")].status`, `.metadata.labels['a\.b']`, `..name`, `[*]`, `[1:3]`. Missing fields
 * give no result. Evaluation visits each part of a value a bounded number of times.
 */
import { isJsonObject, type JsonObject } from "./json-object.ts";

export type PathStep =
  | { readonly type: "field"; readonly name: string }
  | { readonly type: "fields"; readonly names: readonly string[] }
  | { readonly type: "all" }
  | { readonly type: "below" }
  | {
      readonly type: "slice";
      readonly start: number | undefined;
      readonly end: number | undefined;
      readonly step: number;
    }
  | { readonly type: "index"; readonly at: number }
  | { readonly type: "filter"; readonly filter: Filter };

type Operand = { readonly literal: unknown } | { readonly path: JsonPath };

interface Filter {
  readonly left: Operand;
  /** Empty if the filter only tests that the left side exists. */
  readonly operator: string;
  readonly right: Operand | undefined;
}

export type JsonPath = readonly PathStep[];

/** Upper bound for the results of each step; columns show one. */
const RESULTS_MAX = 1000;

/** Parses a path, with or without braces. Undefined if the text is not a path. */
export function findJsonPath(text: string): JsonPath | undefined {
  const inner = /^\{(.*)\}$/s.exec(text)?.[1] ?? text;
  try {
    return new PathReader(inner).path();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** All results of the path, in order. */
export function valuesAt(path: JsonPath, value: unknown): readonly unknown[] {
  let found: readonly unknown[] = [value];
  for (const step of path) {
    found = found.flatMap((at) => taken(step, at)).slice(0, RESULTS_MAX);
    if (found.length === 0) return found;
  }
  return found;
}

function taken(step: PathStep, value: unknown): readonly unknown[] {
  switch (step.type) {
    case "field":
      return member(value, step.name);
    case "fields":
      return step.names.flatMap((name) => member(value, name));
    case "all":
      return isJsonObject(value) ? Object.values(value) : itemsOf(value);
    case "below":
      return below(value);
    // A negative index counts from the end.
    case "index":
      return itemsOf(value).slice(step.at, step.at === -1 ? undefined : step.at + 1);
    case "slice":
      return sliced(itemsOf(value), step);
    case "filter":
      return itemsOf(value).filter((item) => isSelected(step.filter, item));
  }
}

function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function member(value: unknown, name: string): readonly unknown[] {
  return isJsonObject(value) && Object.hasOwn(value, name) ? [value[name]] : [];
}

/** The value and all its descendants. */
function below(value: unknown): readonly unknown[] {
  const found: unknown[] = [value];
  for (let at = 0; at < found.length && found.length < RESULTS_MAX; at++) {
    const node = found[at];
    const inner = isJsonObject(node) ? Object.values(node) : itemsOf(node);
    for (const item of inner.slice(0, RESULTS_MAX)) found.push(item);
  }
  return found;
}

function sliced(
  value: readonly unknown[],
  {
    start,
    end,
    step,
  }: { readonly start: number | undefined; readonly end: number | undefined; readonly step: number },
): readonly unknown[] {
  return value.slice(start, end).filter((_, at) => at % step === 0);
}

function isSelected({ left, operator, right }: Filter, item: unknown): boolean {
  const [first] = operandValues(left, item);
  if (operator === "" || right === undefined) return first !== undefined;
  const [second] = operandValues(right, item);
  return first !== undefined && second !== undefined && holds(first, operator, second);
}

function operandValues(operand: Operand, item: unknown): readonly unknown[] {
  return "path" in operand ? valuesAt(operand.path, item) : [operand.literal];
}

function holds(left: unknown, operator: string, right: unknown): boolean {
  if (operator === "==") return left === right;
  if (operator === "!=") return left !== right;
  const isOrdered =
    (typeof left === "number" && typeof right === "number") ||
    (typeof left === "string" && typeof right === "string");
  if (!isOrdered) return false;
  switch (operator) {
    case "<":
      return left < right;
    case ">":
      return left > right;
    case "<=":
      return left <= right;
    default:
      return left >= right;
  }
}

const NAME = /(?:\\.|[^\\.[\]()\s'"=!<>,{}?*])+/y;
const QUOTED = /'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"/y;
const NUMBER = /[+-]?\d+(?:\.\d+)?/y;
const WORD = /true|false/y;
const OPERATOR = /==|!=|<=|>=|<|>/y;
const SLICE = /(-?\d+)?:(-?\d+)?(?::(\d+))?\s*\]/y;
const INDEX = /(-?\d+)\s*\]/y;
const SPACE = /\s*/y;
/** Longer than any real column's path. */
const TEXT_MAX = 5000;

class PathReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    if (text.length > TEXT_MAX) throw new SyntaxError("the path is too long");
    this.#text = text;
  }

  /** Parses the whole text. */
  path(): JsonPath {
    this.#take(SPACE);
    if (this.#text.startsWith("$", this.#at)) this.#at += 1;
    const steps = this.#steps();
    this.#take(SPACE);
    if (this.#at !== this.#text.length) throw new SyntaxError("the path has trailing text");
    return steps;
  }

  #steps(): JsonPath {
    const steps: PathStep[] = [];
    for (let step = this.#step(steps.length); step !== undefined; step = this.#step(steps.length))
      steps.push(...step);
    return steps;
  }

  #step(count: number): readonly PathStep[] | undefined {
    if (this.#skip(".."))
      return this.#peek() === "[" ? [{ type: "below" }] : [{ type: "below" }, ...this.#named()];
    // A lone dot means the value itself.
    if (this.#skip(".")) return this.#peek() === "[" || (count === 0 && this.#isEnd()) ? [] : this.#named();
    if (this.#skip("[")) return [this.#bracket()];
    return undefined;
  }

  #named(): readonly PathStep[] {
    if (this.#skip("*")) return [{ type: "all" }];
    const [name] = this.#require(NAME);
    return [{ type: "field", name: unescaped(name) }];
  }

  #bracket(): PathStep {
    this.#take(SPACE);
    if (this.#skip("*")) return this.#closed({ type: "all" });
    if (this.#skip("?(")) return this.#filter();
    const slice = this.#take(SLICE);
    if (slice !== undefined) return sliceStep(slice);
    const index = this.#take(INDEX);
    if (index !== undefined) return { type: "index", at: Number(index[1]) };
    const names = [this.#string()];
    while (this.#skip(",")) names.push(this.#string());
    return this.#closed(
      names.length === 1 ? { type: "field", name: names[0] ?? "" } : { type: "fields", names },
    );
  }

  #closed(step: PathStep): PathStep {
    this.#take(SPACE);
    if (!this.#skip("]")) throw new SyntaxError("a bracket is not closed");
    return step;
  }

  #filter(): PathStep {
    const left = this.#operand();
    this.#take(SPACE);
    const [operator = ""] = this.#take(OPERATOR) ?? [];
    const right = operator === "" ? undefined : this.#operand();
    this.#take(SPACE);
    if (!this.#skip(")")) throw new SyntaxError("a filter is not closed");
    return this.#closed({ type: "filter", filter: { left, operator, right } });
  }

  #operand(): Operand {
    this.#take(SPACE);
    if (this.#skip("@")) return { path: this.#steps() };
    const number = this.#take(NUMBER);
    if (number !== undefined) return { literal: Number(number[0]) };
    const word = this.#take(WORD);
    return { literal: word === undefined ? this.#string() : word[0] === "true" };
  }

  #string(): string {
    this.#take(SPACE);
    const [, single, double] = this.#require(QUOTED);
    this.#take(SPACE);
    return unescaped(single ?? double ?? "");
  }

  #peek(): string {
    return this.#text.charAt(this.#at);
  }

  #isEnd(): boolean {
    return this.#at === this.#text.length;
  }

  #skip(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) return undefined;
    this.#at = pattern.lastIndex;
    return found;
  }

  #require(pattern: RegExp): RegExpExecArray {
    const found = this.#take(pattern);
    if (found === undefined) throw new SyntaxError(`the path cannot be read at character ${this.#at}`);
    return found;
  }
}

function sliceStep([, start, end, step]: RegExpExecArray): PathStep {
  return {
    type: "slice",
    start: start === undefined ? undefined : Number(start),
    end: end === undefined ? undefined : Number(end),
    step: Math.max(1, Number(step ?? "1")),
  };
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, "$1");
}

/**
 * Names of a path with plain fields only (`.spec.replicas`), as scale and selectable fields use. Undefined for any
 * other path.
 */
export function findFieldNames(text: string): readonly string[] | undefined {
  const path = findJsonPath(text);
  if (path === undefined || path.length === 0) return undefined;
  const names = path.flatMap((step) => (step.type === "field" ? [step.name] : []));
  return names.length === path.length ? names : undefined;
}

/** The value of the nested field. Undefined if a field on the way is missing. */
export function memberAt(value: unknown, names: readonly string[]): unknown {
  let at = value;
  for (const name of names) {
    if (!isJsonObject(at) || !Object.hasOwn(at, name)) return undefined;
    at = (at as JsonObject)[name];
  }
  return at;
}
