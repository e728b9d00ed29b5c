/** Compiles affinity terms to matchers, with namespace selectors resolved to names, so that counts can be cached. */

import { Namespace } from "../../api/generated/types/core-v1.ts";
import { labelsMatch } from "../../api/selectors/label-selector.ts";
import type { CacheReader } from "../../runtime/controller/controller.ts";
import type { AffinityTerm } from "../snapshot/affinity-term.ts";
import type { PodMatcher } from "../snapshot/match-counts.ts";

/** Matches pods that the term selects. */
export function termMatcher(term: AffinityTerm, cache: CacheReader): PodMatcher {
  const { selector } = term;
  if (selector === undefined) return { text: "term none", matches: () => false };
  const namespaces = resolveNamespaces(term, cache);
  return {
    text: namespaces === term.namespaces ? `term ${term.text}` : `term ${term.text} ${namesText(namespaces)}`,
    matches: (pod) =>
      (namespaces === "all" || namespaces.has(pod.namespace)) && labelsMatch(selector, pod.labels),
  };
}

/** Matches pods that all terms select. */
export function termsMatcher(terms: readonly AffinityTerm[], cache: CacheReader): PodMatcher {
  const matchers = terms.map((term) => termMatcher(term, cache));
  const [only] = matchers;
  if (only !== undefined && matchers.length === 1) return only;
  return {
    text: matchers.map(({ text }) => text).join("\n"),
    matches: (pod) => matchers.every((matcher) => matcher.matches(pod)),
  };
}

type Namespaces = ReadonlySet<string> | "all";

function resolveNamespaces({ namespaces, namespaceSelector }: AffinityTerm, cache: CacheReader): Namespaces {
  if (namespaceSelector === undefined) return namespaces;
  if (namespaceSelector.requirements.length === 0) return "all";
  const selected = cache(Namespace)
    .list()
    .filter(({ metadata }) => labelsMatch(namespaceSelector, metadata.labels))
    .map(({ metadata }) => metadata.name);
  return new Set([...namespaces, ...selected]);
}

function namesText(namespaces: Namespaces): string {
  return namespaces === "all" ? "*" : [...namespaces].toSorted().join();
}
