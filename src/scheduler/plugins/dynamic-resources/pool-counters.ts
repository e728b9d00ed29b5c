/** Shared counters of a pool: they limit which of its devices can be used at the same time. */

import { parseQuantity } from "../../../api/values/quantity.ts";
import { type DevicePools, devicesOf, type PoolDevice } from "./device-pools.ts";
import type { DevicesInUse } from "./devices-in-use.ts";

/** Cache for devices that a search checks repeatedly. */
const counted = new WeakMap<PoolDevice, ReadonlyMap<string, bigint>>();

/** Counters that a device consumes, by pool, set and counter; in billionths. */
export function countersOf(device: PoolDevice): ReadonlyMap<string, bigint> {
  const known = counted.get(device) ?? count(device);
  counted.set(device, known);
  return known;
}

function count({ driver, pool, device }: PoolDevice): ReadonlyMap<string, bigint> {
  const taken = new Map<string, bigint>();
  for (const { counterSet, counters = {} } of device.consumesCounters ?? []) {
    for (const [name, { value }] of Object.entries(counters)) {
      const key = counterKey(`${driver}/${pool}`, counterSet, name);
      taken.set(key, (taken.get(key) ?? 0n) + parseQuantity(value).nano);
    }
  }
  return taken;
}

function counterKey(pool: string, set: string, counter: string): string {
  return `${pool}/${set}/${counter}`;
}

/** Counters left beside the devices in use; computed per pool on the first request. */
export class PoolCounters {
  readonly #pools: DevicePools;
  readonly #inUse: DevicesInUse;
  readonly #left = new Map<string, ReadonlyMap<string, bigint>>();

  constructor(pools: DevicePools, inUse: DevicesInUse) {
    this.#pools = pools;
    this.#inUse = inUse;
  }

  left(device: PoolDevice): ReadonlyMap<string, bigint> {
    const id = `${device.driver}/${device.pool}`;
    const known = this.#left.get(id);
    if (known !== undefined) return known;
    const left = this.#count(device);
    this.#left.set(id, left);
    return left;
  }

  #count(device: PoolDevice): ReadonlyMap<string, bigint> {
    const left = new Map<string, bigint>();
    const pool = this.#pools.poolOf(device);
    if (pool === undefined) return left;
    for (const { name: set, counters = {} } of pool.counterSets.values()) {
      for (const [name, { value }] of Object.entries(counters)) {
        left.set(counterKey(pool.id, set, name), parseQuantity(value).nano);
      }
    }
    for (const other of pool.slices.flatMap(devicesOf)) {
      if (!this.#inUse.isUsed(other.key)) continue;
      for (const [key, taken] of countersOf(other)) left.set(key, (left.get(key) ?? 0n) - taken);
    }
    return left;
  }
}
