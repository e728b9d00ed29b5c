/** Converts an access question to the spec of a SubjectAccessReview, for webhooks and match conditions. */
import { listOf, mapOf, STRING } from "../../../../api/cel/type.ts";
import type { SubjectAccessReviewSpec } from "../../../../api/generated/types/authorization-v1.ts";
import type { FieldTerm } from "../../../../api/selectors/field-selector.ts";
import type { LabelRequirement } from "../../../../api/selectors/label-requirement.ts";
import { recordType } from "../../../../resources/admission/match-condition.ts";
import { fieldTerms, labelTerms } from "../../../request/selector-terms.ts";
import type { AccessAttributes } from "../authorizer.ts";

/** Omits empty strings, as Go does. */
export function accessSpec(attributes: AccessAttributes): SubjectAccessReviewSpec {
  const { user, verb, path, resource } = attributes;
  const { name, uid, groups, extra } = user;
  const who = {
    ...filled({ user: name, uid }),
    ...(groups.length > 0 && { groups }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
  if (resource === "") return { ...who, nonResourceAttributes: filled({ path, verb }) };
  const { group, version, subresource, namespace, fieldSelector, labelSelector } = attributes;
  const fields = (fieldTerms(fieldSelector) ?? []).map(fieldRequirement);
  const labels = (labelTerms(labelSelector) ?? []).flatMap(labelRequirement);
  return {
    ...who,
    resourceAttributes: {
      ...filled({ namespace, verb, group, version, resource, subresource, name: attributes.name }),
      ...(fields.length > 0 && { fieldSelector: { requirements: fields } }),
      ...(labels.length > 0 && { labelSelector: { requirements: labels } }),
    },
  };
}

function filled(texts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ""));
}

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

function fieldRequirement({ field, operator, value }: FieldTerm): Requirement {
  return { key: field, operator: operator === "=" ? "In" : "NotIn", values: [value] };
}

/** SubjectAccessReview has no operator for numeric comparisons. */
function labelRequirement({ key, operator, values }: LabelRequirement): readonly Requirement[] {
  switch (operator) {
    case "=":
    case "==":
    case "in":
      return [{ key, operator: "In", values }];
    case "!=":
    case "notin":
      return [{ key, operator: "NotIn", values }];
    case "exists":
      return [{ key, operator: "Exists" }];
    case "!":
      return [{ key, operator: "DoesNotExist" }];
    case "gt":
    case "lt":
      return [];
  }
}

const REQUIREMENTS = listOf(
  recordType("kubernetes.SelectorRequirement", { key: STRING, operator: STRING, values: listOf(STRING) }),
);
const SELECTOR = recordType("kubernetes.SelectorAttributes", {
  rawSelector: STRING,
  requirements: REQUIREMENTS,
});

/** The type of `request` in the conditions of an authorization webhook. */
export const ACCESS_SPEC_TYPE = recordType("kubernetes.SubjectAccessReviewSpec", {
  user: STRING,
  uid: STRING,
  groups: listOf(STRING),
  extra: mapOf(STRING, listOf(STRING)),
  resourceAttributes: recordType("kubernetes.ResourceAttributes", {
    namespace: STRING,
    verb: STRING,
    group: STRING,
    version: STRING,
    resource: STRING,
    subresource: STRING,
    name: STRING,
    fieldSelector: SELECTOR,
    labelSelector: SELECTOR,
  }),
  nonResourceAttributes: recordType("kubernetes.NonResourceAttributes", { path: STRING, verb: STRING }),
});
