/** Whether a rule of a role allows something. As upstream's, to the letter: nothing here is a pattern but what ends or begins with a star. */
import type { PolicyRule } from "../../../../api/generated/types/rbac-v1.ts";
import type { AccessAttributes } from "../authorizer.ts";
import { listHas, listHasOrAll, someUrlCovers } from "./rule-lists.ts";

const NONE: readonly string[] = [];

export function ruleAllows(rule: PolicyRule, attributes: AccessAttributes): boolean {
  return ruleConcerns(rule, attributes) && allowsName(rule, attributes.name);
}

/** The same but for the name of the object. */
export function ruleConcerns(rule: PolicyRule, attributes: AccessAttributes): boolean {
  const { verb, path, group, resource } = attributes;
  if (!listHasOrAll(rule.verbs, verb)) return false;
  if (resource === "") return allowsPath(rule, path);
  return listHasOrAll(rule.apiGroups ?? NONE, group) && allowsResource(rule, attributes);
}

/** Whoever does not name an object is not allowed by a rule that names some. */
function allowsName({ resourceNames = NONE }: PolicyRule, name: string): boolean {
  return resourceNames.length === 0 || listHas(resourceNames, name);
}

/** `*` is every resource with all that is below it, and `*` with a subresource behind a slash that one of every resource; `pods/*` is nothing. */
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
