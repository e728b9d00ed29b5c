/**
 * Kubernetes' audit policy: decides how much of a request is recorded. The first matching rule decides; without one
 * nothing is recorded.
 */
import type { User } from "../../request/user.ts";

/** Each level includes the one before. */
export const LEVELS = ["None", "Metadata", "Request", "RequestResponse"] as const;
export type AuditLevel = (typeof LEVELS)[number];

export const STAGES = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"] as const;
export type AuditStage = (typeof STAGES)[number];

/** Empty lists match everything. */
export interface PolicyRule {
  readonly level: AuditLevel;
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly ResourceRule[];
  /** The empty string matches objects without a namespace. */
  readonly namespaces: readonly string[];
  readonly nonResourceURLs: readonly string[];
  readonly omitStages: readonly AuditStage[];
  readonly omitManagedFields: boolean | undefined;
}

export interface ResourceRule {
  readonly group: string;
  /** For example `pods` or `pods/log`; an asterisk replaces either part or both. */
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
}

export interface AuditPolicy {
  readonly rules: readonly PolicyRule[];
  readonly omitStages: readonly AuditStage[];
  readonly omitManagedFields: boolean;
}

/** The properties of a request that rules match. */
export interface AuditedRequest {
  /** Undefined when authentication failed. */
  readonly user: User | undefined;
  readonly verb: string;
  /** Path of a non-resource request; otherwise undefined. */
  readonly path: string | undefined;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

export interface AuditDecision {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<AuditStage>;
  readonly omitManagedFields: boolean;
}

const NOTHING: AuditDecision = { level: "None", omitStages: new Set(), omitManagedFields: false };

/** Builds the decision of each rule once, so that a request only looks up its own. */
export function policyDecider(policy: AuditPolicy): (request: AuditedRequest) => AuditDecision {
  const decided = policy.rules.map((rule) => ({
    rule,
    decision: {
      level: rule.level,
      omitStages: new Set([...policy.omitStages, ...rule.omitStages]),
      omitManagedFields: rule.omitManagedFields ?? policy.omitManagedFields,
    },
  }));
  return (request) => decided.find(({ rule }) => matches(rule, request))?.decision ?? NOTHING;
}

export function includes(level: AuditLevel, least: AuditLevel): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(least);
}

function matches(rule: PolicyRule, request: AuditedRequest): boolean {
  const { user, verb } = request;
  if (rule.users.length > 0 && !rule.users.includes(user?.name ?? "")) return false;
  if (rule.userGroups.length > 0 && !rule.userGroups.some((group) => user?.groups.includes(group) === true))
    return false;
  if (rule.verbs.length > 0 && !rule.verbs.includes(verb)) return false;
  if (rule.namespaces.length > 0 || rule.resources.length > 0) return matchesResource(rule, request);
  if (rule.nonResourceURLs.length > 0) return matchesPath(rule.nonResourceURLs, request.path);
  return true;
}

function matchesPath(patterns: readonly string[], path: string | undefined): boolean {
  if (path === undefined) return false;
  return patterns.some((pattern) =>
    pattern.endsWith("*") ? path.startsWith(pattern.slice(0, -1)) : pattern === path,
  );
}

function matchesResource({ namespaces, resources }: PolicyRule, request: AuditedRequest): boolean {
  if (request.path !== undefined) return false;
  if (namespaces.length > 0 && !namespaces.includes(request.namespace)) return false;
  return resources.length === 0 || resources.some((rule) => matchesNames(rule, request));
}

function matchesNames({ group, resources, resourceNames }: ResourceRule, request: AuditedRequest): boolean {
  if (group !== request.group) return false;
  if (resources.length === 0) return true;
  if (resourceNames.length > 0 && !resourceNames.includes(request.name)) return false;
  const { resource, subresource } = request;
  const full = subresource === "" ? resource : `${resource}/${subresource}`;
  return resources.some(
    (pattern) =>
      pattern === "*" ||
      pattern === full ||
      pattern === `${resource}/*` ||
      (subresource !== "" && pattern === `*/${subresource}`),
  );
}
