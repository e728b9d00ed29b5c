/**
 * Published devices by pool. Only a pool's newest generation counts, and only if all its slices exist. Node-independent data is computed
 * once for all nodes.
 */

import type { Node, NodeSelector } from "../../../api/generated/types/core-v1.ts";
import type { CounterSet, Device, ResourceSlice } from "../../../api/generated/types/resource-v1.ts";
import { deviceKey } from "../../../resources/device/allocated-devices.ts";
import { matchesNodeSelector } from "../../../resources/pod/node-selection.ts";

export interface PoolDevice {
  /** `driver/pool/device`. */
  readonly key: string;
  readonly driver: string;
  readonly pool: string;
  readonly device: Device;
  readonly slice: ResourceSlice;
}

export interface DevicePool {
  /** `driver/pool`. */
  readonly id: string;
  /** `incomplete`: slices are missing; `invalid`: the slices contradict each other. */
  readonly state: "complete" | "incomplete" | "invalid";
  /** Slices of the newest generation. */
  readonly slices: readonly ResourceSlice[];
  readonly counterSets: ReadonlyMap<string, CounterSet>;
}

export interface NodeDevices {
  /** Usable devices in the order in which they are tried. */
  readonly devices: readonly PoolDevice[];
  /** Id of a pool for this node in that state. */
  readonly incomplete: string | undefined;
  readonly invalid: string | undefined;
}

interface Place {
  readonly pool: DevicePool;
  readonly slice: ResourceSlice;
  readonly order: number;
}

/** Slices are immutable, so their devices are computed once. */
const devicesBySlice = new WeakMap<ResourceSlice, readonly PoolDevice[]>();

export class DevicePools {
  readonly #pools = new Map<string, DevicePool>();
  readonly #local = new Map<string, Place[]>();
  readonly #shared: Place[] = [];

  constructor(slices: Iterable<ResourceSlice>) {
    const pools = gatherPools(slices);
    let order = 0;
    for (const pool of pools.toSorted(byPreference)) {
      this.#pools.set(pool.id, pool);
      for (const slice of pool.slices) this.#index({ pool, slice, order: order++ });
    }
  }

  poolOf({ driver, pool }: Pick<PoolDevice, "driver" | "pool">): DevicePool | undefined {
    return this.#pools.get(poolId(driver, pool));
  }

  onNode(node: Node): NodeDevices {
    const local = this.#local.get(node.metadata.name) ?? [];
    const shared = this.#shared.filter(({ slice }) => reachesNode(slice, node));
    const places = shared.length === 0 ? local : [...local, ...shared].toSorted((a, b) => a.order - b.order);
    const isPoolOf = (state: DevicePool["state"]): string | undefined =>
      places.find(({ pool }) => pool.state === state)?.pool.id;
    const [only, ...others] = places.filter(({ pool }) => pool.state === "complete");
    const first = only === undefined ? [] : devicesFor(only.slice, node);
    return {
      // Most nodes have one slice, whose device list is not copied.
      devices:
        others.length === 0 ? first : [...first, ...others.flatMap(({ slice }) => devicesFor(slice, node))],
      incomplete: isPoolOf("incomplete"),
      invalid: isPoolOf("invalid"),
    };
  }

  #index(place: Place): void {
    const { nodeName = "" } = place.slice.spec;
    if (nodeName === "") {
      this.#shared.push(place);
      return;
    }
    const places = this.#local.get(nodeName) ?? [];
    places.push(place);
    this.#local.set(nodeName, places);
  }
}

/** Caches the pools while the list of slices is unchanged. */
export class LatestPools {
  #slices: readonly ResourceSlice[] = [];
  #pools = new DevicePools([]);

  of(slices: readonly ResourceSlice[]): DevicePools {
    const isSame =
      slices.length === this.#slices.length && slices.every((slice, at) => slice === this.#slices[at]);
    if (isSame) return this.#pools;
    this.#slices = slices;
    this.#pools = new DevicePools(slices);
    return this.#pools;
  }
}

export function devicesOf(slice: ResourceSlice): readonly PoolDevice[] {
  const known = devicesBySlice.get(slice);
  if (known !== undefined) return known;
  const { driver, devices = [] } = slice.spec;
  const pool = slice.spec.pool.name;
  const found = devices.map((device) => {
    const key = deviceKey({ driver, pool, device: device.name });
    return { key, driver, pool, device, slice };
  });
  devicesBySlice.set(slice, found);
  return found;
}

function poolId(driver: string, pool: string): string {
  return `${driver}/${pool}`;
}

function gatherPools(slices: Iterable<ResourceSlice>): readonly DevicePool[] {
  const newest = new Map<string, ResourceSlice[]>();
  for (const slice of slices) {
    const { driver, pool } = slice.spec;
    const id = poolId(driver, pool.name);
    const known = newest.get(id);
    // Compared, not subtracted: generations beyond 2^53 are bigints.
    const generation = known?.[0]?.spec.pool.generation ?? pool.generation;
    if (known === undefined || pool.generation > generation) newest.set(id, [slice]);
    else if (pool.generation === generation) known.push(slice);
  }
  return [...newest].map(([id, members]) => makePool(id, members));
}

function makePool(id: string, members: readonly ResourceSlice[]): DevicePool {
  const slices = members.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const sets = slices.flatMap(({ spec }) => spec.sharedCounters ?? []);
  const counterSets = new Map(sets.map((set) => [set.name, set]));
  const isComplete = slices.length === slices[0]?.spec.pool.resourceSliceCount;
  const isSound = counterSets.size === sets.length && isConsistent(slices, counterSets);
  return { id, state: !isComplete ? "incomplete" : isSound ? "complete" : "invalid", slices, counterSets };
}

/** Device names are unique, and all consumed counters exist. */
function isConsistent(
  slices: readonly ResourceSlice[],
  counterSets: ReadonlyMap<string, CounterSet>,
): boolean {
  const names = new Set<string>();
  for (const { device } of slices.flatMap(devicesOf)) {
    if (names.has(device.name)) return false;
    names.add(device.name);
    for (const { counterSet, counters = {} } of device.consumesCounters ?? []) {
      const known = counterSets.get(counterSet)?.counters;
      if (known === undefined || !Object.keys(counters).every((name) => Object.hasOwn(known, name)))
        return false;
    }
  }
  return true;
}

/** Pools without binding conditions first, then by id. */
function byPreference(left: DevicePool, right: DevicePool): number {
  const [one, other] = [hasConditions(left), hasConditions(right)];
  if (one !== other) return one ? 1 : -1;
  return left.id < right.id ? -1 : 1;
}

function hasConditions({ slices }: DevicePool): boolean {
  return slices.some(({ spec }) =>
    (spec.devices ?? []).some(({ bindingConditions = [] }) => bindingConditions.length > 0),
  );
}

interface Reach {
  readonly nodeName?: string;
  readonly allNodes?: boolean;
  readonly nodeSelector?: NodeSelector;
}

function reaches({ nodeName = "", allNodes = false, nodeSelector }: Reach, node: Node): boolean {
  if (nodeName !== "") return nodeName === node.metadata.name;
  return allNodes || (nodeSelector !== undefined && matchesNodeSelector(nodeSelector, node));
}

function reachesNode({ spec }: ResourceSlice, node: Node): boolean {
  if (spec.perDeviceNodeSelection !== true) return reaches(spec, node);
  return (spec.devices ?? []).some((device) => reaches(device, node));
}

function devicesFor(slice: ResourceSlice, node: Node): readonly PoolDevice[] {
  const devices = devicesOf(slice);
  if (slice.spec.perDeviceNodeSelection !== true) return devices;
  return devices.filter(({ device }) => reaches(device, node));
}
