/**
 * Assigns endpoints to zones for Services with `service.kubernetes.io/topology-mode: Auto`. Pure.
 *
 * An endpoint serves its own zone. Some are reassigned to zones with fewer endpoints than their share of the cluster's CPUs. If a zone
 * would be overloaded anyway, there are no hints. Ties that upstream decides at random are decided by zone name.
 */
import type { Node, Service } from "../../api/generated/types/core-v1.ts";
import type { Endpoint, EndpointSlice } from "../../api/generated/types/discovery-v1.ts";
import { resourceNumber } from "../../resources/pod/resource-number.ts";
import { ownValue } from "../../resources/rules/value-rules.ts";
import { identityOf, planSlices, type EndpointGroup, type SlicePlan } from "./plan-slices.ts";
import { zoneOf } from "./service-pods.ts";

const MODES = ["service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode"];
const CONTROL_PLANE = ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];
/** Greatest accepted load of an endpoint above its share. */
const OVERLOAD = 0.2;

/** Share of the cluster's CPUs by zone; undefined if it cannot be computed. */
export type ZoneShares = ReadonlyMap<string, number> | undefined;

type ZoneCounts = Map<string, number>;

export interface HintedPlan {
  readonly plan: SlicePlan;
  /** Reason why there are no hints; undefined if there are. */
  readonly fault: string | undefined;
}

export function wantsHints({ metadata: { annotations } }: Service): boolean {
  const [mode] = MODES.flatMap((name) => ownValue(annotations, name) ?? []);
  return mode === "Auto" || mode === "auto";
}

export function zoneShares(nodes: readonly Node[]): ZoneShares {
  const cpus: ZoneCounts = new Map();
  for (const node of nodes) {
    if (CONTROL_PLANE.some((label) => ownValue(node.metadata.labels, label) !== undefined)) continue;
    if (!isReadyNode(node)) continue;
    const zone = zoneOf(node) ?? "";
    const cpu = resourceNumber("cpu", ownValue(node.status.allocatable, "cpu") ?? "0");
    if (zone === "" || cpu === 0) return undefined;
    add(cpus, zone, cpu);
  }
  if (cpus.size < 2) return undefined;
  const total = sum(cpus);
  const zones = [...cpus].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return new Map(zones.map(([zone, cpu]) => [zone, cpu / total]));
}

export function isReadyNode({ status }: Node): boolean {
  return status.conditions?.find(({ type }) => type === "Ready")?.status === "True";
}

/** True if a zone has fewer endpoints by these hints than its minimum. False for a Service without hints. */
export function isOverloaded(slices: readonly EndpointSlice[], shares: ZoneShares): boolean {
  const counts: ZoneCounts = new Map();
  for (const { hints } of slices.flatMap(({ endpoints }) => endpoints)) {
    for (const { name } of hints?.forZones ?? []) add(counts, name, 1);
  }
  if (counts.size === 0) return false;
  if (shares === undefined) return true;
  const total = sum(counts);
  return [...shares].some(([zone, share]) => (counts.get(zone) ?? 0) < fewest(total * share));
}

/** Plans the slices of one address type. */
export function planHintedSlices(
  groups: readonly EndpointGroup[],
  slices: readonly EndpointSlice[],
  shares: ZoneShares,
): HintedPlan {
  const ready = groups.flatMap(({ endpoints }) => endpoints).filter(isReadyEndpoint).length;
  const without = (fault: string): HintedPlan => ({ plan: planSlices(groups, slices), fault });
  const room = findRoom(ready, shares);
  if (typeof room === "string") return without(room);

  const plan = withStaleSlices(planSlices(groups.map(carryHints(slices)), slices), slices, room);
  const changed = [...plan.creates, ...plan.updates].flatMap(({ endpoints }) => endpoints);
  if (changed.some((endpoint) => isReadyEndpoint(endpoint) && (endpoint.zone ?? "") === ""))
    return without("One or more endpoints do not have a zone specified");
  const counts = new Map(plan.counts);
  for (const { zone = "" } of changed.filter(isReadyEndpoint)) add(counts, zone, 1);
  if (counts.size === 0) return without("No hints allocated for zones");

  const hint = zoneAssigner(planMoves(room, counts));
  const hinted = <T extends Pick<EndpointGroup, "endpoints">>(part: T): T => ({
    ...part,
    endpoints: part.endpoints.map(hint),
  });
  const { creates, updates, deletes } = plan;
  return {
    plan: { creates: creates.map(hinted), updates: updates.map(hinted), deletes },
    fault: undefined,
  };
}

interface ZoneRoom {
  readonly wanted: number;
  readonly most: number;
}

/** Wanted and greatest number of endpoints per zone; an error text if there are too few endpoints. */
function findRoom(endpoints: number, shares: ZoneShares): ReadonlyMap<string, ZoneRoom> | string {
  if (shares === undefined)
    return "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes";
  const numbers = `(${endpoints} endpoints, ${shares.size} zones)`;
  if (shares.size > endpoints) return `Insufficient number of endpoints ${numbers}`;
  const zones = [...shares].map(([zone, share]) => {
    const least = fewest(share * endpoints);
    return { zone, least, wanted: Math.max(share * endpoints, least) };
  });
  const spare = endpoints - zones.reduce((all, { least }) => all + least, 0);
  if (spare < 0)
    return `Unable to allocate minimum required endpoints to each zone without exceeding overload threshold ${numbers}`;
  return new Map(zones.map(({ zone, least, wanted }) => [zone, { wanted, most: least + spare }]));
}

function fewest(share: number): number {
  return Math.ceil(share * (1 / (1 + OVERLOAD)));
}

/** Copies existing hints, so that otherwise unchanged slices stay unchanged. */
function carryHints(slices: readonly EndpointSlice[]): (group: EndpointGroup) => EndpointGroup {
  const known = new Map<string, Endpoint["hints"]>();
  for (const endpoint of slices.flatMap(({ endpoints }) => endpoints))
    known.set(identityOf(endpoint), endpoint.hints);
  return (group) => ({
    ...group,
    endpoints: group.endpoints.map((endpoint) => {
      const hints = known.get(identityOf(endpoint));
      return hints === undefined ? endpoint : { ...endpoint, hints };
    }),
  });
}

/** Counts the hints of unchanged slices. Slices whose hints exceed a zone's limit are replanned too. */
function withStaleSlices(
  { creates, updates, deletes }: SlicePlan,
  slices: readonly EndpointSlice[],
  room: ReadonlyMap<string, ZoneRoom>,
): SlicePlan & { readonly counts: ReadonlyMap<string, number> } {
  const touched = new Set([...updates.map(({ slice }) => slice), ...deletes]);
  const counts: ZoneCounts = new Map();
  const stale: EndpointSlice[] = [];
  for (const slice of slices) {
    if (touched.has(slice)) continue;
    const own = findHints(slice);
    const isFit = [...(own ?? [])].every(
      ([zone, count]) => count + (counts.get(zone) ?? 0) <= (room.get(zone)?.most ?? -1),
    );
    if (own === undefined || !isFit) stale.push(slice);
    else for (const [zone, count] of own) add(counts, zone, count);
  }
  const more = stale.map((slice) => ({ slice, ports: slice.ports ?? [], endpoints: slice.endpoints }));
  return { creates, updates: [...updates, ...more], deletes, counts };
}

/** Number of ready endpoints per zone; undefined if one of them has no hint. */
function findHints({ endpoints }: EndpointSlice): ZoneCounts | undefined {
  const counts: ZoneCounts = new Map();
  for (const { hints } of endpoints.filter(isReadyEndpoint)) {
    const zones = hints?.forZones ?? [];
    if (zones.length === 0) return undefined;
    for (const { name } of zones) add(counts, name, 1);
  }
  return counts;
}

interface Moves {
  readonly giving: ZoneCounts;
  readonly receiving: ZoneCounts;
}

/** Moves whole endpoints from the zone with the greatest surplus to the one with the greatest deficit, while it pays. */
function planMoves(room: ReadonlyMap<string, ZoneRoom>, counts: ReadonlyMap<string, number>): Moves {
  const over: ZoneCounts = new Map();
  const under: ZoneCounts = new Map();
  for (const [zone, { wanted }] of room) {
    const more = (counts.get(zone) ?? 0) - wanted;
    if (more > 0) over.set(zone, more);
    if (more < 0) under.set(zone, -more);
  }
  const moves: Moves = { giving: new Map(), receiving: new Map() };
  for (;;) {
    const from = findMost(over);
    const to = findMost(under);
    if (from === undefined || to === undefined || !isWorthMoving(from.count, to.count)) return moves;
    add(moves.giving, from.zone, 1);
    add(over, from.zone, -1);
    add(moves.receiving, to.zone, 1);
    add(under, to.zone, -1);
  }
}

function isWorthMoving(given: number, received: number): boolean {
  return Math.min(given, received) >= 0.5 && Math.max(given, received) >= 1;
}

function findMost(counts: ZoneCounts): { readonly zone: string; readonly count: number } | undefined {
  let most: { readonly zone: string; readonly count: number } | undefined;
  for (const [zone, count] of counts) {
    if (count > (most?.count ?? 0)) most = { zone, count };
  }
  return most;
}

/** Returns a function that sets an endpoint's zone hint; each reassignment uses up one move. */
function zoneAssigner({ giving, receiving }: Moves): (endpoint: Endpoint) => Endpoint {
  return (endpoint) => {
    const { hints: _hints, ...rest } = endpoint;
    const { zone = "" } = endpoint;
    if (!isReadyEndpoint(endpoint)) return rest;
    const to = (giving.get(zone) ?? 0) > 0 ? findMost(receiving)?.zone : undefined;
    if (to !== undefined) {
      add(giving, zone, -1);
      add(receiving, to, -1);
    }
    return { ...rest, hints: { forZones: [{ name: to ?? zone }] } };
  };
}

function isReadyEndpoint({ conditions }: Endpoint): boolean {
  return conditions.ready === true;
}

function add(counts: ZoneCounts, zone: string, count: number): void {
  counts.set(zone, (counts.get(zone) ?? 0) + count);
}

function sum(counts: ZoneCounts): number {
  return [...counts.values()].reduce((all, count) => all + count, 0);
}
