/**
 * OwnerReferencesPermissionEnforcement. An owner reference lets the garbage collector delete the object, and may
 * block the deletion of the owner. A change requires the permissions for both.
 */
import type { OwnerReference } from "../../../../api/generated/types/meta-v1.ts";
import { jsonEqual } from "../../../../api/patch/json-equal.ts";
import type { ResourceFacts } from "../../../../api/schema/resource-facts.ts";
import { apiVersionOf } from "../../../../api/schema/resource-facts.ts";
import type { ApiObject } from "../../../../resources/rules/kind-rules.ts";
import type { AccessAttributes, Authorizer } from "../../../access/authz/authorizer.ts";
import type { Registry } from "../../../objects/registry.ts";
import { isAllowed, question } from "../../permission.ts";
import { definePlugin } from "../../plugin.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../../plugin.ts";
import { refusal } from "../../refusal.ts";

/** A required permission, and the error text if it is missing. */
interface Demand {
  readonly attributes: AccessAttributes;
  readonly why: string;
}

export function ownerReferencesPermissionEnforcement(
  authorizer: Authorizer,
  registry: Registry,
): AdmissionPlugin {
  return definePlugin({
    name: "OwnerReferencesPermissionEnforcement",
    interests: [{ resources: "all", operations: ["CREATE", "UPDATE"] }],

    validateLater(object, request) {
      if (object === undefined || isKept(object, request)) return undefined;
      return enforce(object, request, { authorizer, registry });
    },
  });
}

function ownersOf(object: ApiObject | undefined): readonly OwnerReference[] {
  return object?.metadata.ownerReferences ?? [];
}

/** Status writes of pods cannot change owners. */
function isKept(object: ApiObject, { previous, resource, subresource }: AdmissionRequest): boolean {
  const isPodStatus =
    resource.facts.name === "pods" && resource.facts.group === "" && subresource === "status";
  return isPodStatus || jsonEqual(ownersOf(object), ownersOf(previous));
}

/** A create requires no delete permission. */
function deletionDemand(request: AdmissionRequest): readonly Demand[] {
  if (request.operation === "CREATE") return [];
  const { user, namespace, name, subresource, resource } = request;
  const { group, version, name: plural } = resource.facts;
  const place = { verb: "delete", group, version, resource: plural, subresource, namespace, name };
  return [
    {
      attributes: question(user, place),
      why: "cannot set an ownerRef on a resource you can't delete",
    },
  ];
}

function blockingDemands(
  object: ApiObject,
  request: AdmissionRequest,
  registry: Registry,
): readonly Demand[] {
  const before = new Map(ownersOf(request.previous).map((owner) => [owner.uid, owner]));
  const blocking = ownersOf(object).filter(
    ({ uid, blockOwnerDeletion }) =>
      blockOwnerDeletion === true && before.get(uid)?.blockOwnerDeletion !== true,
  );
  return blocking.map((owner) => finalizersDemand(owner, request, registry));
}

function finalizersDemand(owner: OwnerReference, request: AdmissionRequest, registry: Registry): Demand {
  const facts = factsOf(owner, registry);
  if (facts === undefined) {
    const { apiVersion, kind } = owner;
    const cause = `no matches for kind "${kind}" in version "${apiVersion}"`;
    throw refusal(
      request,
      `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: ${cause}`,
    );
  }
  const { group, version, name: resource, namespaced } = facts;
  const namespace = namespaced ? request.namespace : "";
  const place = { verb: "update", group, version, resource, subresource: "finalizers", namespace };
  return {
    attributes: question(request.user, { ...place, name: owner.name }),
    why: "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on",
  };
}

function factsOf({ apiVersion, kind }: OwnerReference, registry: Registry): ResourceFacts | undefined {
  const version = registry.groupVersions.find((each) => apiVersionOf(each) === apiVersion);
  return version?.resources.find((facts) => facts.kind === kind && facts.storage !== undefined);
}

/** Asks the authorizer in sequence and refuses with the first missing permission. */
async function enforce(
  object: ApiObject,
  request: AdmissionRequest,
  { authorizer, registry }: { readonly authorizer: Authorizer; readonly registry: Registry },
): Promise<void> {
  const demands = [...deletionDemand(request), ...blockingDemands(object, request, registry)];
  for (const { attributes, why } of demands) {
    const decision = await authorizer.decide(attributes);
    const { reason, error = "<nil>" } = decision;
    if (!isAllowed(decision)) throw refusal(request, `${why}: ${reason}, ${error}`);
  }
}
