/** Parses the `fieldPath` of a rule, relative to the rule's own schema: `.spec.ports['a b']`. */
import { FieldPath } from "../errors/field-error.ts";
import type { Structural } from "./structural.ts";

/** The path as errors show it. */
export interface RulePath {
  readonly path: string;
}

const STEP = /\.([^.[\]'][^.[\]]*)|\['((?:[^'\\]|\\.)*)'\]/y;
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["a", "\u0007"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["v", "\v"],
]);

/** The path of a field; `undefined` when the schema has no field of this name. */
export function findRulePath(text: string, schema: Structural): RulePath | undefined {
  let path = new FieldPath("");
  let at: Structural = schema;
  STEP.lastIndex = 0;
  while (STEP.lastIndex < text.length) {
    const step = STEP.exec(text);
    if (step === null) return undefined;
    const name = step[1] ?? unescaped(step[2] ?? "");
    const isNamed = at.properties.size > 0;
    const next = isNamed ? at.properties.get(name) : at.additional;
    if (typeof next !== "object") return undefined;
    path = isNamed ? path.child(name) : path.key(name);
    at = next;
  }
  return { path: path.toString() };
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, (_, character: string) => ESCAPES.get(character) ?? character);
}
