/** Warns about deprecated node labels in selectors and affinities. */

import type { FieldPath } from "../../api/errors/field-error.ts";
import type { NodeSelectorTerm } from "../../api/generated/types/core-v1.ts";
import type { LabelSelector } from "../../api/generated/types/meta-v1.ts";

/** The replacement of each label, and the version that deprecated it. */
const DEPRECATED_LABELS: ReadonlyMap<string, readonly [newer: string, since: string]> = new Map([
  ["beta.kubernetes.io/arch", ["kubernetes.io/arch", "v1.14"]],
  ["beta.kubernetes.io/os", ["kubernetes.io/os", "v1.14"]],
  ["failure-domain.beta.kubernetes.io/region", ["topology.kubernetes.io/region", "v1.17"]],
  ["failure-domain.beta.kubernetes.io/zone", ["topology.kubernetes.io/zone", "v1.17"]],
  ["beta.kubernetes.io/instance-type", ["node.kubernetes.io/instance-type", "v1.17"]],
]);

/** The replacement of a deprecated label; undefined for other labels. */
export function newerNodeLabel(key: string): string | undefined {
  return DEPRECATED_LABELS.get(key)?.[0];
}

/** The warning names the label when the path does not. */
export function labelWarnings(key: string, path: FieldPath, says: "path" | "label"): readonly string[] {
  const found = DEPRECATED_LABELS.get(key);
  if (found === undefined) return [];
  const [newer, since] = found;
  const message = `deprecated since ${since}; use "${newer}" instead`;
  return [`${path.toString()}: ${says === "path" ? message : `${key} is ${message}`}`];
}

/** Warnings for a node selector term, or for a label selector that selects nodes. */
export function expressionWarnings(
  { matchExpressions = [] }: NodeSelectorTerm | LabelSelector,
  path: FieldPath,
): readonly string[] {
  return matchExpressions.flatMap(({ key }, i) =>
    labelWarnings(key, path.child("matchExpressions").index(i).child("key"), "label"),
  );
}
