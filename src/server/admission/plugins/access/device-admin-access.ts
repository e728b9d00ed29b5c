/**
 * Devices that others use may be had besides them only where the namespace says that its users are trusted with it. No plugin upstream but part of the
 * rules of claims, so it has no name to be turned off by.
 */
import { invalid } from "../../../../api/errors/api-error.ts";
import { FieldErrors, type FieldPath, fieldPath } from "../../../../api/errors/field-error.ts";
import type { Namespace } from "../../../../api/generated/types/core-v1.ts";
import type { ResourceClaim, ResourceClaimTemplate } from "../../../../api/generated/types/resource-v1.ts";
import type { DeviceRequest as OldRequest } from "../../../../api/generated/types/resource-v1beta1.ts";
import { shelf } from "../../../objects/lister.ts";
import { definePlugin } from "../../plugin.ts";
import type { AdmissionRequest } from "../../plugin.ts";

const NAMESPACES = shelf<Namespace>("namespaces");
const LABEL = "resource.kubernetes.io/admin-access";
const CLAIMS = "resourceclaims.resource.k8s.io";
const TEMPLATES = "resourceclaimtemplates.resource.k8s.io";

export const deviceAdminAccess = definePlugin<ResourceClaim | ResourceClaimTemplate>({
  name: "DeviceAdminAccess",
  interests: [
    // What is asked for does not change later.
    { resources: [CLAIMS, TEMPLATES], operations: ["CREATE"] },
    { resources: [`${CLAIMS}/status`], operations: ["UPDATE"] },
  ],

  validate(object, request) {
    const path = request.subresource === "status" ? findGrant(object, request) : findWish(object);
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

/** Where a claim or a template asks for it; upstream names the same field for both. */
function findWish({ spec }: ResourceClaim | ResourceClaimTemplate): FieldPath | undefined {
  const { requests } = "spec" in spec ? spec.spec.devices : spec.devices;
  const i = requests.findIndex(
    // In v1beta1 it stands in the request itself.
    (request) =>
      request.exactly?.adminAccess === true || (request as Partial<OldRequest>).adminAccess === true,
  );
  return i < 0 ? undefined : fieldPath("spec", "devices", "requests").index(i).child("adminAccess");
}

/** Where it is given to a claim that had it not. */
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
