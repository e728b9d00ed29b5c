/** Type inference: finds the types of the type parameters of signatures while an expression is checked. */
import { type CelType, DYN, NULL, parameterOf, parameterType } from "./type.ts";

/** Plain types, whose values cannot be null. */
const PLAIN: ReadonlySet<string> = new Set([
  "bool",
  "int",
  "uint",
  "double",
  "string",
  "bytes",
  "type",
  "list",
  "map",
]);

export class Inference {
  readonly #bound = new Map<string, CelType>();
  /** Names in the order in which they were bound, for rollback. */
  readonly #order: string[] = [];
  #made = 0;

  /** Runs the step, and undoes its bindings if it fails. */
  attempt(step: () => boolean): boolean {
    const before = this.#order.length;
    if (step()) return true;
    for (const name of this.#order.splice(before)) this.#bound.delete(name);
    return false;
  }

  /** A new type parameter for an unknown type. */
  unknown(): CelType {
    this.#made += 1;
    return parameterType(`%${this.#made}`);
  }

  /** The types of a signature, with fresh type parameters. */
  fresh(types: readonly CelType[]): readonly CelType[] {
    const letters = new Map<string, CelType>();
    return types.map((type) => this.#renamed(type, letters));
  }

  #renamed(type: CelType, letters: Map<string, CelType>): CelType {
    if (type.kind === "parameter") {
      const known = letters.get(type.name) ?? this.unknown();
      letters.set(type.name, known);
      return known;
    }
    if (type.parameters.length === 0) return type;
    return { ...type, parameters: type.parameters.map((inner) => this.#renamed(inner, letters)) };
  }

  /** The type as far as it is known; an unbound parameter stays a parameter. */
  resolve(type: CelType): CelType {
    let found = type;
    while (found.kind === "parameter") {
      const bound = this.#bound.get(found.name);
      if (bound === undefined) return found;
      found = bound;
    }
    return found;
  }

  /** Resolves the type at every level; unbound parameters become dyn. */
  settle(type: CelType): CelType {
    const found = this.resolve(type);
    if (found.kind === "parameter") return DYN;
    if (found.parameters.length === 0) return found;
    return { ...found, parameters: found.parameters.map((inner) => this.settle(inner)) };
  }

  /** True when a value of the given type may be used where the wanted type is expected. */
  accepts(wanted: CelType, given: CelType): boolean {
    const [to, from] = [this.resolve(wanted), this.resolve(given)];
    if (to === from) return true;
    if (to.kind === "parameter") return this.#bind(to.name, from);
    if (from.kind === "parameter") return this.#bind(from.name, to);
    if (isOpen(to) || isOpen(from)) return true;
    if (from.name === NULL.name) return !PLAIN.has(to.name);
    if (to.name === NULL.name) return !PLAIN.has(from.name);
    if (to.kind !== from.kind || to.name !== from.name) return false;
    // A type may be compared with any other type.
    if (to.kind === "type") return true;
    return to.parameters.every((inner, at) => this.accepts(inner, parameterOf(from, at)));
  }

  #bind(name: string, type: CelType): boolean {
    if (this.#holds(type, name)) return false;
    this.#bound.set(name, type);
    this.#order.push(name);
    return true;
  }

  /** True when the type contains the parameter. A type cannot contain itself. */
  #holds(type: CelType, name: string): boolean {
    const found = this.resolve(type);
    if (found.kind === "parameter") return found.name === name;
    return found.parameters.some((inner) => this.#holds(inner, name));
  }

  /** The more general of two types. Call it only after `accepts`. */
  general(left: CelType, right: CelType): CelType {
    const [one, other] = [this.resolve(left), this.resolve(right)];
    if (isOpen(other) || one.name === NULL.name) return other;
    if (one.parameters.length === 0 || one.kind !== other.kind) return one;
    return {
      ...one,
      parameters: one.parameters.map((inner, at) => this.general(inner, parameterOf(other, at))),
    };
  }
}

function isOpen({ kind }: CelType): boolean {
  return kind === "dyn" || kind === "error";
}
