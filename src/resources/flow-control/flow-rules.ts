/** Validates the rules of a FlowSchema: subjects, resources and URLs. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type {
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from "../../api/generated/types/flowcontrol-v1.ts";
import { dns1123Label, dns1123Subdomain } from "../../api/values/names.ts";
import { addNew } from "../rules/value-rules.ts";

const ALL = "*";
const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];

/** Condition types in the status of a FlowSchema or a PriorityLevelConfiguration: required and unique. */
export function checkConditionTypes(
  conditions: readonly { readonly type?: string }[],
  errors: FieldErrors,
): void {
  const seen = new Set<string>();
  for (const [i, { type = "" }] of conditions.entries()) {
    const path = fieldPath("status", "conditions").index(i).child("type");
    if (!addNew(seen, type)) errors.duplicate(path, type);
    if (type === "") errors.required(path, "must not be empty");
  }
}

export function checkFlowRule(rule: PolicyRulesWithSubjects, path: FieldPath, errors: FieldErrors): void {
  const { subjects, resourceRules = [], nonResourceRules = [] } = rule;
  if (subjects.length === 0)
    errors.required(path.child("subjects"), "subjects must contain at least one value");
  for (const [i, subject] of subjects.entries())
    checkSubject(subject, path.child("subjects").index(i), errors);
  if (resourceRules.length + nonResourceRules.length === 0) {
    errors.required(path, "at least one of resourceRules and nonResourceRules has to be non-empty");
  }
  for (const [i, it] of resourceRules.entries())
    checkResources(it, path.child("resourceRules").index(i), errors);
  for (const [i, it] of nonResourceRules.entries())
    checkUrls(it, path.child("nonResourceRules").index(i), errors);
}

/** The field of a subject for each kind of subject. */
const SUBJECT_FIELDS = [
  ["ServiceAccount", "serviceAccount"],
  ["User", "user"],
  ["Group", "group"],
] as const;

function checkSubject(subject: Subject, path: FieldPath, errors: FieldErrors): void {
  const own = SUBJECT_FIELDS.find(([kind]) => kind === subject.kind)?.[1];
  if (own === undefined) {
    errors.notSupported(path.child("kind"), subject.kind, ["Group", "ServiceAccount", "User"]);
    return;
  }
  const value = subject[own];
  if (value === undefined)
    errors.required(path.child(own), `${own} is required when subject kind is '${subject.kind}'`);
  else if (value.name === "") errors.required(path.child(own, "name"));
  if (subject.kind === "ServiceAccount" && subject.serviceAccount !== undefined) {
    checkAccount(subject.serviceAccount, path.child("serviceAccount"), errors);
  }
  for (const [kind, field] of SUBJECT_FIELDS) {
    if (field === own || subject[field] === undefined) continue;
    errors.forbidden(path.child(field), `${field} is forbidden when subject kind is not '${kind}'`);
  }
}

function checkAccount(
  { name, namespace }: { readonly name: string; readonly namespace: string },
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (name !== "" && name !== ALL) errors.invalidFor(path.child("name"), name, dns1123Subdomain(name));
  if (namespace === "")
    errors.required(path.child("namespace"), "must specify namespace for service account");
  else errors.invalidFor(path.child("namespace"), namespace, dns1123Label(namespace));
}

function checkVerbs(verbs: readonly string[], path: FieldPath, errors: FieldErrors): void {
  if (verbs.length === 0) errors.required(path, "verbs must contain at least one value");
  else if (verbs.includes(ALL)) refuseOthers({ list: verbs, path, what: "verbs" }, errors);
  else if (!verbs.every((verb) => VERBS.includes(verb))) errors.notSupported(path, verbs, VERBS);
}

interface WithWildcard {
  readonly list: readonly string[];
  readonly path: FieldPath;
  readonly what: string;
}

function refuseOthers({ list, path, what }: WithWildcard, errors: FieldErrors): void {
  if (list.length > 1 && list.includes(ALL)) {
    errors.invalid(path, list, `if '*' is present, must not specify other ${what}`);
  }
}

function checkResources(rule: ResourcePolicyRule, path: FieldPath, errors: FieldErrors): void {
  const { apiGroups, resources, namespaces, clusterScope = false } = rule;
  checkVerbs(rule.verbs, path.child("verbs"), errors);
  const groupsPath = path.child("apiGroups");
  if (apiGroups.length === 0)
    errors.required(groupsPath, "resource rules must supply at least one api group");
  refuseOthers({ list: apiGroups, path: groupsPath, what: "api groups" }, errors);
  const resourcesPath = path.child("resources");
  if (resources.length === 0)
    errors.required(resourcesPath, "resource rules must supply at least one resource");
  refuseOthers({ list: resources, path: resourcesPath, what: "resources" }, errors);
  const at = path.child("namespaces");
  if (namespaces.length === 0 && !clusterScope) {
    errors.required(at, "resource rules that are not cluster scoped must supply at least one namespace");
  }
  refuseOthers({ list: namespaces, path: at, what: "namespaces" }, errors);
  if (namespaces.includes(ALL)) return;
  for (const [i, namespace] of namespaces.entries()) {
    const problems = dns1123Label(namespace).map(
      (problem) => `each member of this list must be '*' or a DNS-1123 label; ${problem}`,
    );
    errors.invalidFor(at.index(i), namespace, problems);
  }
}

function checkUrls(
  { verbs, nonResourceURLs: urls }: NonResourcePolicyRule,
  path: FieldPath,
  errors: FieldErrors,
): void {
  checkVerbs(verbs, path.child("verbs"), errors);
  const at = path.child("nonResourceURLs");
  if (urls.length === 0) errors.required(at, "nonResourceURLs must contain at least one value");
  refuseOthers({ list: urls, path: at, what: "non-resource URLs" }, errors);
  if (urls.includes(ALL)) return;
  for (const [i, url] of urls.entries()) {
    const problem = urlProblem(url);
    if (problem !== undefined) errors.invalid(at.index(i), url, problem);
  }
}

function urlProblem(url: string): string | undefined {
  if (url === "") return "must not be empty";
  if (url === "/") return undefined;
  if (!url.startsWith("/")) return "must start with slash";
  if (url.includes(" ")) return "must not contain white-space";
  if (url.includes("//")) return "must not contain double slash";
  const star = url.indexOf(ALL);
  if (star >= 0 && !url.endsWith("/*")) return "wildcard can only do suffix matching";
  return star >= 0 && star < url.length - 1 ? "wildcard can only do suffix matching" : undefined;
}
