/** Matches requests against a policy or a binding. Equivalent resources match too, unless matchPolicy is Exact. */
import type {
  MatchResources,
  NamedRuleWithOperations,
} from "../../../api/generated/types/admissionregistration-v1.ts";
import type { Namespace } from "../../../api/generated/types/core-v1.ts";
import { compileLabelSelector, type LabelSelector } from "../../../api/selectors/label-selector.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import { kindPrefix } from "../../objects/lister.ts";
import type { Registry, AdmittedResource } from "../../objects/registry.ts";
import type { AdmissionRequest } from "../plugin.ts";
import { equivalentsOf } from "../webhook/equivalents.ts";
import { isSelected } from "../webhook/hook-match.ts";
import { ruleMatches } from "../webhook/rule-match.ts";

export interface Match {
  /** Undefined if there are none; then every request matches. */
  readonly rules: readonly NamedRuleWithOperations[] | undefined;
  readonly excluded: readonly NamedRuleWithOperations[];
  readonly matchesEquivalents: boolean;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
}

export function matchOf(resources: MatchResources | undefined): Match {
  const { resourceRules = [], excludeResourceRules = [], matchPolicy } = resources ?? {};
  return {
    rules: resourceRules.length === 0 ? undefined : resourceRules,
    excluded: excludeResourceRules,
    matchesEquivalents: matchPolicy !== "Exact",
    namespaceSelector: compileLabelSelector(resources?.namespaceSelector),
    objectSelector: compileLabelSelector(resources?.objectSelector),
  };
}

/** A request and its objects. */
export interface Subject {
  readonly request: AdmissionRequest;
  /** Undefined for a DELETE. */
  readonly object: ApiObject | undefined;
  /** Undefined for a CREATE. */
  readonly oldObject: ApiObject | undefined;
}

/** The request's resource, or an equivalent one that a rule names; undefined if the request does not match. */
export function findMatch(match: Match, subject: Subject, registry: Registry): AdmittedResource | undefined {
  const { request, object } = subject;
  if (match.excluded.length > 0 && findRule(match.excluded, match, { request, registry }) !== undefined)
    return undefined;
  const resource =
    match.rules === undefined ? request.resource : findRule(match.rules, match, { request, registry });
  if (resource === undefined) return undefined;
  return isSelected(match, object, request) ? resource : undefined;
}

interface Asked {
  readonly request: AdmissionRequest;
  readonly registry: Registry;
}

/** The request's own resource is tried first, then equivalents in the order of the rules. */
function findRule(
  rules: readonly NamedRuleWithOperations[],
  { matchesEquivalents }: Match,
  { request, registry }: Asked,
): AdmittedResource | undefined {
  const { resource, subresource } = request;
  if (rules.some((rule) => isSelectedBy(rule, resource, request))) return resource;
  if (!matchesEquivalents) return undefined;
  const others = equivalents(resource, subresource, registry);
  if (others.length === 0) return undefined;
  for (const rule of rules) {
    const found = others.find((other) => isSelectedBy(rule, other, request));
    if (found !== undefined) return found;
  }
  return undefined;
}

function isSelectedBy(
  rule: NamedRuleWithOperations,
  { facts }: AdmittedResource,
  { operation, subresource, name }: AdmissionRequest,
): boolean {
  const { resourceNames = [] } = rule;
  if (resourceNames.length > 0 && !resourceNames.includes(name)) return false;
  const { group, version, name: resource, namespaced } = facts;
  return ruleMatches(rule, { operation, group, version, resource, subresource, namespaced });
}

const knownEquivalents = new WeakMap<object, Map<string, readonly AdmittedResource[]>>();

/** Cached until the set of served resources changes. */
function equivalents(
  resource: AdmittedResource,
  subresource: string,
  registry: Registry,
): readonly AdmittedResource[] {
  const { groupVersions } = registry;
  let known = knownEquivalents.get(groupVersions);
  if (known === undefined) {
    known = new Map();
    knownEquivalents.set(groupVersions, known);
  }
  const key = `${resource.apiVersion} ${resource.facts.name} ${subresource}`;
  let found = known.get(key);
  if (found === undefined) {
    found = equivalentsOf(resource, subresource, registry);
    known.set(key, found);
  }
  return found;
}

const NAMESPACES = kindPrefix<Namespace>("namespaces");

/** The namespace of a request; undefined for cluster-scoped objects, and so for a Namespace. */
export function namespaceOf({ resource, namespace, memory }: AdmissionRequest): Namespace | undefined {
  if (!resource.facts.namespaced || namespace === "") return undefined;
  return memory.find(NAMESPACES, namespace);
}
