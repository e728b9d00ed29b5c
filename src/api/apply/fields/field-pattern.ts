/**
 * Fields that an endpoint writes, by the elements of their paths as sets of fields have them. `*` stands for every element, and below a pattern
 * without elements everything is meant:
 *
 *   { "f:spec": { "f:containers": { "*": { "f:resources": {} } } } }
 */
import { EMPTY, type FieldSet, isEmpty, rewrite } from "./field-set.ts";
import { SELF } from "./path-element.ts";

export interface FieldPattern {
  readonly [element: string]: FieldPattern;
}

const ANY = "*";

/** What of the set is meant by the pattern, with what is on the way there. */
export function matching(set: FieldSet, pattern: FieldPattern): FieldSet {
  return matchingNodes(set, pattern) ?? EMPTY;
}

function matchingNodes(node: FieldSet, pattern: FieldPattern): FieldSet | undefined {
  if (isEmpty(pattern)) return node;
  return rewrite(node, (child, element) => {
    if (element === SELF) return child;
    const inner = pattern[element] ?? pattern[ANY];
    if (inner === undefined) return undefined;
    return isEmpty(child) ? child : matchingNodes(child, inner);
  });
}
