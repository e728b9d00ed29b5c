/** Kinds that are never stored: each request is answered with an object made for it. */
import type { Resource } from "../../objects/registry.ts";
import { showNodeMetrics, showPodMetrics } from "../metrics-api/metrics-verbs.ts";
import { createBinding } from "../subresources/binding.ts";
import type { Verb } from "../verb.ts";
import { reviewAccess, reviewLocalAccess, reviewOwnAccess, reviewOwnRules } from "./access-review.ts";
import { componentStatuses } from "./component-status.ts";
import { reviewSelf, reviewToken } from "./token-review.ts";

const VERBS: ReadonlyMap<string, Verb<Resource>> = new Map<string, Verb<Resource>>([
  ["Binding", createBinding],
  ["ComponentStatus", componentStatuses],
  ["LocalSubjectAccessReview", reviewLocalAccess],
  ["NodeMetrics", showNodeMetrics],
  ["PodMetrics", showPodMetrics],
  ["SelfSubjectAccessReview", reviewOwnAccess],
  ["SelfSubjectReview", reviewSelf],
  ["SelfSubjectRulesReview", reviewOwnRules],
  ["SubjectAccessReview", reviewAccess],
  ["TokenReview", reviewToken],
]);

/** The facts give each of these kinds the verbs that its function understands. */
export function virtualVerb({ facts }: Resource): Verb<Resource> {
  const verb = VERBS.get(facts.kind);
  if (verb === undefined) throw new Error(`nothing answers for ${facts.kind}, which is not stored`);
  return verb;
}
