/** Matches nodes with node selectors, node affinity and tolerations. */

import type {
  Node,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodSpec,
  Taint,
  Toleration,
} from "../../api/generated/types/core-v1.ts";
import { ownValue } from "../rules/value-rules.ts";

/** One of the terms must match; a term without requirements matches no node. */
export function matchesNodeSelector({ nodeSelectorTerms: terms }: NodeSelector, node: Node): boolean {
  return terms.some((term) => matchesNodeTerm(term, node));
}

export function matchesNodeTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  { metadata }: Node,
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every((it) => requirementHolds(it, ownValue(metadata.labels, it.key))) &&
    matchFields.every((it) => requirementHolds(it, it.key === "metadata.name" ? metadata.name : undefined))
  );
}

/** `spec.nodeSelector` and the required node affinity must both match. */
export function matchesPodNodeSelection(
  { nodeSelector, affinity }: Pick<PodSpec, "nodeSelector" | "affinity">,
  node: Node,
): boolean {
  const { labels } = node.metadata;
  for (const [key, value] of Object.entries(nodeSelector ?? {})) {
    if (ownValue(labels, key) !== value) return false;
  }
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || matchesNodeSelector(required, node);
}

/** These effects keep pods off a node; PreferNoSchedule only lowers its score. */
export function isRepellingTaint({ effect }: Taint): boolean {
  return effect === "NoSchedule" || effect === "NoExecute";
}

/** The first taint that no toleration matches. */
export function findUntolerated(
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[] | undefined,
): Taint | undefined {
  return taints?.find((taint) => !(tolerations ?? []).some((it) => tolerates(it, taint)));
}

/** Without a key, `Exists` tolerates every key. Without an effect, a toleration tolerates every effect. */
export function tolerates({ key = "", effect, operator, value = "" }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  const found = taint.value ?? "";
  if (operator === "Exists") return true;
  if (operator === "Gt" || operator === "Lt") return compares(operator, found, value);
  return key !== "" && found === value;
}

function requirementHolds(
  { operator, values = [] }: NodeSelectorRequirement,
  found: string | undefined,
): boolean {
  switch (operator) {
    case "In":
      return found !== undefined && values.includes(found);
    case "NotIn":
      return found === undefined || !values.includes(found);
    case "Exists":
      return found !== undefined;
    case "DoesNotExist":
      return found === undefined;
    case "Gt":
    case "Lt":
      return found !== undefined && compares(operator, found, values[0] ?? "");
  }
}

const INTEGER = /^[+-]?[0-9]{1,19}$/;

/** False unless both are integers. */
function compares(operator: "Gt" | "Lt", found: string, bound: string): boolean {
  if (!INTEGER.test(found) || !INTEGER.test(bound)) return false;
  const left = BigInt(found.replace("+", ""));
  const right = BigInt(bound.replace("+", ""));
  return operator === "Gt" ? left > right : left < right;
}
