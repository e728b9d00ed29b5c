/**
 * What an expression may cost at most, before it has ever run: as Kubernetes estimates it, from the sizes that a schema allows. Where upstream
 * knows no bound at all, the size of a request is one.
 */
import type { CallExpr, Expr, FoldExpr, FoldName, ListExpr, MapExpr, StructExpr } from "./ast.ts";
import type { Checked } from "./checker.ts";
import type { CelType } from "./type.ts";

/** As upstream's limit on a request, without the quotes around a text. */
const SIZE_MAX = 3 * 1024 * 1024 - 2;
const TEXT_FACTOR = 0.1;
const PATTERN_FACTOR = 0.25;
/** No key of a map is known to be shorter than a request; those that people write are. */
const KEY_SIZE = 256;
/** What other values than texts are as a text. */
const SCALAR_TEXT_SIZE = 64;

export function estimateCost(expr: Expr, checked: Checked): number {
  return new Estimate(checked).cost(expr);
}

/** What a macro costs beside its range and its body: in each turn, and once. As it is put together in cel-go. */
const FOLD_COSTS: Readonly<Record<FoldName, { readonly turn: number; readonly once: number }>> = {
  all: { turn: 3, once: 1 },
  exists: { turn: 4, once: 1 },
  existsOne: { turn: 2, once: 2 },
  filter: { turn: 13, once: 11 },
  sortBy: { turn: 12, once: 23 },
  map: { turn: 12, once: 11 },
  transformList: { turn: 12, once: 11 },
  transformMap: { turn: 3, once: 31 },
  transformMapEntry: { turn: 3, once: 31 },
};

/** A call that makes a list costs this beside the list's items. */
const MADE = 11;

type Sizes = (at: number) => number;

/** Functions whose cost grows with their arguments; the others cost one. */
const CALL_COSTS: ReadonlyMap<string, (size: Sizes) => number> = new Map<string, (size: Sizes) => number>([
  ...["_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_"].map(
    (name) => [name, (size: Sizes) => Math.min(text(size(0)), text(size(1)))] as const,
  ),
  ...["startsWith", "endsWith"].map((name) => [name, (size: Sizes) => text(size(1))] as const),
  ...["contains", "indexOf", "lastIndexOf"].map(
    (name) => [name, (size: Sizes) => text(size(0)) * text(size(1))] as const,
  ),
  ...["matches", "find", "findAll"].map(
    (name) => [name, (size: Sizes) => text(size(0) + 1) * Math.ceil(size(1) * PATTERN_FACTOR)] as const,
  ),
  ...[
    "lowerAscii",
    "upperAscii",
    "trim",
    "replace",
    "split",
    "substring",
    "url",
    "isURL",
    "ip",
    "isIP",
    "cidr",
    "isCIDR",
    "quantity",
    "isQuantity",
    "semver",
    "isSemver",
    "validate",
    "timestamp",
    "duration",
    "bytes",
  ].map((name) => [name, (size: Sizes) => text(size(0))] as const),
  ...["isSorted", "sum", "min", "max", "join"].map((name) => [name, (size: Sizes) => size(0)] as const),
  ...["slice", "reverse", "flatten"].map((name) => [name, (size: Sizes) => MADE + size(0)] as const),
  ...["sort", "distinct"].map((name) => [name, (size: Sizes) => MADE + 2 * size(0) ** 2] as const),
  ["sets.contains", (size) => size(0) * size(1)],
  ["sets.intersects", (size) => size(0) * size(1)],
  ["sets.equivalent", (size) => 2 * size(0) * size(1)],
]);

function text(size: number): number {
  return Math.max(1, Math.ceil(size * TEXT_FACTOR));
}

class Estimate {
  readonly #checked: Checked;

  constructor(checked: Checked) {
    this.#checked = checked;
  }

  cost(expr: Expr): number {
    switch (expr.kind) {
      case "literal":
        return 0;
      case "ident":
        return 1;
      case "select":
        return this.cost(expr.operand) + (expr.mode === "test" ? 0 : 1);
      case "call":
        return this.#call(expr);
      case "logic":
        return this.#sum(expr.terms);
      case "list":
      case "map":
      case "struct":
        return this.#construction(expr);
      case "fold":
        return this.#fold(expr);
      case "bind":
        return this.cost(expr.value) + this.cost(expr.body) + 1;
    }
  }

  #sum(exprs: readonly Expr[]): number {
    let sum = 0;
    for (const expr of exprs) sum += this.cost(expr);
    return sum;
  }

  #construction(expr: ListExpr | MapExpr | StructExpr): number {
    if (expr.kind === "list") return 10 + this.#sum(expr.items.map(({ value }) => value));
    if (expr.kind === "map") return 30 + this.#sum(expr.entries.flatMap(({ key, value }) => [key, value]));
    return 40 + this.#sum(expr.fields.map(({ value }) => value));
  }

  #call(expr: CallExpr): number {
    const args = this.#args(expr);
    if (expr.name === "_?_:_") {
      const [condition = 0, yes = 0, no = 0] = args.map((arg) => this.cost(arg));
      return condition + Math.max(yes, no);
    }
    return this.#sum(args) + this.#own(expr, args);
  }

  #own(expr: CallExpr, args: readonly Expr[]): number {
    const size: Sizes = (at) => this.#sizeAt(args, at);
    if (expr.name === "@in") return this.#type(args[1]).kind === "map" ? 1 : size(1);
    if (expr.name === "_+_") return this.#type(args[0]).name === "string" ? text(size(0) + size(1)) : 1;
    if (this.#name(expr) === "lists.range") return MADE + countOf(args[0]);
    const isList = this.#type(args[0]).kind === "list";
    if (isList && (expr.name === "indexOf" || expr.name === "lastIndexOf")) return size(0);
    return CALL_COSTS.get(this.#name(expr))?.(size) ?? 1;
  }

  /** Functions of a library that is written before the dot. */
  #name({ name, target }: CallExpr): string {
    return target?.kind === "ident" && PREFIXES.has(target.name) ? `${target.name}.${name}` : name;
  }

  #args(expr: CallExpr): readonly Expr[] {
    return this.#checked.calls.get(expr)?.args ?? expr.args;
  }

  #sizeAt(args: readonly Expr[], at: number): number {
    const arg = args[at];
    return arg === undefined ? 1 : this.#size(arg);
  }

  #fold(expr: FoldExpr): number {
    const { turn, once } = FOLD_COSTS[expr.name];
    const filter = expr.filter === undefined ? 0 : this.cost(expr.filter);
    const turns = this.#size(expr.range);
    const sorting = expr.name === "sortBy" ? 2 * turns ** 2 : 0;
    return this.cost(expr.range) + once + sorting + turns * (turn + filter + this.cost(expr.body));
  }

  #type(expr: Expr | undefined): CelType {
    return expr === undefined ? UNKNOWN : this.#checked.typeOf(expr);
  }

  /** The length of a text, the number of items of a list or a map; one for everything else. */
  #size(expr: Expr): number {
    if (expr.kind === "call") return this.#callSize(expr);
    if (expr.kind === "bind") return this.#size(expr.body);
    if (expr.kind === "list") return expr.items.length;
    if (expr.kind === "map") return expr.entries.length;
    if (expr.kind === "fold") return isWhole(expr.name) ? this.#size(expr.range) : 1;
    if (expr.kind === "literal") return typeof expr.value === "string" ? expr.value.length : 1;
    return sizeOfType(this.#type(expr));
  }

  #callSize(expr: CallExpr): number {
    const [first, second, third] = this.#args(expr);
    const { name } = expr;
    if (name === "_+_") return Math.min(SIZE_MAX, this.#optionalSize(first) + this.#optionalSize(second));
    if (name === "_?_:_") return Math.max(this.#optionalSize(second), this.#optionalSize(third));
    if (name === "string")
      return this.#type(first).name === "string" ? this.#optionalSize(first) : SCALAR_TEXT_SIZE;
    if (this.#name(expr) === "lists.range") return countOf(first);
    return SHORTENING.has(name) ? this.#optionalSize(first) : sizeOfType(this.#type(expr));
  }

  #optionalSize(expr: Expr | undefined): number {
    return expr === undefined ? 1 : this.#size(expr);
  }
}

/** What they give is no longer than what they are called on. */
const SHORTENING: ReadonlySet<string> = new Set([
  "lowerAscii",
  "upperAscii",
  "trim",
  "substring",
  "reverse",
  "split",
  "find",
  "findAll",
  "charAt",
  "slice",
  "sort",
  "distinct",
]);

const PREFIXES: ReadonlySet<string> = new Set(["sets", "lists"]);

/** What a number says of a size; one that is not written down may be any. */
function countOf(expr: Expr | undefined): number {
  const isCount = expr?.kind === "literal" && typeof expr.value === "bigint" && expr.value >= 0n;
  return isCount ? Math.min(SIZE_MAX, Number(expr.value)) : SIZE_MAX;
}

const UNKNOWN: CelType = { kind: "dyn", name: "dyn", parameters: [] };
const SIZED: ReadonlySet<string> = new Set(["string", "bytes", "list", "map", "dyn"]);

/** What a macro gives has as many items as its range, unless it gives a truth. */
function isWhole(name: FoldName): boolean {
  return name !== "all" && name !== "exists" && name !== "existsOne";
}

function sizeOfType(type: CelType): number {
  if (type.maxSize !== undefined) return type.maxSize;
  if (type.name === "string") return KEY_SIZE;
  return SIZED.has(type.name) ? SIZE_MAX : 1;
}
