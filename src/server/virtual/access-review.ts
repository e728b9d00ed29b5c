/**
 * Who may do what (authorization.k8s.io). Until there are roles, everybody who holds a certificate of this cluster may do
 * everything, and the answers say so.
 */
import { badRequest, invalid } from "../../api/api-error.ts";
import { FieldErrors } from "../../api/field-error.ts";
import type {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  SubjectAccessReviewStatus,
} from "../../api/generated/types/authorization-v1.ts";
import type { Call, Verb } from "../call.ts";
import type { Resource } from "../registry.ts";
import { answered, readQuestion } from "./review.ts";

const REASON = "a holder of a certificate of this cluster may do everything";

/** What can be asked about: exactly one of the two. */
type Attributes = Pick<SelfSubjectAccessReview["spec"], "nonResourceAttributes" | "resourceAttributes">;

export const reviewOwnAccess: Verb<Resource> = async (call) => {
  const question = await readQuestion(call);
  const errors = new FieldErrors();
  checkAttributes((question.object as SelfSubjectAccessReview).spec, errors);
  refuse(errors, call);
  return answered(question, judge(call.user.name, call.user.groups), call);
};

export const reviewAccess: Verb<Resource> = async (call) => {
  const question = await readQuestion(call);
  const { spec } = question.object as SubjectAccessReview;
  const errors = new FieldErrors();
  checkAttributes(spec, errors);
  checkSubject(spec, errors);
  refuse(errors, call);
  return answered(question, judge(spec.user ?? "", spec.groups ?? []), call);
};

export const reviewLocalAccess: Verb<Resource> = async (call) => {
  const question = await readQuestion(call);
  const { metadata, spec } = question.object as LocalSubjectAccessReview;
  const { namespace } = call.info;
  if ((metadata.namespace ?? namespace) !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  const errors = new FieldErrors();
  checkAttributes(spec, errors);
  checkSubject(spec, errors);
  const { resourceAttributes, nonResourceAttributes } = spec;
  if (resourceAttributes !== undefined && (resourceAttributes.namespace ?? "") !== namespace) {
    const asked = resourceAttributes.namespace ?? "";
    errors.invalid("spec.resourceAttributes.namespace", asked, "must match metadata.namespace");
  }
  if (nonResourceAttributes !== undefined) {
    const detail = "disallowed on this kind of request";
    errors.invalid("spec.nonResourceAttributes", nonResourceAttributes, detail);
  }
  refuse(errors, call);
  const object = { ...question.object, metadata: { ...metadata, namespace } };
  return answered({ ...question, object }, judge(spec.user ?? "", spec.groups ?? []), call);
};

export const reviewOwnRules: Verb<Resource> = async (call) => {
  const question = await readQuestion(call);
  const { spec } = question.object as SelfSubjectRulesReview;
  if ((spec.namespace ?? "") === "") throw badRequest("no namespace on request");
  const { allowed } = judge(call.user.name, call.user.groups);
  const status = {
    incomplete: false,
    resourceRules: allowed ? [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }] : [],
    nonResourceRules: allowed ? [{ verbs: ["*"], nonResourceURLs: ["*"] }] : [],
  };
  return answered(question, status, call);
};

function judge(user: string, groups: readonly string[]): SubjectAccessReviewStatus {
  const isKnown = user !== "system:anonymous" && !groups.includes("system:unauthenticated");
  return isKnown ? { allowed: true, reason: REASON } : { allowed: false };
}

function checkAttributes(
  { resourceAttributes, nonResourceAttributes }: Attributes,
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
}

function checkSubject({ user = "", groups = [] }: SubjectAccessReview["spec"], errors: FieldErrors): void {
  if (user === "" && groups.length === 0) {
    errors.invalid("spec.user", user, "at least one of user or group must be specified");
  }
}

function refuse(errors: FieldErrors, { resource }: Call): void {
  if (errors.isEmpty) return;
  throw invalid({ group: resource.facts.group, kind: resource.facts.kind }, "", errors.found);
}
