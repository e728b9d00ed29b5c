/**
 * Allows admin access to devices in use only in namespaces with the label `resource.kubernetes.io/admin-access`. In
 * upstream this is a rule of claims and not a plugin, so no option disables it.
 */
import { invalid } from "../../../../api/errors/api-error.ts";
import { FieldErrors, type FieldPath, fieldPath } from "../../../../api/errors/field-error.ts";
import type { Namespace } from "../../../../api/generated/types/core-v1.ts";
import type { ResourceClaim, ResourceClaimTemplate } from "../../../../api/generated/types/resource-v1.ts";
import type { DeviceRequest as OldRequest } from "../../../../api/generated/types/resource-v1beta1.ts";
import { kindPrefix } from "../../../objects/lister.ts";
import { definePlugin } from "../../plugin.ts";
import type { AdmissionRequest } from "../../plugin.ts";

const NAMESPACES = kindPrefix<Namespace>("namespaces");
const LABEL = "resource.kubernetes.io/admin-access";
const CLAIMS = "resourceclaims.resource.k8s.io";
const TEMPLATES = "resourceclaimtemplates.resource.k8s.io";

export const deviceAdminAccess = definePlugin<ResourceClaim | ResourceClaimTemplate>({
  name: "DeviceAdminAccess",
  interests: [
    // The spec is immutable, so updates need no check.
    { resources: [CLAIMS, TEMPLATES], operations: ["CREATE"] },
    { resources: [`${CLAIMS}/status`], operations: ["UPDATE"] },
  ],

  validate(object, request) {
    const path = request.subresource === "status" ? findGrant(object, request) : findAdminRequest(object);
    if (path === undefined) return;
    const { labels = {} } = request.memory.find(NAMESPACES, request.namespace)?.metadata ?? {};
    if (labels[LABEL] === "true") return;
    const errors = new FieldErrors();
    errors.forbidden(
      path,
      `admin access to devices requires the \`${LABEL}: true\` label on the containing namespace`,
    );
    const { group, kind } = request.resource.facts;
    throw invalid({ group, kind }, request.name, errors.found);
  },
});

/** Field in which a claim or a template requests admin access. Upstream names the same field for both. */
function findAdminRequest({ spec }: ResourceClaim | ResourceClaimTemplate): FieldPath | undefined {
  const { requests } = "spec" in spec ? spec.spec.devices : spec.devices;
  const i = requests.findIndex(
    // In v1beta1 the field is in the request itself.
    (request) =>
      request.exactly?.adminAccess === true || (request as Partial<OldRequest>).adminAccess === true,
  );
  return i < 0 ? undefined : fieldPath("spec", "devices", "requests").index(i).child("adminAccess");
}

/** Field that grants admin access to a claim that did not have it. */
function findGrant(
  object: ResourceClaim | ResourceClaimTemplate,
  { previous }: AdmissionRequest,
): FieldPath | undefined {
  if (grantIndex(previous as ResourceClaim | undefined) >= 0) return undefined;
  const i = grantIndex(object as ResourceClaim);
  if (i < 0) return undefined;
  return fieldPath("status", "allocation", "devices", "results").index(i).child("adminAccess");
}

function grantIndex(claim: ResourceClaim | undefined): number {
  return (claim?.status.allocation?.devices.results ?? []).findIndex(
    ({ adminAccess }) => adminAccess === true,
  );
}
