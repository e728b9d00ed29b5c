/** Builds the AdmissionReview for a webhook, and the variable `request` of match conditions, which has no objects. */
import type { JsonObject } from "../../../api/json/json-object.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { AdmittedResource } from "../../objects/registry.ts";
import type { AdmissionRequest } from "../plugin.ts";
import type { ReviewVersion } from "./hook.ts";

/** A request in the version that a webhook asks for. */
export interface ReviewSubject {
  readonly request: AdmissionRequest;
  /** The request's own resource, or an equivalent one. */
  readonly resource: AdmittedResource;
  /** In the version of `resource`; undefined for a DELETE. */
  readonly object: ApiObject | undefined;
  readonly oldObject: ApiObject | undefined;
}

export function reviewOf(subject: ReviewSubject, uid: string, version: ReviewVersion): JsonObject {
  const { object, oldObject, request } = subject;
  return {
    kind: "AdmissionReview",
    apiVersion: `admission.k8s.io/${version}`,
    request: {
      uid,
      ...attributesOf(subject),
      object: shown(object, request),
      oldObject: oldObject ?? null,
      dryRun: request.isDryRun,
      options: request.options?.() ?? null,
    },
  };
}

/** The options of a CONNECT have no metadata; see connect-object.ts. */
function shown(object: ApiObject | undefined, { operation }: AdmissionRequest): unknown {
  if (object === undefined || operation !== "CONNECT") return object ?? null;
  const { metadata: _, ...asked } = object;
  return asked;
}

/** Value of the variable `request` in match conditions. */
export function requestFacts(subject: ReviewSubject): JsonObject {
  const { isDryRun, options } = subject.request;
  return {
    ...attributesOf(subject),
    dryRun: isDryRun,
    ...(options !== undefined && { options: options() }),
  };
}

function attributesOf({ request, resource, object }: ReviewSubject): JsonObject {
  const { subresource, operation, user } = request;
  const name = nameOf(request, object);
  const namespace = namespaceOf(request, name);
  return {
    kind: kindOf(resource, subresource),
    resource: resourceOf(resource),
    ...(subresource !== "" && { subResource: subresource }),
    requestKind: kindOf(request.resource, subresource),
    requestResource: resourceOf(request.resource),
    ...(subresource !== "" && { requestSubResource: subresource }),
    ...(name !== "" && { name }),
    ...(namespace !== "" && { namespace }),
    operation,
    userInfo: {
      username: user.name,
      ...(user.uid !== "" && { uid: user.uid }),
      groups: user.groups,
      ...(Object.keys(user.extra).length > 0 && { extra: user.extra }),
    },
  };
}

/** A name that is still to be generated is left out. */
function nameOf({ operation, subresource, name }: AdmissionRequest, object: ApiObject | undefined): string {
  return operation === "CREATE" && subresource === "" ? (object?.metadata.name ?? "") : name;
}

/** Namespace of the request. A Namespace object counts as being in itself. */
export function namespaceOf({ resource, namespace }: AdmissionRequest, name: string): string {
  return isNamespace(resource) ? name : namespace;
}

export function isNamespace({ facts }: AdmittedResource): boolean {
  return facts.group === "" && facts.name === "namespaces";
}

/** Kind of the objects that the endpoint takes. */
function kindOf({ facts }: AdmittedResource, subresource: string): JsonObject {
  const below = facts.subresources.find(({ name }) => name === subresource);
  const { group, version, kind } = below ?? facts;
  return { group, version, kind };
}

function resourceOf({ facts }: AdmittedResource): JsonObject {
  return { group: facts.group, version: facts.version, resource: facts.name };
}
