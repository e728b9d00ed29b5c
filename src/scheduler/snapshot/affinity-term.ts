/** Compiles terms of inter-pod affinity: the pods a term selects and its topology key. */

import type {
  Affinity,
  PodAffinity,
  PodAffinityTerm,
  PodAntiAffinity,
} from "../../api/generated/types/core-v1.ts";
import type { Labels } from "../../api/selectors/label-requirement.ts";
import {
  compileLabelSelector,
  labelSelectorText,
  labelsMatch,
  type LabelSelector,
} from "../../api/selectors/label-selector.ts";

export interface AffinityTerm {
  /** Equal texts mean equal terms. */
  readonly text: string;
  readonly topologyKey: string;
  /** Undefined selects no pod. */
  readonly selector: LabelSelector | undefined;
  readonly namespaces: ReadonlySet<string>;
  /** Namespaces with matching labels count too. */
  readonly namespaceSelector: LabelSelector | undefined;
  /** Weight of a preferred term; 0 for a required one. */
  readonly weight: number;
}

export interface AffinityTerms {
  readonly requiredAffinity: readonly AffinityTerm[];
  readonly requiredAntiAffinity: readonly AffinityTerm[];
  readonly preferredAffinity: readonly AffinityTerm[];
  readonly preferredAntiAffinity: readonly AffinityTerm[];
}

const NO_TERMS: AffinityTerms = {
  requiredAffinity: [],
  requiredAntiAffinity: [],
  preferredAffinity: [],
  preferredAntiAffinity: [],
};

/** A term without namespaces applies to the pod's own namespace. */
export function compileAffinity(affinity: Affinity | undefined, namespace: string): AffinityTerms {
  const { podAffinity, podAntiAffinity } = affinity ?? {};
  if (podAffinity === undefined && podAntiAffinity === undefined) return NO_TERMS;
  return {
    requiredAffinity: required(podAffinity, namespace),
    requiredAntiAffinity: required(podAntiAffinity, namespace),
    preferredAffinity: preferred(podAffinity, namespace),
    preferredAntiAffinity: preferred(podAntiAffinity, namespace),
  };
}

export interface PodIdentity {
  readonly namespace: string;
  readonly labels: Labels | undefined;
}

/** `namespaceLabels` are the labels of the pod's namespace. */
export function termSelects(
  { selector, namespaces, namespaceSelector }: AffinityTerm,
  { namespace, labels }: PodIdentity,
  namespaceLabels: Labels | undefined,
): boolean {
  if (selector === undefined || !labelsMatch(selector, labels)) return false;
  if (namespaces.has(namespace)) return true;
  return namespaceSelector !== undefined && labelsMatch(namespaceSelector, namespaceLabels);
}

function required(
  affinity: PodAffinity | PodAntiAffinity | undefined,
  namespace: string,
): readonly AffinityTerm[] {
  const terms = affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return terms.map((term) => compileTerm(term, namespace, 0));
}

function preferred(
  affinity: PodAffinity | PodAntiAffinity | undefined,
  namespace: string,
): readonly AffinityTerm[] {
  const terms = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return terms.map(({ podAffinityTerm, weight }) => compileTerm(podAffinityTerm, namespace, weight));
}

function compileTerm(term: PodAffinityTerm, ownNamespace: string, weight: number): AffinityTerm {
  const isOwn = (term.namespaces ?? []).length === 0 && term.namespaceSelector === undefined;
  const namespaces = isOwn ? [ownNamespace] : (term.namespaces ?? []).toSorted();
  const selector = findSelector(term.labelSelector);
  const namespaceSelector = findSelector(term.namespaceSelector);
  const text = JSON.stringify([
    term.topologyKey,
    selector === undefined ? 0 : labelSelectorText(selector),
    namespaces,
    namespaceSelector === undefined ? 0 : labelSelectorText(namespaceSelector),
    weight,
  ]);
  return {
    text,
    topologyKey: term.topologyKey,
    selector,
    namespaces: new Set(namespaces),
    namespaceSelector,
    weight,
  };
}

/** An invalid selector selects no pod: a running pod with an invalid term must not block others. */
function findSelector(selector: PodAffinityTerm["labelSelector"]): LabelSelector | undefined {
  if (selector === undefined) return undefined;
  try {
    return compileLabelSelector(selector);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
