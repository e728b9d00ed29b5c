/** Whether a rule of a role allows something. As upstream's, to the letter: nothing here is a pattern but what ends or begins with a star. */
import type { PolicyRule } from "../../../api/generated/types/rbac-v1.ts";
import { endOfBody } from "../../../base/text-end.ts";
import type { AccessAttributes } from "../authorizer.ts";

const ALL = "*";
const NONE: readonly string[] = [];

export function ruleAllows(rule: PolicyRule, attributes: AccessAttributes): boolean {
  return ruleConcerns(rule, attributes) && allowsName(rule, attributes.name);
}

/** The same but for the name of the object. */
export function ruleConcerns(rule: PolicyRule, attributes: AccessAttributes): boolean {
  const { verb, path, group, resource } = attributes;
  if (!hasOrAll(rule.verbs, verb)) return false;
  if (resource === "") return allowsPath(rule, path);
  return hasOrAll(rule.apiGroups ?? NONE, group) && allowsResource(rule, attributes);
}

/** Whoever does not name an object is not allowed by a rule that names some. */
function allowsName({ resourceNames = NONE }: PolicyRule, name: string): boolean {
  return resourceNames.length === 0 || resourceNames.includes(name);
}

function hasOrAll(values: readonly string[], value: string): boolean {
  return values.includes(ALL) || values.includes(value);
}

/** `*` is every resource with all that is below it, and `*` with a subresource behind a slash that one of every resource; `pods/*` is nothing. */
function allowsResource(
  { resources = NONE }: PolicyRule,
  { resource, subresource }: AccessAttributes,
): boolean {
  if (subresource === "") return hasOrAll(resources, resource);
  return hasOrAll(resources, `${resource}/${subresource}`) || resources.includes(`*/${subresource}`);
}

function allowsPath({ nonResourceURLs = NONE }: PolicyRule, path: string): boolean {
  return nonResourceURLs.some((url) => coversPath(url, path));
}

/** A star at the end stands for anything, even for nothing. */
export function coversPath(url: string, path: string): boolean {
  if (url === ALL || url === path) return true;
  return url.endsWith(ALL) && path.startsWith(url.slice(0, endOfBody(url, ALL)));
}
