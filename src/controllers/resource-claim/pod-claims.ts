/**
 * Creates the ResourceClaims that pods request by template, and records their names in the pods' status.
 *
 * Reads Pods, ResourceClaims and ResourceClaimTemplates. Creates claims with generated names that the pod controls; writes
 * `status.resourceClaimStatuses`. An annotation on the claim names the pod's request, so that a claim created before a crash is found
 * again.
 */
import type { Manifest } from "../../api/api-object.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import type { PodResourceClaim, PodResourceClaimStatus } from "../../api/generated/types/core-v1.ts";
import { ResourceClaim, ResourceClaimTemplate } from "../../api/generated/types/resource-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { errorText } from "../../base/error-text.ts";
import { isActive } from "../../resources/pod/pod-state.ts";
import { defineController, indexing, TerminalError, watching } from "../../runtime/controller/controller.ts";
import type { ReconcileContext } from "../../runtime/controller/controller.ts";
import { ownerReferenceTo } from "../../runtime/refs/owner-reference.ts";

/** Annotation with the name of the request in the pod's spec. */
const POD_CLAIM = "resource.kubernetes.io/pod-claim-name";
/** Index of pods by the claim templates they name. */
const BY_TEMPLATE = "claim-template";
/** Leaves room for a hyphen and five characters in a name of 63. */
const BASE_LENGTH_MAX = 57;

export const podClaimsController = defineController({
  name: "resource-claim-controller",
  for: Pod,
  owns: [ResourceClaim],
  indexes: [indexing(Pod, BY_TEMPLATE, templateKeysOf)],
  watches: [
    watching(ResourceClaimTemplate, ({ after }, cache) => {
      if (after === undefined) return [];
      const { namespace = "", name } = after.metadata;
      return cache(Pod)
        .indexed(BY_TEMPLATE, `${namespace}/${name}`)
        .map(({ metadata }) => ({ namespace, name: metadata.name }));
    }),
  ],
  when: ({ after }) => after !== undefined && templatedClaims(after).length > 0,
  reconcile,
});

async function reconcile(pod: Pod, context: ReconcileContext): Promise<void> {
  if (!isActive(pod)) return;
  const owned = context.cache(ResourceClaim).ownedBy(pod);
  const made = new Map<string, string>();
  let missing = false;
  for (const request of templatedClaims(pod)) {
    const claim = findClaim(pod, request, owned) ?? (await createClaim(pod, request, context));
    if (claim === undefined) missing = true;
    else made.set(request.name, claim.metadata.name);
  }
  await recordClaims(pod, made, context);
  // No retry is needed: the template's event triggers the pod.
  if (missing) throw new TerminalError("a resource claim template is missing");
}

/** The claim in the pod's status, else one created for this request. A claim that is being deleted stays the pod's until it is gone. */
function findClaim(
  { status }: Pod,
  { name }: PodResourceClaim,
  owned: readonly ResourceClaim[],
): ResourceClaim | undefined {
  const known = status.resourceClaimStatuses?.find((each) => each.name === name)?.resourceClaimName;
  return (
    owned.find(({ metadata }) => metadata.name === known) ??
    owned.find(({ metadata }) => metadata.annotations?.[POD_CLAIM] === name)
  );
}

/** Undefined if the template is missing. */
async function createClaim(
  pod: Pod,
  request: PodResourceClaim,
  { cache, client, event, signal }: ReconcileContext,
): Promise<ResourceClaim | undefined> {
  const { namespace = "" } = pod.metadata;
  const { resourceClaimTemplateName: name = "" } = request;
  const fail = (message: string): void =>
    event(pod, {
      type: "Warning",
      reason: "FailedResourceClaimCreation",
      message: `PodResourceClaim ${request.name}: ${message}`,
    });
  const template = cache(ResourceClaimTemplate).find({ namespace, name });
  if (template === undefined) {
    fail(
      `resource claim template ${JSON.stringify(name)}: resourceclaimtemplate.resource.k8s.io ${JSON.stringify(name)} not found`,
    );
    return undefined;
  }
  try {
    return await client(ResourceClaim).create(claimManifest(pod, request, template));
  } catch (error) {
    if (!signal.aborted) fail(errorText(error));
    throw error;
  }
}

function claimManifest(
  pod: Pod,
  request: PodResourceClaim,
  { spec: { metadata, spec } }: ResourceClaimTemplate,
): Manifest<ResourceClaim> {
  const { labels, annotations } = metadata;
  return {
    metadata: {
      generateName: baseName(pod.metadata.name, request.name),
      namespace: pod.metadata.namespace ?? "",
      ...(labels !== undefined && { labels }),
      annotations: { ...annotations, [POD_CLAIM]: request.name },
      ownerReferences: [ownerReferenceTo(pod)],
    },
    spec,
  };
}

/** Shortens both names in proportion if they are too long together. */
export function baseName(pod: string, claim: string): string {
  const whole = `${pod}-${claim}-`;
  if (whole.length <= BASE_LENGTH_MAX) return whole;
  const shortened = (name: string): string =>
    name.slice(0, Math.floor((name.length * BASE_LENGTH_MAX) / whole.length));
  return `${shortened(pod)}-${shortened(claim)}`;
}

async function recordClaims(
  pod: Pod,
  made: ReadonlyMap<string, string>,
  { client }: ReconcileContext,
): Promise<void> {
  const known = pod.status.resourceClaimStatuses ?? [];
  const statuses = (pod.spec.resourceClaims ?? []).flatMap(({ name }): PodResourceClaimStatus[] => {
    const claim = made.get(name);
    if (claim !== undefined) return [{ name, resourceClaimName: claim }];
    return known.filter((status) => status.name === name);
  });
  if (jsonEqual(statuses, known)) return;
  const changes = { metadata: { uid: pod.metadata.uid }, status: { resourceClaimStatuses: statuses } };
  await client(Pod).patch(pod, { type: "merge", changes }, { subresource: "status" });
}

const NONE: readonly PodResourceClaim[] = [];

function templatedClaims({ spec }: Pod): readonly PodResourceClaim[] {
  return spec.resourceClaims?.filter((request) => request.resourceClaimTemplateName !== undefined) ?? NONE;
}

function templateKeysOf(pod: Pod): readonly string[] {
  const { namespace = "" } = pod.metadata;
  return templatedClaims(pod).map(
    ({ resourceClaimTemplateName = "" }) => `${namespace}/${resourceClaimTemplateName}`,
  );
}
