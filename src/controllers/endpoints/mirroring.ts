/**
 * Gives Endpoints that somebody wrote by hand, for a Service without selector, EndpointSlices that say the same.
 *
 * Reads Endpoints and Services; writes the EndpointSlices that it manages, owned by the Endpoints.
 */
import { Endpoints, Service } from "../../api/generated/types/core-v1.ts";
import type { EndpointAddress, EndpointSubset } from "../../api/generated/types/core-v1.ts";
import { EndpointSlice } from "../../api/generated/types/discovery-v1.ts";
import type { Endpoint } from "../../api/generated/types/discovery-v1.ts";
import { findIpAddress } from "../../api/ip-address.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { defineController, watching } from "../../runtime/controller.ts";
import type { CacheReader, Outcome, ReconcileContext } from "../../runtime/controller.ts";
import { ownerReferenceTo } from "../../runtime/owner-reference.ts";
import { createUnlessEnding } from "../ending-namespace.ts";
import { MANAGED_BY, SERVICE_NAME } from "./endpoint-slice.ts";
import { planSlices } from "./plan-slices.ts";
import type { EndpointGroup } from "./plan-slices.ts";

const MANAGER = "endpointslicemirroring-controller.k8s.io";
const SKIP = "endpointslice.kubernetes.io/skip-mirror";
/** Endpoints that are only somebody's lock. */
const LEADER = "control-plane.alpha.kubernetes.io/leader";
const NOT_COPIED: ReadonlySet<string> = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  "endpoints.kubernetes.io/last-change-trigger-time",
]);
/** As upstream's; what goes beyond is left out. */
const ADDRESSES_MAX = 1000;

export const endpointSliceMirroringController = defineController({
  name: "endpoint-slice-mirroring-controller",
  for: Endpoints,
  owns: [EndpointSlice],
  watches: [
    watching(Service, function* ({ before, after }) {
      const { namespace, name } = (after ?? before)?.metadata ?? { name: "" };
      yield { namespace, name };
    }),
  ],
  reconcile,
});

async function reconcile(endpoints: Endpoints, { cache, client }: ReconcileContext): Promise<Outcome> {
  const slices = cache(EndpointSlice)
    .ownedBy(endpoints)
    .filter(({ metadata }) => metadata.labels?.[MANAGED_BY] === MANAGER);
  const groups = isMirrored(endpoints, cache) ? groupsOf(endpoints) : [];
  const plan = planSlices(groups, slices);
  const { name, namespace } = endpoints.metadata;
  const metadata = copiedMetadata(endpoints);
  const updates = new Map(plan.updates.map(({ slice, endpoints: next }) => [slice, next]));
  const kept = slices.filter((slice) => !plan.deletes.includes(slice));
  const outdated = kept.filter((slice) => updates.has(slice) || !hasMetadata(slice, metadata));
  await Promise.all([
    ...plan.creates.map((group) =>
      createUnlessEnding(
        client(EndpointSlice).create({
          ...group,
          metadata: {
            generateName: `${name}-`,
            ...(namespace !== undefined && { namespace }),
            ...metadata,
            ownerReferences: [ownerReferenceTo(endpoints)],
          },
        }),
      ),
    ),
    ...outdated.map((slice) =>
      client(EndpointSlice).update({
        ...slice,
        metadata: { ...slice.metadata, ...metadata },
        endpoints: updates.get(slice) ?? slice.endpoints,
      }),
    ),
    ...plan.deletes.map((slice) => client(EndpointSlice).delete(slice)),
  ]);
}

function isMirrored({ metadata }: Endpoints, cache: CacheReader): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  if (metadata.labels?.[SKIP] === "true" || metadata.annotations?.[LEADER] !== undefined) return false;
  const service = cache(Service).find({ namespace: metadata.namespace, name: metadata.name });
  return service !== undefined && service.spec.selector === undefined;
}

type SliceMetadata = Required<Pick<EndpointSlice["metadata"], "labels" | "annotations">>;

function copiedMetadata({ metadata: { labels = {}, annotations = {}, name } }: Endpoints): SliceMetadata {
  const copied = Object.entries(annotations).filter(([key]) => !NOT_COPIED.has(key));
  return {
    labels: { ...labels, [SERVICE_NAME]: name, [MANAGED_BY]: MANAGER },
    annotations: Object.fromEntries(copied),
  };
}

function hasMetadata({ metadata }: EndpointSlice, { labels, annotations }: SliceMetadata): boolean {
  return jsonEqual(metadata.labels, labels) && jsonEqual(metadata.annotations ?? {}, annotations);
}

/** One for each subset and family; subsets without addresses say nothing. */
function groupsOf({ subsets = [] }: Endpoints): readonly EndpointGroup[] {
  const groups = subsets.flatMap((subset) =>
    (["IPv4", "IPv6"] as const).flatMap((family) => {
      const endpoints = endpointsOf(subset, family);
      const ports = (subset.ports ?? []).map((port) => ({ ...port, name: port.name ?? "" }));
      return endpoints.length === 0 ? [] : [{ addressType: family, ports, endpoints }];
    }),
  );
  return groups.map((group) => ({ ...group, endpoints: group.endpoints.slice(0, ADDRESSES_MAX) }));
}

function endpointsOf(
  { addresses = [], notReadyAddresses = [] }: EndpointSubset,
  family: "IPv4" | "IPv6",
): readonly Endpoint[] {
  const isOfFamily = ({ ip }: EndpointAddress): boolean => findIpAddress(ip)?.family === family;
  return [
    ...addresses.filter(isOfFamily).map((address) => endpointOf(address, true)),
    ...notReadyAddresses.filter(isOfFamily).map((address) => endpointOf(address, false)),
  ];
}

function endpointOf({ ip, hostname, nodeName, targetRef }: EndpointAddress, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname !== undefined && { hostname }),
    ...(nodeName !== undefined && { nodeName }),
    ...(targetRef !== undefined && { targetRef }),
  };
}
