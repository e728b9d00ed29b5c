/**
 * Pattern of the fields that an endpoint writes, by path elements as in field sets. `*` matches every element. A pattern
 * without elements matches everything below it:
 *
 *   { "f:spec": { "f:containers": { "*": { "f:resources": {} } } } }
 */
import { EMPTY, type FieldSet, isEmpty, rewrite } from "./field-set.ts";
import { SELF } from "./path-element.ts";

export interface FieldPattern {
  readonly [element: string]: FieldPattern;
}

const ANY = "*";

/** The fields of the set that match the pattern, with the members on the path to them. */
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
