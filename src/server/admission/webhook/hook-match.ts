/**
 * Decides whether a webhook with matching rules is called: by namespace and object labels, then by match conditions.
 */
import { jsonToValue } from "../../../api/cel/cel-json-value.ts";
import { authorizerValue, resourceCheckValue } from "../../../api/cel/library/authorizer-library.ts";
import type { AccessDecider } from "../../../api/cel/library/authorizer-library.ts";
import type { Bindings } from "../../../api/cel/program.ts";
import { DYN } from "../../../api/cel/type.ts";
import { notFound } from "../../../api/errors/api-error.ts";
import type { Namespace } from "../../../api/generated/types/core-v1.ts";
import type { Labels } from "../../../api/selectors/label-requirement.ts";
import { labelsMatch } from "../../../api/selectors/label-selector.ts";
import type { LabelSelector } from "../../../api/selectors/label-selector.ts";
import { REQUEST_TYPE } from "../../../resources/admission/match-condition.ts";
import type { ApiObject, Requester } from "../../../resources/rules/kind-rules.ts";
import { kindPrefix } from "../../objects/lister.ts";
import type { AdmissionRequest } from "../plugin.ts";
import { refusal } from "../refusal.ts";
import type { Hook } from "./hook.ts";
import type { ConditionsOutcome } from "./match-conditions.ts";
import { isNamespace, namespaceOf, requestFacts } from "./review.ts";
import type { ReviewSubject } from "./review.ts";

const NAMESPACES = kindPrefix<Namespace>("namespaces");

/** Creates the authorizer that CEL expressions of a request see. */
export type DeciderFor = (user: Requester) => AccessDecider;

/** `object` may be in any version, because labels are the same in all. Throws if the namespace does not exist. */
export function isSelected(
  { namespaceSelector, objectSelector }: Pick<Hook, "namespaceSelector" | "objectSelector">,
  object: ApiObject | undefined,
  request: AdmissionRequest,
): boolean {
  if (!selectsObject(objectSelector, object) && !selectsObject(objectSelector, request.previous))
    return false;
  return selectsNamespace(namespaceSelector, object, request);
}

/** A selector without requirements matches even a request without an object. */
function selectsObject(selector: LabelSelector, object: ApiObject | undefined): boolean {
  if (selector.requirements.length === 0) return true;
  const labels = object === undefined ? undefined : (object.metadata.labels ?? {});
  return labels !== undefined && labelsMatch(selector, labels);
}

/** A cluster-scoped object is never excluded by a namespace selector. */
function selectsNamespace(
  selector: LabelSelector,
  object: ApiObject | undefined,
  request: AdmissionRequest,
): boolean {
  const namespace = namespaceOf(request, request.name);
  if (selector.requirements.length === 0 || (namespace === "" && !isNamespace(request.resource))) return true;
  return labelsMatch(selector, namespaceLabels(namespace, object, request));
}

/** A namespace that is being written is matched by its new labels. */
function namespaceLabels(
  namespace: string,
  object: ApiObject | undefined,
  { resource, subresource, operation, memory }: AdmissionRequest,
): Labels {
  const isWritten = operation === "CREATE" || operation === "UPDATE";
  if (isNamespace(resource) && subresource === "" && isWritten) return object?.metadata.labels ?? {};
  const found = memory.find(NAMESPACES, namespace);
  if (found === undefined) throw notFound({ group: "", resource: "namespaces" }, namespace);
  return found.metadata.labels ?? {};
}

const MET: ConditionsOutcome = { outcome: "met" };

export function conditionsOutcome(
  { conditions }: Hook,
  subject: ReviewSubject,
  deciderFor: DeciderFor,
): ConditionsOutcome {
  if (conditions === undefined) return MET;
  return conditions.evaluate(requestBindings(subject, deciderFor), subject.request.resource.facts.kind);
}

/** If conditions cannot be evaluated, the request is refused. */
export function undecided(request: AdmissionRequest, why: string): Error {
  return refusal(request, why);
}

export function requestBindings(subject: ReviewSubject, deciderFor: DeciderFor): Bindings {
  const { request, object, oldObject } = subject;
  const { resource, subresource, name } = request;
  const decider = deciderFor(request.user);
  const place = {
    group: resource.facts.group,
    resource: resource.facts.name,
    subresource,
    namespace: namespaceOf(request, name),
    name,
  };
  return {
    object: jsonToValue(DYN, object),
    oldObject: jsonToValue(DYN, oldObject),
    request: jsonToValue(REQUEST_TYPE, requestFacts(subject)),
    authorizer: authorizerValue(decider),
    "authorizer.requestResource": resourceCheckValue(decider, place),
  };
}
