/** Access reviews (authorization.k8s.io), answered by the server's own authorizer. */
import { badRequest, invalid } from "../../../api/errors/api-error.ts";
import { FieldErrors } from "../../../api/errors/field-error.ts";
import type {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  SubjectAccessReviewStatus,
  SubjectRulesReviewStatus,
} from "../../../api/generated/types/authorization-v1.ts";
import type { AccessDecision, Authorizer, HeldRules } from "../../access/authz/authorizer.ts";
import type { Resource } from "../../objects/registry.ts";
import type { Call } from "../../request/call.ts";
import type { User } from "../../request/user.ts";
import type { Verb } from "../verb.ts";
import { accessQuestion, checkQuestion } from "./access-question.ts";
import type { AskedAccess } from "./access-question.ts";
import type { ReviewParts } from "./review.ts";
import { answered, readQuestion } from "./review.ts";
import { shownRules } from "./shown-rules.ts";

interface AccessReviewParts extends ReviewParts {
  /** Decides about access on behalf of other users. */
  readonly authorizer: Authorizer;
}

export const reviewOwnAccess: Verb<Resource> = async (call, verbParts: AccessReviewParts) => {
  const question = await readQuestion(call, verbParts);
  const { metadata, spec } = question.object as SelfSubjectAccessReview;
  const errors = new FieldErrors();
  checkQuestion(spec, errors);
  checkBare(metadata, "must be empty", errors);
  refuse(errors, call);
  return answered(question, await judge(spec, call.user, verbParts), call);
};

export const reviewAccess: Verb<Resource> = async (call, verbParts: AccessReviewParts) => {
  const question = await readQuestion(call, verbParts);
  const { metadata, spec } = question.object as SubjectAccessReview;
  const errors = new FieldErrors();
  checkQuestion(spec, errors);
  checkSubject(spec, errors);
  checkBare(metadata, "must be empty", errors);
  refuse(errors, call);
  return answered(question, await judge(spec, subjectOf(spec), verbParts), call);
};

export const reviewLocalAccess: Verb<Resource> = async (call, verbParts: AccessReviewParts) => {
  const question = await readQuestion(call, verbParts);
  const { metadata, spec } = question.object as LocalSubjectAccessReview;
  const { namespace } = call.info;
  if ((metadata.namespace ?? namespace) !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  const errors = new FieldErrors();
  checkQuestion(spec, errors);
  checkSubject(spec, errors);
  checkBare({ ...metadata, namespace: undefined }, "must be empty except for namespace", errors);
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
  return answered({ ...question, object }, await judge(spec, subjectOf(spec), verbParts), call);
};

export const reviewOwnRules: Verb<Resource> = async (call, verbParts: AccessReviewParts) => {
  const question = await readQuestion(call, verbParts);
  const { spec } = question.object as SelfSubjectRulesReview;
  const { namespace = "" } = spec;
  if (namespace === "") throw badRequest("no namespace on request");
  const held = verbParts.authorizer.rulesFor?.(call.user, namespace) ?? UNKNOWN;
  return answered(question, rulesStatus(shownRules(held)), call);
};

const UNKNOWN: HeldRules = { rules: [], isIncomplete: true, error: "no rules are known" };

function rulesStatus({ rules, isIncomplete, error }: HeldRules): SubjectRulesReviewStatus {
  const paths = rules.filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0);
  const resources = rules.filter(({ resources: names = [] }) => names.length > 0);
  return {
    incomplete: isIncomplete,
    resourceRules: resources.map(({ nonResourceURLs: _paths, ...rule }) => rule),
    nonResourceRules: paths.map(({ verbs, nonResourceURLs = [] }) => ({ verbs, nonResourceURLs })),
    ...(error !== undefined && { evaluationError: error }),
  };
}

/** The user that the review asks about. The server adds no groups: only those in the spec count. */
function subjectOf({ user = "", uid = "", groups = [], extra = {} }: SubjectAccessReview["spec"]): User {
  return { name: user, uid, groups, extra };
}

async function judge(
  asked: AskedAccess,
  user: User,
  { authorizer }: AccessReviewParts,
): Promise<SubjectAccessReviewStatus> {
  const { attributes, error } = accessQuestion(asked, user);
  return statusOf(await authorizer.decide(attributes), error);
}

function statusOf(
  { outcome, reason, error }: AccessDecision,
  unread: string | undefined,
): SubjectAccessReviewStatus {
  const errors = [unread, error].filter((text) => text !== undefined);
  return {
    allowed: outcome === "allowed",
    ...(outcome === "denied" && { denied: true }),
    ...(reason !== "" && { reason }),
    ...(errors.length > 0 && { evaluationError: errors.join(", ") }),
  };
}

function checkSubject({ user = "", groups = [] }: SubjectAccessReview["spec"], errors: FieldErrors): void {
  if (user === "" && groups.length === 0) {
    errors.invalid("spec.user", user, "at least one of user or group must be specified");
  }
}

/** Metadata must be empty: a review has no name and is not stored. */
function checkBare(metadata: object, detail: string, errors: FieldErrors): void {
  const { managedFields: _fields, ...others } = metadata as { readonly managedFields?: unknown };
  if (Object.values(others).some((value) => value !== undefined)) errors.invalid("metadata", others, detail);
}

function refuse(errors: FieldErrors, { resource }: Call): void {
  if (errors.isEmpty) return;
  throw invalid({ group: resource.facts.group, kind: resource.facts.kind }, "", errors.found);
}
