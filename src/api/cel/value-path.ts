/** Path from a variable to a value, as cel-go's estimator keeps it: `self`, `spec`, `@items`. */
import { KEYWORDS, RESERVED } from "./parser.ts";
import { type SizeRange } from "./size-range.ts";
import { type CelType, parameterOf } from "./type.ts";

/**
 * A path with the aliasing of Go slices: while the shared array has room, an append writes into it. Two paths that extend
 * the same path then share their last name, which is that of the later append. Estimates equal upstream's only with this.
 */
export class ValuePath {
  readonly #names: string[];
  readonly #capacity: number;
  readonly length: number;

  private constructor(names: string[], length: number, capacity: number) {
    this.#names = names;
    this.length = length;
    this.#capacity = capacity;
  }

  static of(name: string): ValuePath {
    return new ValuePath([name], 1, 1);
  }

  append(name: string): ValuePath {
    const isFull = this.length === this.#capacity;
    const names = isFull ? this.names : this.#names;
    names[this.length] = name;
    return new ValuePath(names, this.length + 1, isFull ? 2 * this.#capacity : this.#capacity);
  }

  get names(): string[] {
    return this.#names.slice(0, this.length);
  }
}

/** Path of an item, key or field; the container may have no path. */
export function pathWithin(path: ValuePath | undefined, name: string): ValuePath {
  return path?.append(name) ?? ValuePath.of(name);
}

/** Types of the variables that paths start at. */
export interface SizeHints {
  rootOf(variable: string): CelType | undefined;
  /** Type of a map's entry selected by name, where the map is seen as an object. */
  entryOf?(map: CelType): CelType | undefined;
}

/** Size declared at the path; `undefined` when the path leads to no declared type. */
export function findHint(path: readonly string[], hints: SizeHints): SizeRange | undefined {
  const [variable, ...names] = path;
  let type = variable === undefined ? undefined : hints.rootOf(variable);
  for (const name of names) {
    if (type === undefined) return undefined;
    type = typeWithin(type, name, hints);
  }
  return type === undefined ? undefined : { min: 0n, max: BigInt(type.maxSize ?? 0) };
}

function typeWithin(type: CelType, name: string, hints: SizeHints): CelType | undefined {
  const isMap = type.kind === "map";
  switch (name) {
    case "@keys":
      return isMap ? parameterOf(type) : undefined;
    case "@items":
    case "@values":
      return isMap || type.kind === "list" ? type.parameters.at(-1) : undefined;
    default:
      return (isWord(name) ? undefined : type.fields?.find(name)?.type) ?? hints.entryOf?.(type);
  }
}

/**
 * True for a reserved word. Upstream looks up fields by the name in the expression, and a field with a reserved name is
 * declared under another name.
 */
function isWord(name: string): boolean {
  return RESERVED.has(name) || KEYWORDS.has(name);
}
