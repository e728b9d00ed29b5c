/**
 * Copies hand-written Endpoints of Services without a selector to EndpointSlices.
 *
 * Reads Endpoints and Services; writes the EndpointSlices that it manages, owned by the Endpoints.
 */
import { Endpoints, Service } from "../../api/generated/types/core-v1.ts";
import type { EndpointAddress, EndpointSubset } from "../../api/generated/types/core-v1.ts";
import { EndpointSlice } from "../../api/generated/types/discovery-v1.ts";
import type { Endpoint } from "../../api/generated/types/discovery-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { findIpAddress } from "../../api/values/ip-address.ts";
import { defineController, watching } from "../../runtime/controller/controller.ts";
import type { CacheReader, Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import type { RecordedEvent } from "../../runtime/events/recorded-event.ts";
import { ownerReferenceTo } from "../../runtime/refs/owner-reference.ts";
import { createUnlessTerminating } from "../terminating-namespace.ts";
import { MANAGED_BY, SERVICE_NAME } from "./endpoint-slice.ts";
import { planSlices } from "./plan-slices.ts";
import type { EndpointGroup } from "./plan-slices.ts";

const MANAGER = "endpointslicemirroring-controller.k8s.io";
const SKIP = "endpointslice.kubernetes.io/skip-mirror";
/** Marks Endpoints that serve only as a leader election lock. */
const LEADER = "control-plane.alpha.kubernetes.io/leader";
const NOT_COPIED: ReadonlySet<string> = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  "endpoints.kubernetes.io/last-change-trigger-time",
]);
/** Upper bound of addresses per subset, as upstream's; further addresses are left out. */
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

async function reconcile(endpoints: Endpoints, context: ReconcileContext): Promise<Outcome> {
  const { cache, client } = context;
  const slices = cache(EndpointSlice)
    .ownedBy(endpoints)
    .filter(({ metadata }) => metadata.labels?.[MANAGED_BY] === MANAGER);
  const { groups, skipped } = isMirrored(endpoints, cache) ? groupsOf(endpoints) : { groups: [], skipped: 0 };
  if (skipped > 0) context.event(endpoints, tooManyAddresses(skipped));
  const plan = planSlices(groups, slices, { endpointsMax: ADDRESSES_MAX });
  const { name, namespace } = endpoints.metadata;
  const metadata = copiedMetadata(endpoints);
  const updates = new Map(plan.updates.map(({ slice, ...content }) => [slice, content]));
  const kept = slices.filter((slice) => !plan.deletes.includes(slice));
  const outdated = kept.filter((slice) => updates.has(slice) || !hasMetadata(slice, metadata));
  await Promise.all([
    ...plan.creates.map((group) =>
      createUnlessTerminating(
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
        ...updates.get(slice),
        metadata: { ...slice.metadata, ...metadata },
      }),
    ),
  ]);
  // Deletes come last, so that no endpoint is missing in between.
  await Promise.all(plan.deletes.map((slice) => client(EndpointSlice).delete(slice)));
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

interface Mirrored {
  readonly groups: readonly EndpointGroup[];
  /** Number of addresses left out. */
  readonly skipped: number;
}

/** One group per subset and family; subsets without addresses yield none. */
function groupsOf({ subsets = [] }: Endpoints): Mirrored {
  const groups: EndpointGroup[] = [];
  let skipped = 0;
  for (const subset of subsets) {
    const all = endpointsOf(subset);
    const shown = all.slice(0, ADDRESSES_MAX);
    skipped += all.length - shown.length;
    const ports = (subset.ports ?? []).map((port) => ({ ...port, name: port.name ?? "" }));
    for (const addressType of ["IPv4", "IPv6"] as const) {
      const endpoints = shown.filter(({ addresses: [ip = ""] }) => familyOf(ip) === addressType);
      if (endpoints.length > 0) groups.push({ addressType, ports, endpoints });
    }
  }
  return { groups, skipped };
}

function familyOf(ip: string): string | undefined {
  return findIpAddress(ip)?.family;
}

function tooManyAddresses(skipped: number): RecordedEvent {
  const message = `A max of ${ADDRESSES_MAX} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`;
  return { type: "Warning", reason: "TooManyAddressesToMirror", message };
}

/** Ready addresses first, so that the limit cuts the others. */
function endpointsOf({ addresses = [], notReadyAddresses = [] }: EndpointSubset): readonly Endpoint[] {
  return [
    ...addresses.map((address) => endpointOf(address, true)),
    ...notReadyAddresses.map((address) => endpointOf(address, false)),
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
