/** Matches rules exactly as upstream does: only a leading or trailing star is a wildcard. */
import type { PolicyRule } from "../../../../api/generated/types/rbac-v1.ts";
import type { AccessAttributes } from "../authorizer.ts";
import { listHas, listHasOrAll, someUrlCovers } from "./rule-lists.ts";

const NONE: readonly string[] = [];

export function ruleAllows(rule: PolicyRule, attributes: AccessAttributes): boolean {
  return ruleConcerns(rule, attributes) && allowsName(rule, attributes.name);
}

/** Like `ruleAllows`, but ignores the object's name. */
export function ruleConcerns(rule: PolicyRule, attributes: AccessAttributes): boolean {
  const { verb, path, group, resource } = attributes;
  if (!listHasOrAll(rule.verbs, verb)) return false;
  if (resource === "") return allowsPath(rule, path);
  return listHasOrAll(rule.apiGroups ?? NONE, group) && allowsResource(rule, attributes);
}

/** A rule with resourceNames does not allow a request without a name. */
function allowsName({ resourceNames = NONE }: PolicyRule, name: string): boolean {
  return resourceNames.length === 0 || listHas(resourceNames, name);
}

/**
 * `*` matches every resource with its subresources. A star, a slash and a subresource match that subresource of every
 * resource. `pods/*` matches nothing.
 */
function allowsResource(
  { resources = NONE }: PolicyRule,
  { resource, subresource }: AccessAttributes,
): boolean {
  if (subresource === "") return listHasOrAll(resources, resource);
  return listHasOrAll(resources, `${resource}/${subresource}`) || listHas(resources, `*/${subresource}`);
}

function allowsPath({ nonResourceURLs = NONE }: PolicyRule, path: string): boolean {
  return someUrlCovers(nonResourceURLs, path);
}
