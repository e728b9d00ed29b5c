/** Tables of functions: parameters, result, cost and implementation. */
import { type CallCost, callCost } from "./call-cost.ts";
import type { Run } from "./run.ts";
import {
  type CelType,
  listOf,
  mapOf,
  namedType,
  optionalOf,
  parameterOf,
  parameterType,
  typeOf,
} from "./type.ts";
import type { CelValue } from "./value.ts";

/** Arguments with the types of the signature. Positions beyond the signature are undefined. */
export type Args = readonly [CelValue, CelValue, CelValue, CelValue];
export type Implementation = (args: Args, run: Run) => CelValue;

export interface Overload {
  readonly name: string;
  /** True for a function called with a dot; the value before the dot is its first parameter. */
  readonly isMember: boolean;
  readonly parameters: readonly CelType[];
  readonly result: CelType;
  /** Required tags of the arguments at run time; `undefined` accepts any. */
  readonly tags: readonly (string | undefined)[];
  /** Required tags of the items, for arguments that are lists. */
  readonly itemTags: readonly (string | undefined)[];
  /** Effort of each call beyond the effort that the function counts. */
  readonly effort: number;
  /** Cost of a call that was made. */
  readonly cost: CallCost;
  readonly apply: Implementation;
}

/**
 * Text form of a function: `list<A> -> indexOf(A): int` is called on a list, `size(string): int` is not. Capital letters
 * stand for any type. A type after a tilde is checked at compile time only, not at run time.
 */
type Signature = string;
export type Library = readonly (readonly [Signature, Implementation])[];

const SHAPE = /^(?:(.+?) -> )?([^\s()]+)\((.*)\): (.+)$/;

/** Overloads of a library. `effort` is that of each call beyond the effort that the functions count. */
export function overloadsOf(library: Library, effort: number): readonly Overload[] {
  return library.map(([signature, apply]) => {
    const overload = overloadOf(signature, apply);
    return { ...overload, effort, cost: callCost(overload) };
  });
}

function overloadOf(signature: Signature, apply: Implementation): Omit<Overload, "effort" | "cost"> {
  const [, target, name = "", list = "", result = ""] = SHAPE.exec(signature) ?? [];
  const texts = [...(target === undefined ? [] : [target]), ...splitTypes(list)];
  const parameters = texts.map((text) => readType(text.replace(/^~/, "")));
  return {
    name,
    isMember: target !== undefined,
    parameters,
    result: readType(result),
    tags: parameters.map((type, at) => (texts[at]?.startsWith("~") === true ? undefined : tagOfType(type))),
    itemTags: parameters.map((type) => (type.kind === "list" ? tagOfType(parameterOf(type)) : undefined)),
    apply,
  };
}

/** Tag of the type's values at run time. */
function tagOfType({ kind, name }: CelType): string | undefined {
  return kind === "dyn" || kind === "parameter" ? undefined : kind === "object" ? "object" : name;
}

/** Splits at commas outside of brackets. */
function splitTypes(text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === "<") depth += 1;
    else if (character === ">") depth -= 1;
    else if (character === "," && depth === 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  const last = text.slice(start);
  return [...parts, ...(last.trim() === "" ? [] : [last])].map((part) => part.trim());
}

function readType(text: string): CelType {
  const [, name = text, inner] = /^([^<]+)<(.*)>$/.exec(text) ?? [];
  if (/^[A-Z]$/.test(name)) return parameterType(name);
  const [first = namedType("dyn"), second = namedType("dyn")] =
    inner === undefined ? [] : splitTypes(inner).map(readType);
  switch (name) {
    case "list":
      return listOf(first);
    case "map":
      return mapOf(first, second);
    case "optional":
      return optionalOf(first);
    case "type":
      return typeOf(first);
    default:
      return namedType(name);
  }
}
