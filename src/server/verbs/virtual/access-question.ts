/** Translates a review's spec into a question to the authorizer. */
import { fieldPath } from "../../../api/errors/field-error.ts";
import type { FieldErrors, FieldPath } from "../../../api/errors/field-error.ts";
import type {
  FieldSelectorAttributes,
  LabelSelectorAttributes,
  ResourceAttributes,
  SelfSubjectAccessReview,
} from "../../../api/generated/types/authorization-v1.ts";
import type { FieldSelectorRequirement } from "../../../api/generated/types/meta-v1.ts";
import { fieldSelectorText } from "../../../api/selectors/field-selector.ts";
import type { FieldTerm } from "../../../api/selectors/field-selector.ts";
import {
  compileLabelSelector,
  labelSelectorText,
  validateLabelRequirement,
  validateOperands,
} from "../../../api/selectors/label-selector.ts";
import { NOTHING_ASKED } from "../../access/authz/authorizer.ts";
import type { AccessAttributes } from "../../access/authz/authorizer.ts";
import { fieldTerms, labelTerms } from "../../request/selector-terms.ts";
import type { User } from "../../request/user.ts";

/** A request sets exactly one of the two. */
export type AskedAccess = Pick<
  SelfSubjectAccessReview["spec"],
  "nonResourceAttributes" | "resourceAttributes"
>;

interface AccessQuestion {
  readonly attributes: AccessAttributes;
  /** Error of a part that could not be parsed. That part counts as absent. */
  readonly error: string | undefined;
}

export function accessQuestion(
  { resourceAttributes, nonResourceAttributes = {} }: AskedAccess,
  user: User,
): AccessQuestion {
  if (resourceAttributes !== undefined) return resourceQuestion(resourceAttributes, user);
  const { path = "", verb = "" } = nonResourceAttributes;
  return { attributes: { ...NOTHING_ASKED, user, verb, path }, error: undefined };
}

function resourceQuestion(asked: ResourceAttributes, user: User): AccessQuestion {
  const { fieldSelector, labelSelector, ...place } = asked;
  const fields = fieldText(fieldSelector);
  const labels = labelText(labelSelector);
  const errors = [fields.error, labels.error].filter((text) => text !== undefined);
  return {
    attributes: {
      ...NOTHING_ASKED,
      ...place,
      user,
      verb: asked.verb ?? "",
      fieldSelector: fields.text,
      labelSelector: labels.text,
    },
    error: errors.length === 0 ? undefined : errors.join(", "),
  };
}

interface SelectorText {
  readonly text: string;
  readonly error?: string;
}

/** Upper bound of a selector's text. No real request has a longer one, since it must fit into the request head. */
const RAW_CHARS_MAX = 32 * 1024;

/** Omits a selector that cannot be parsed. An authorizer that considers selectors then allows less. */
function rawText(text: string, kind: "field" | "label", parse: (text: string) => unknown): SelectorText {
  if (text.length > RAW_CHARS_MAX)
    return { text: "", error: `the ${kind} selector is longer than ${String(RAW_CHARS_MAX)} characters` };
  if (parse(text) !== undefined) return { text };
  return { text: "", error: `couldn't parse the ${kind} selector ${JSON.stringify(text)}` };
}

function fieldText({ rawSelector = "", requirements = [] }: FieldSelectorAttributes = {}): SelectorText {
  if (rawSelector !== "") return rawText(rawSelector, "field", fieldTerms);
  const terms = requirements.map(fieldTerm);
  const text = fieldSelectorText({ terms: terms.filter((term) => typeof term !== "string") });
  const unknown = terms.filter((term) => typeof term === "string");
  if (unknown.length === 0) return { text };
  return { text, error: `field requirements not supported: ${unknown.join(", ")}` };
}

/** Returns a text when the requirement is not supported. */
function fieldTerm({ key, operator, values = [] }: FieldSelectorRequirement): FieldTerm | string {
  const [value] = values;
  if (value === undefined || values.length > 1) return `${key} ${operator}`;
  if (operator === "In") return { field: key, operator: "=", value };
  return operator === "NotIn" ? { field: key, operator: "!=", value } : `${key} ${operator}`;
}

function labelText({ rawSelector = "", requirements = [] }: LabelSelectorAttributes = {}): SelectorText {
  if (rawSelector !== "") return rawText(rawSelector, "label", labelTerms);
  try {
    return { text: labelSelectorText(compileLabelSelector({ matchExpressions: requirements })) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { text: "", error: error.message };
  }
}

export function checkQuestion(
  { resourceAttributes, nonResourceAttributes }: AskedAccess,
  errors: FieldErrors,
): void {
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    const detail = "cannot be specified in combination with resourceAttributes";
    errors.invalid("spec.nonResourceAttributes", nonResourceAttributes, detail);
  }
  if (resourceAttributes === undefined && nonResourceAttributes === undefined) {
    const detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    errors.invalid("spec.resourceAttributes", null, detail);
  }
  const { fieldSelector, labelSelector } = resourceAttributes ?? {};
  const path = fieldPath("spec", "resourceAttributes");
  checkSelector(fieldSelector, path.child("fieldSelector"), errors);
  for (const [i, requirement] of (fieldSelector?.requirements ?? []).entries())
    checkFieldRequirement(requirement, path.child("fieldSelector", "requirements").index(i), errors);
  checkSelector(labelSelector, path.child("labelSelector"), errors);
  for (const [i, requirement] of (labelSelector?.requirements ?? []).entries())
    validateLabelRequirement(requirement, path.child("labelSelector", "requirements").index(i), errors);
}

function checkFieldRequirement(
  requirement: FieldSelectorRequirement,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (requirement.key === "") errors.required(path.child("key"), "must be specified");
  validateOperands(requirement, path, errors);
}

function checkSelector(
  selector: FieldSelectorAttributes | LabelSelectorAttributes | undefined,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (selector === undefined) return;
  const { rawSelector = "", requirements = [] } = selector;
  if (rawSelector !== "" && requirements.length > 0) {
    errors.invalid(
      path.child("rawSelector"),
      rawSelector,
      "may not specified at the same time as requirements",
    );
  }
  if (rawSelector === "" && requirements.length === 0) {
    const detail = `when ${path.toString()} is specified, requirements or rawSelector is required`;
    errors.required(path.child("requirements"), detail);
  }
}
