/**
 * Parses an audit policy in Kubernetes' file format. Refuses a file with a mistake: a log that misses events is noticed
 * too late.
 */
import { isJsonObject } from "../../../api/json/json-object.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { parseYaml } from "../../../api/yaml/yaml.ts";
import { LEVELS, STAGES } from "./policy.ts";
import type { AuditLevel, AuditPolicy, AuditStage, PolicyRule, ResourceRule } from "./policy.ts";

const POLICY_FIELDS = ["apiVersion", "kind", "metadata", "rules", "omitStages", "omitManagedFields"];
const RULE_FIELDS = [
  "level",
  "users",
  "userGroups",
  "verbs",
  "resources",
  "namespaces",
  "nonResourceURLs",
  "omitStages",
  "omitManagedFields",
];
const RESOURCE_FIELDS = ["group", "resources", "resourceNames"];

/** Throws an error that names the path in the file. */
export function parsePolicy(bytes: Uint8Array): AuditPolicy {
  const { value } = parseYaml(bytes);
  const policy = fieldsOf(value, "policy", POLICY_FIELDS);
  if (policy["apiVersion"] !== "audit.k8s.io/v1" || policy["kind"] !== "Policy")
    throw new Error("expected a Policy of audit.k8s.io/v1");
  const rules = itemsOf(policy["rules"], "rules");
  if (rules.length === 0) throw new Error("rules: expected at least one");
  return {
    rules: rules.map((rule, at) => ruleOf(rule, `rules[${String(at)}]`)),
    omitStages: stagesOf(policy["omitStages"], "omitStages"),
    omitManagedFields: flagOf(policy["omitManagedFields"], "omitManagedFields") ?? false,
  };
}

function ruleOf(value: unknown, path: string): PolicyRule {
  const rule = fieldsOf(value, path, RULE_FIELDS);
  const texts = (name: string): readonly string[] => textsOf(rule[name], `${path}.${name}`);
  const nonResourceURLs = texts("nonResourceURLs");
  const namespaces = texts("namespaces");
  const resources = itemsOf(rule["resources"], `${path}.resources`);
  if (nonResourceURLs.length > 0 && resources.length + namespaces.length > 0)
    throw new Error(`${path}: rules cannot apply to both regular resources and non-resource URLs`);
  for (const url of nonResourceURLs) checkUrl(url, `${path}.nonResourceURLs`);
  return {
    level: levelOf(rule["level"], `${path}.level`),
    users: texts("users"),
    userGroups: texts("userGroups"),
    verbs: texts("verbs"),
    namespaces,
    nonResourceURLs,
    resources: resources.map((entry, at) => resourceOf(entry, `${path}.resources[${String(at)}]`)),
    omitStages: stagesOf(rule["omitStages"], `${path}.omitStages`),
    omitManagedFields: flagOf(rule["omitManagedFields"], `${path}.omitManagedFields`),
  };
}

function resourceOf(value: unknown, path: string): ResourceRule {
  const { group = "", resources, resourceNames } = fieldsOf(value, path, RESOURCE_FIELDS);
  if (typeof group !== "string" || group.includes("/"))
    throw new Error(`${path}.group: expected the name of a group, without a version`);
  const rule = {
    group,
    resources: textsOf(resources, `${path}.resources`),
    resourceNames: textsOf(resourceNames, `${path}.resourceNames`),
  };
  if (rule.resourceNames.length > 0 && rule.resources.length === 0)
    throw new Error(`${path}.resourceNames: using resourceNames requires at least one resource`);
  return rule;
}

function checkUrl(url: string, path: string): void {
  if (url === "*") return;
  if (!url.startsWith("/"))
    throw new Error(`${path}: expected "*" or a path that begins with "/", found "${url}"`);
  if (url.slice(0, -1).includes("*"))
    throw new Error(`${path}: "*" is allowed only at the end, found "${url}"`);
}

function levelOf(value: unknown, path: string): AuditLevel {
  const level = LEVELS.find((one) => one === value);
  if (level === undefined) throw new Error(`${path}: expected one of ${LEVELS.join(", ")}`);
  return level;
}

function stagesOf(value: unknown, path: string): readonly AuditStage[] {
  return textsOf(value, path).map((text) => {
    const stage = STAGES.find((one) => one === text);
    if (stage === undefined) throw new Error(`${path}: expected some of ${STAGES.join(", ")}`);
    return stage;
  });
}

function flagOf(value: unknown, path: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "boolean") return value;
  throw new Error(`${path}: expected true or false`);
}

function textsOf(value: unknown, path: string): readonly string[] {
  const items = itemsOf(value, path);
  const texts = items.filter((item) => typeof item === "string");
  if (texts.length === items.length) return texts;
  throw new Error(`${path}: expected a list of strings`);
}

function itemsOf(value: unknown, path: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value as readonly unknown[];
  throw new Error(`${path}: expected a list`);
}

function fieldsOf(value: unknown, path: string, known: readonly string[]): JsonObject {
  if (!isJsonObject(value)) throw new Error(`${path}: expected an object`);
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`${path}: unknown field "${unknown}"`);
  return value;
}
