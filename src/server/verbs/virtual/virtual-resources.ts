/** Finds the verbs for kinds that are never stored. Each request gets an object made for it. */
import type { Resource } from "../../objects/registry.ts";
import { listChanges } from "../causes-api/causes-verbs.ts";
import { showRevision } from "../causes-api/revision-verbs.ts";
import { showNodeMetrics, showPodMetrics } from "../metrics-api/metrics-verbs.ts";
import { createBinding } from "../subresources/binding.ts";
import type { Verb } from "../verb.ts";
import { reviewAccess, reviewLocalAccess, reviewOwnAccess, reviewOwnRules } from "./access-review.ts";
import { componentStatuses } from "./component-status.ts";
import { reviewSelf, reviewToken } from "./token-review.ts";

const VERBS: ReadonlyMap<string, Verb<Resource>> = new Map<string, Verb<Resource>>([
  ["Binding", createBinding],
  ["Change", listChanges],
  ["ComponentStatus", componentStatuses],
  ["LocalSubjectAccessReview", reviewLocalAccess],
  ["NodeMetrics", showNodeMetrics],
  ["PodMetrics", showPodMetrics],
  ["Revision", showRevision],
  ["SelfSubjectAccessReview", reviewOwnAccess],
  ["SelfSubjectReview", reviewSelf],
  ["SelfSubjectRulesReview", reviewOwnRules],
  ["SubjectAccessReview", reviewAccess],
  ["TokenReview", reviewToken],
]);

/** Each of these kinds has one verb function. The API facts allow only verbs that this function handles. */
export function virtualVerb({ facts }: Resource): Verb<Resource> {
  const verb = VERBS.get(facts.kind);
  if (verb === undefined) throw new Error(`no verb answers for ${facts.kind}, which is not stored`);
  return verb;
}
