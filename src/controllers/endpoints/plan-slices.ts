/**
 * Distributes the endpoints of a Service over slices. Pure.
 *
 * An endpoint stays in its slice, so that a change of one pod changes one slice. New endpoints fill slices that change anyway, then slices
 * with room, then new slices. A surplus slice is reused for new endpoints of its address type. Otherwise watchers could see the Service
 * without a slice.
 */
import type { Endpoint, EndpointPort, EndpointSlice } from "../../api/generated/types/discovery-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";

/** Upper bound of endpoints per slice; upstream's default. */
const ENDPOINTS_MAX = 100;

interface SliceLimits {
  readonly endpointsMax: number;
}

/** Endpoints with the same ports and address type, which share slices. */
export interface EndpointGroup {
  readonly addressType: string;
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly Endpoint[];
}

export interface SlicePlan {
  readonly creates: readonly EndpointGroup[];
  readonly updates: readonly SliceUpdate[];
  readonly deletes: readonly EndpointSlice[];
}

interface SliceUpdate extends Pick<EndpointGroup, "ports" | "endpoints"> {
  readonly slice: EndpointSlice;
}

export function planSlices(
  groups: readonly EndpointGroup[],
  slices: readonly EndpointSlice[],
  { endpointsMax }: SliceLimits = { endpointsMax: ENDPOINTS_MAX },
): SlicePlan {
  const plans = groups.map((group) => {
    const known = slices.filter((slice) => isOfGroup(slice, group));
    return planGroup(group, known, endpointsMax);
  });
  const unmatched = slices.filter((slice) => !groups.some((group) => isOfGroup(slice, group)));
  return reuse({
    creates: plans.flatMap(({ creates }) => creates),
    updates: plans.flatMap(({ updates }) => updates),
    deletes: [...unmatched, ...plans.flatMap(({ deletes }) => deletes)],
  });
}

/** A slice's address type is immutable, so only slices of the same type are reused. */
function reuse({ creates, updates, deletes }: SlicePlan): SlicePlan {
  const left = [...deletes];
  const fresh: EndpointGroup[] = [];
  const reused: SliceUpdate[] = [];
  for (const group of creates) {
    const at = left.findIndex(({ addressType }) => addressType === group.addressType);
    const [slice] = at === -1 ? [] : left.splice(at, 1);
    if (slice === undefined) fresh.push(group);
    else reused.push({ slice, ports: group.ports, endpoints: group.endpoints });
  }
  return { creates: fresh, updates: [...updates, ...reused], deletes: left };
}

function isOfGroup(slice: EndpointSlice, { addressType, ports }: EndpointGroup): boolean {
  return slice.addressType === addressType && jsonEqual(slice.ports, ports);
}

/** Slice with the endpoints that stay in it. */
interface Kept {
  readonly slice: EndpointSlice;
  readonly endpoints: Endpoint[];
  isChanged: boolean;
}

function planGroup(group: EndpointGroup, slices: readonly EndpointSlice[], endpointsMax: number): SlicePlan {
  const wanted = new Map(group.endpoints.map((endpoint) => [identityOf(endpoint), endpoint]));
  const kept = slices.map((slice) => keep(slice, wanted));
  const changedFirst = kept.toSorted((left, right) => Number(right.isChanged) - Number(left.isChanged));
  const added = [...wanted.values()];
  for (const place of changedFirst) {
    const room = endpointsMax - place.endpoints.length;
    const taken = added.splice(0, Math.max(0, room));
    if (taken.length > 0) place.isChanged = true;
    place.endpoints.push(...taken);
  }
  const creates: EndpointGroup[] = [];
  while (added.length > 0) creates.push({ ...group, endpoints: added.splice(0, endpointsMax) });
  return conclude(group, kept, creates);
}

/** A Service without endpoints keeps one empty slice; other empty slices are deleted. */
function conclude(group: EndpointGroup, kept: readonly Kept[], creates: readonly EndpointGroup[]): SlicePlan {
  const isEmpty = group.endpoints.length === 0;
  const used = kept.filter(({ endpoints }) => endpoints.length > 0);
  const stays = isEmpty ? kept.slice(0, 1) : used;
  const deletes = kept.filter((each) => !stays.includes(each)).map(({ slice }) => slice);
  const updates = stays
    .filter(({ isChanged }) => isChanged)
    .map(({ slice, endpoints }) => ({ slice, ports: group.ports, endpoints }));
  return { creates: isEmpty && stays.length === 0 ? [group] : creates, updates, deletes };
}

/** Removes the slice's endpoints from `wanted`; those left over have no slice yet. */
function keep(slice: EndpointSlice, wanted: Map<string, Endpoint>): Kept {
  const endpoints: Endpoint[] = [];
  let isChanged = false;
  for (const endpoint of slice.endpoints) {
    const identity = identityOf(endpoint);
    const next = wanted.get(identity);
    if (next === undefined) {
      isChanged = true;
      continue;
    }
    wanted.delete(identity);
    endpoints.push(next);
    if (!jsonEqual(endpoint, next)) isChanged = true;
  }
  return { slice, endpoints, isChanged };
}

/** Equal for the same pod at the same address. */
export function identityOf({ targetRef, addresses }: Endpoint): string {
  return `${targetRef?.uid ?? ""} ${addresses.join(" ")}`;
}
