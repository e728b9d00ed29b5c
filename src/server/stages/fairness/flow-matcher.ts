/** Matches users and requests against the rules of a FlowSchema. */
import type {
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from "../../../api/generated/types/flowcontrol-v1.ts";
import type { RequestInfo, ResourceRequest } from "../../request/request-info.ts";
import type { User } from "../../request/user.ts";

const ALL = "*";

/** The rules whose subjects include this user. */
export function rulesFor(
  rules: readonly PolicyRulesWithSubjects[],
  user: User,
): readonly PolicyRulesWithSubjects[] {
  return rules.filter(({ subjects }) => subjects.some((subject) => isSelected(subject, user)));
}

function isSelected({ kind, user: wanted, group, serviceAccount }: Subject, { name, groups }: User): boolean {
  if (kind === "User") return wanted?.name === ALL || wanted?.name === name;
  if (kind === "Group") return group !== undefined && (group.name === ALL || groups.includes(group.name));
  if (kind !== "ServiceAccount" || serviceAccount === undefined) return false;
  const prefix = `system:serviceaccount:${serviceAccount.namespace}:`;
  if (!name.startsWith(prefix)) return false;
  return serviceAccount.name === ALL || name === prefix + serviceAccount.name;
}

/** Whether the rules match every request of their subjects. */
export function meansEverything(rules: readonly PolicyRulesWithSubjects[]): boolean {
  return (
    rules.some(({ resourceRules = [] }) => resourceRules.some(isAllResources)) &&
    rules.some(({ nonResourceRules = [] }) => nonResourceRules.some(isAllUrls))
  );
}

function isAllResources({
  verbs,
  apiGroups,
  resources,
  namespaces,
  clusterScope,
}: ResourcePolicyRule): boolean {
  return (
    clusterScope === true && [verbs, apiGroups, resources, namespaces].every((list) => list.includes(ALL))
  );
}

function isAllUrls({ verbs, nonResourceURLs }: NonResourcePolicyRule): boolean {
  return verbs.includes(ALL) && nonResourceURLs.includes(ALL);
}

export function isAskedFor(rules: readonly PolicyRulesWithSubjects[], info: RequestInfo): boolean {
  if (info.type === "other") {
    const { verb, path } = info;
    return rules.some(({ nonResourceRules = [] }) =>
      nonResourceRules.some((rule) => holds(rule.verbs, verb) && meansUrl(rule.nonResourceURLs, path)),
    );
  }
  return rules.some(({ resourceRules = [] }) => resourceRules.some((rule) => meansResource(rule, info)));
}

function meansResource(rule: ResourcePolicyRule, info: ResourceRequest): boolean {
  const { verb, group, resource, subresource, accessNamespace: namespace } = info;
  if (!holds(rule.verbs, verb) || !holds(rule.apiGroups, group)) return false;
  if (!holds(rule.resources, subresource === "" ? resource : `${resource}/${subresource}`)) return false;
  return namespace === "" ? rule.clusterScope === true : holds(rule.namespaces, namespace);
}

function meansUrl(urls: readonly string[], path: string): boolean {
  return urls.some((url) =>
    url === ALL || url === path ? true : url.endsWith(ALL) && path.startsWith(url.slice(0, -1)),
  );
}

function holds(list: readonly string[], value: string): boolean {
  return list.includes(value) || list.includes(ALL);
}
