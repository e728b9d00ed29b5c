/**
 * Keeps the EndpointSlices of each Service with a selector: the addresses, ports and conditions of its pods.
 *
 * Reads Services, Pods and Nodes (for zones and CPUs). Writes the EndpointSlices that it manages, owned by their Service.
 */
import type { Manifest, ObjectKey } from "../../api/api-object.ts";
import { Node, Service } from "../../api/generated/types/core-v1.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { EndpointSlice } from "../../api/generated/types/discovery-v1.ts";
import type { Endpoint } from "../../api/generated/types/discovery-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { isReady } from "../../resources/pod/pod-state.ts";
import { defineController, indexing, watching } from "../../runtime/controller/controller.ts";
import type { CacheReader, Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import type { RecordedEvent } from "../../runtime/events/recorded-event.ts";
import { keyText } from "../../runtime/refs/cache-key.ts";
import { ownerReferenceTo } from "../../runtime/refs/owner-reference.ts";
import { perRunState } from "../per-run-state.ts";
import { podsByNode, podsOnNode } from "../pods/pods-by-node.ts";
import { createUnlessTerminating } from "../terminating-namespace.ts";
import { planSlices } from "./plan-slices.ts";
import type { EndpointGroup, SlicePlan } from "./plan-slices.ts";
import {
  addressOf,
  choosesPods,
  familiesOf,
  hasAddress,
  hostnameOf,
  isBeingDeleted,
  isHeadless,
  portsOf,
  zoneOf,
} from "./service-pods.ts";
import type { Family } from "./service-pods.ts";
import { isOverloaded, isReadyNode, planHintedSlices, wantsHints, zoneShares } from "./topology-hints.ts";
import { TriggerTimes, withTriggerTime } from "./trigger-times.ts";
import { chosenPods, podsOf, selectingServices, servicesOf } from "./watched-pods.ts";

export const SERVICE_NAME = "kubernetes.io/service-name";
export const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
const HEADLESS = "service.kubernetes.io/headless";
const MANAGER = "endpointslice-controller.k8s.io";

/** Index of the Services that want zone hints. */
const WITH_HINTS = "endpoints/with-hints";
const YES = "yes";

export const endpointSliceController = defineController({
  name: "endpoint-slice-controller",
  for: Service,
  owns: [EndpointSlice],
  indexes: [
    podsByNode,
    selectingServices,
    indexing(Service, WITH_HINTS, (service) => (wantsHints(service) ? [YES] : [])),
  ],
  watches: [
    chosenPods,
    watching(Node, function* ({ before, after }, cache) {
      const isBoth = before !== undefined && after !== undefined;
      const isSameZone = isBoth && zoneOf(before) === zoneOf(after);
      if (isSameZone && isReadyNode(before) === isReadyNode(after)) return;
      yield* overloadedServices(cache);
      if (isSameZone) return;
      const { name = "" } = (after ?? before)?.metadata ?? {};
      for (const pod of podsOnNode(name, cache)) yield* servicesOf([pod], cache);
    }),
  ],
  reconcile,
  vanished: async (key, { cache }) => {
    const { triggers, hinted } = memoryOf(cache);
    triggers.forget(key);
    hinted.delete(keyText(key));
  },
});

const memoryOf = perRunState(() => ({
  triggers: new TriggerTimes(),
  /** Services with zone hints; a Service without an entry gets an event once it has hints. */
  hinted: new Set<string>(),
}));

/** Services whose hints no longer fit the changed nodes. */
function* overloadedServices(cache: CacheReader): Iterable<ObjectKey> {
  const wanting = cache(Service).indexed(WITH_HINTS, YES);
  if (wanting.length === 0) return;
  const shares = zoneShares(cache(Node).list());
  for (const service of wanting) {
    const { namespace, name } = service.metadata;
    const slices = managedSlices(service, cache);
    const families = familiesOf(service).map((family) =>
      slices.filter(({ addressType }) => addressType === family),
    );
    if (families.some((each) => isOverloaded(each, shares))) yield { namespace, name };
  }
}

function managedSlices(service: Service, cache: CacheReader): readonly EndpointSlice[] {
  return cache(EndpointSlice)
    .ownedBy(service)
    .filter(({ metadata }) => metadata.labels?.[MANAGED_BY] === MANAGER);
}

async function reconcile(service: Service, context: ReconcileContext): Promise<Outcome> {
  if (!choosesPods(service)) return;
  const { cache, client } = context;
  const pods = await podsOf(service, context);
  // Runs even if no write follows: the next pass compares with this one.
  const triggerTime = memoryOf(cache).triggers.next(service, pods);
  const slices = managedSlices(service, cache);
  const { plan, events } = planOf(service, { pods, slices, cache });

  const labels = labelsOf(service);
  const changed = new Map(plan.updates.map(({ slice, ...content }) => [slice, content]));
  const kept = slices.filter((slice) => !plan.deletes.includes(slice));
  const outdated = kept.filter((slice) => changed.has(slice) || !jsonEqual(slice.metadata.labels, labels));
  // Existing slices stay up to date while a finalizer keeps the Service; no new slices are created for it.
  const creates = service.metadata.deletionTimestamp === undefined ? plan.creates : [];
  await Promise.all([
    ...creates.map((group) =>
      createUnlessTerminating(client(EndpointSlice).create(newSlice(service, group, triggerTime))),
    ),
    ...outdated.map((slice) =>
      client(EndpointSlice).update({
        ...slice,
        ...changed.get(slice),
        metadata: {
          ...slice.metadata,
          labels,
          annotations: withTriggerTime(slice.metadata.annotations, triggerTime),
        },
      }),
    ),
  ]);
  // Deletes come last, so that no endpoint is missing in between.
  await Promise.all(plan.deletes.map((slice) => client(EndpointSlice).delete(slice)));
  for (const event of events) context.event(service, event);
}

interface Observed {
  /** All pods that the Service selects. */
  readonly pods: readonly Pod[];
  readonly slices: readonly EndpointSlice[];
  readonly cache: CacheReader;
}

interface Planned {
  readonly plan: SlicePlan;
  readonly events: readonly RecordedEvent[];
}

/** Plans each address family separately: one may have hints while another has none. */
function planOf(service: Service, observed: Observed): Planned {
  const { slices, cache } = observed;
  const groups = groupsOf(service, observed);
  const { hinted } = memoryOf(cache);
  const key = keyText(service.metadata);
  if (!wantsHints(service)) {
    const [family] = familiesOf(service);
    const events = hinted.delete(key)
      ? [hintsDisabled("Topology Aware Hints has been disabled", family)]
      : [];
    return { plan: planSlices(groups, slices), events };
  }
  const shares = zoneShares(cache(Node).list());
  const plans: SlicePlan[] = [];
  const events: RecordedEvent[] = [];
  for (const family of new Set([...groups, ...slices].map(({ addressType }) => addressType))) {
    const isOfFamily = ({ addressType }: { readonly addressType: string }): boolean => addressType === family;
    const own = groups.filter(isOfFamily);
    const { plan, fault } = planHintedSlices(own, slices.filter(isOfFamily), shares);
    plans.push(plan);
    if (own.length === 0) continue;
    if (fault !== undefined) events.push(hintsDisabled(fault, family));
    else if (!hinted.has(key)) events.push(hintsEnabled(family));
    if (fault === undefined) hinted.add(key);
    else hinted.delete(key);
  }
  return {
    plan: {
      creates: plans.flatMap(({ creates }) => creates),
      updates: plans.flatMap(({ updates }) => updates),
      deletes: plans.flatMap(({ deletes }) => deletes),
    },
    events,
  };
}

function hintsDisabled(why: string, family: string | undefined): RecordedEvent {
  const message = `${why}, addressType: ${family ?? "IPv4"}`;
  return { type: "Warning", reason: "TopologyAwareHintsDisabled", message };
}

function hintsEnabled(family: string): RecordedEvent {
  const message = `Topology Aware Hints has been enabled, addressType: ${family}`;
  return { type: "Normal", reason: "TopologyAwareHintsEnabled", message };
}

function newSlice(
  service: Service,
  group: EndpointGroup,
  triggerTime: string | undefined,
): Manifest<EndpointSlice> {
  const { name, namespace } = service.metadata;
  return {
    ...group,
    metadata: {
      generateName: `${name}-`,
      ...(namespace !== undefined && { namespace }),
      labels: labelsOf(service),
      annotations: withTriggerTime(undefined, triggerTime),
      ownerReferences: [ownerReferenceTo(service)],
    },
  };
}

/** Labels of the Service, except those with a special meaning on slices. */
function labelsOf(service: Service): Readonly<Record<string, string>> {
  const { labels = {}, name } = service.metadata;
  const reserved = new Set([SERVICE_NAME, MANAGED_BY, HEADLESS]);
  const own = Object.entries(labels).filter(([label]) => !reserved.has(label));
  return {
    ...Object.fromEntries(own),
    ...(isHeadless(service) && { [HEADLESS]: "" }),
    [SERVICE_NAME]: name,
    [MANAGED_BY]: MANAGER,
  };
}

/** One group per family and set of ports; a family without endpoints has one empty group. */
function groupsOf(service: Service, { pods, cache }: Observed): readonly EndpointGroup[] {
  const shown = pods.filter((pod) => hasAddress(pod) && isOnNode(service, pod, cache));
  return familiesOf(service).flatMap((family) => groupsOfFamily(service, shown, { family, cache }));
}

/** A pod on a missing node is unreachable. Services with publishNotReadyAddresses list it nevertheless. */
function isOnNode({ spec }: Service, pod: Pod, cache: CacheReader): boolean {
  const { nodeName = "" } = pod.spec;
  return spec.publishNotReadyAddresses === true || cache(Node).find({ name: nodeName }) !== undefined;
}

function groupsOfFamily(
  service: Service,
  pods: readonly Pod[],
  { family, cache }: { readonly family: Family; readonly cache: CacheReader },
): readonly EndpointGroup[] {
  const groups = new Map<string, EndpointGroup & { readonly endpoints: Endpoint[] }>();
  for (const pod of pods) {
    const address = addressOf(pod, family);
    if (address === undefined) continue;
    const ports = portsOf(service, pod);
    const id = JSON.stringify(ports);
    const group = groups.get(id) ?? { addressType: family, ports, endpoints: [] };
    groups.set(id, group);
    group.endpoints.push(endpointOf(service, pod, { address, cache }));
  }
  return groups.size === 0 ? [{ addressType: family, ports: [], endpoints: [] }] : [...groups.values()];
}

function endpointOf(
  service: Service,
  pod: Pod,
  { address, cache }: { readonly address: string; readonly cache: CacheReader },
): Endpoint {
  const { nodeName } = pod.spec;
  const { namespace = "", name, uid } = pod.metadata;
  const serving = isReady(pod);
  const terminating = isBeingDeleted(pod);
  const ready = service.spec.publishNotReadyAddresses === true || (serving && !terminating);
  const hostname = hostnameOf(service, pod);
  const zone = nodeName === undefined ? undefined : zoneOf(cache(Node).find({ name: nodeName }));
  return {
    addresses: [address],
    conditions: { ready, serving, terminating },
    targetRef: { kind: "Pod", namespace, name, uid },
    ...(nodeName !== undefined && { nodeName }),
    ...(hostname !== undefined && { hostname }),
    ...(zone !== undefined && { zone }),
    ...hintsOf(service, { ready, zone, nodeName }),
  };
}

interface Place {
  readonly ready: boolean;
  readonly zone: string | undefined;
  readonly nodeName: string | undefined;
}

/** Hints for Services with `trafficDistribution`: proxies prefer endpoints of the same zone or node. */
function hintsOf(service: Service, { ready, zone, nodeName }: Place): Pick<Endpoint, "hints"> {
  const { spec } = service;
  // Topology hints depend on all endpoints together.
  if (wantsHints(service)) return {};
  const isNear = ready && zone !== undefined;
  const forZones = isNear ? [{ name: zone }] : undefined;
  const zones = forZones === undefined ? {} : { forZones };
  const isByZone =
    spec.trafficDistribution === "PreferClose" || spec.trafficDistribution === "PreferSameZone";
  if (isByZone) return forZones === undefined ? {} : { hints: zones };
  if (spec.trafficDistribution !== "PreferSameNode" || !ready || nodeName === undefined) return {};
  return { hints: { ...zones, forNodes: [{ name: nodeName }] } };
}
