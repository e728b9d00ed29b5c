/** Labels of nodes that have newer names, wherever nodes are chosen by labels. */

import type { FieldPath } from "../api/field-error.ts";
import type { NodeSelectorTerm } from "../api/generated/types/core-v1.ts";
import type { LabelSelector } from "../api/generated/types/meta-v1.ts";

const DEPRECATED_LABELS = new Map([
  ["beta.kubernetes.io/arch", 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ["beta.kubernetes.io/os", 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  [
    "failure-domain.beta.kubernetes.io/region",
    'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  ],
  [
    "failure-domain.beta.kubernetes.io/zone",
    'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  ],
  [
    "beta.kubernetes.io/instance-type",
    'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  ],
]);

/** Where the path itself does not say which label is meant, the warning does. */
export function labelWarnings(key: string, path: FieldPath, says: "path" | "label"): readonly string[] {
  const message = DEPRECATED_LABELS.get(key);
  if (message === undefined) return [];
  return [`${path.toString()}: ${says === "path" ? message : `${key} is ${message}`}`];
}

/** Of a term of a node selector, or of a label selector for nodes. */
export function expressionWarnings(
  { matchExpressions = [] }: NodeSelectorTerm | LabelSelector,
  path: FieldPath,
): readonly string[] {
  return matchExpressions.flatMap(({ key }, i) =>
    labelWarnings(key, path.child("matchExpressions").index(i).child("key"), "label"),
  );
}
