/** Variables of expressions about a request, in the version that a policy matched. */
import { jsonToValue } from "../../../api/cel/cel-json-value.ts";
import type { Bindings } from "../../../api/cel/program.ts";
import type { Namespace } from "../../../api/generated/types/core-v1.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { NAMESPACE_TYPE } from "../../../resources/admission/policy-environment.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { AdmittedResource } from "../../objects/registry.ts";
import type { Versions } from "../../objects/versions.ts";
import { type DeciderFor, requestBindings } from "../webhook/hook-match.ts";
import { namespaceOf, type Subject } from "./match.ts";
import { ConfigurationError } from "./params.ts";

export interface ValueParts {
  readonly versions: Versions;
  readonly deciderFor: DeciderFor;
}

/** Requires `subject` in the version of `resource`. */
export function policyBindings(
  subject: Subject,
  resource: AdmittedResource,
  { deciderFor }: ValueParts,
): Bindings {
  return {
    ...requestBindings({ ...subject, resource }, deciderFor),
    namespaceObject: jsonToValue(NAMESPACE_TYPE, namespaceFacts(namespaceOf(subject.request))),
  };
}

/**
 * The subject with its objects converted to the version of `resource`. Throws a ConfigurationError if that is
 * impossible.
 */
export function subjectAs(subject: Subject, resource: AdmittedResource, versions: Versions): Subject {
  const { request, object, oldObject } = subject;
  if (resource.apiVersion === request.resource.apiVersion) return subject;
  const convert = (it: ApiObject | undefined): ApiObject | undefined =>
    it === undefined ? undefined : converted(it, { from: request.resource, to: resource }, versions);
  return { request, object: convert(object), oldObject: convert(oldObject) };
}

export interface VersionChange {
  readonly from: AdmittedResource;
  readonly to: AdmittedResource;
}

/** An object of another kind, sent to a subresource, has only one version. */
export function converted(object: ApiObject, { from, to }: VersionChange, versions: Versions): ApiObject {
  if (object.apiVersion !== from.apiVersion || object.kind !== from.facts.kind) return object;
  if (from.apiVersion === to.apiVersion) return object;
  if (from.custom?.webhook !== undefined)
    throw new ConfigurationError(
      `failed to convert object version: only a webhook can make ${to.apiVersion} of ${from.apiVersion}`,
    );
  if (from.custom !== undefined && to.custom !== undefined)
    return to.custom.served(from.custom.stored(object));
  const change = { kind: to.facts.kind, from: from.apiVersion, to: to.apiVersion };
  return versions.between(object, change) as ApiObject;
}

function namespaceFacts(namespace: Namespace | undefined): JsonObject | null {
  if (namespace === undefined) return null;
  const { metadata, spec, status } = namespace;
  const { name, labels, annotations, uid, creationTimestamp, deletionTimestamp, finalizers } = metadata;
  const { resourceVersion, generation, deletionGracePeriodSeconds } = metadata;
  return withoutAbsent({
    metadata: withoutAbsent({
      name,
      labels,
      annotations,
      UID: uid,
      creationTimestamp,
      deletionTimestamp,
      deletionGracePeriodSeconds,
      generation,
      resourceVersion,
      finalizers,
    }),
    spec: withoutAbsent({ finalizers: spec.finalizers }),
    status: withoutAbsent({ phase: status.phase }),
  });
}

function withoutAbsent(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
