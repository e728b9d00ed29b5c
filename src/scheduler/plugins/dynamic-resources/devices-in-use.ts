/** Devices allocated to claims, and the consumed capacity of shared ones. */

import type { AllocationResult } from "../../../api/generated/types/resource-v1.ts";
import { parseQuantity } from "../../../api/values/quantity.ts";
import { deviceKey } from "../../../resources/device/allocated-devices.ts";
import type { CapacitySums } from "./device-capacity.ts";

export class DevicesInUse {
  /** Allocations of most claims, shared by many pods; this object adds a few. */
  readonly #base: DevicesInUse | undefined;
  readonly #exclusive = new Set<string>();
  readonly #shared = new Map<string, Map<string, bigint>>();

  constructor(allocations: Iterable<AllocationResult>, base?: DevicesInUse) {
    this.#base = base;
    for (const { devices } of allocations) {
      for (const result of devices.results ?? []) {
        // Admin access takes no device from other claims.
        if (result.adminAccess === true) continue;
        const key = deviceKey(result);
        if (result.shareID === undefined) this.#exclusive.add(key);
        else this.#share(key, result.consumedCapacity ?? {});
      }
    }
  }

  /** True if the device is in exclusive use. */
  isTaken(key: string): boolean {
    return this.#exclusive.has(key) || this.#base?.isTaken(key) === true;
  }

  isUsed(key: string): boolean {
    return this.isTaken(key) || this.#shared.has(key) || this.#base?.isUsed(key) === true;
  }

  /** Undefined if the device has no shares in use. */
  capacityOf(key: string): CapacitySums | undefined {
    const own = this.#shared.get(key);
    const others = this.#base?.capacityOf(key);
    if (own === undefined || others === undefined) return own ?? others;
    const sums = new Map(others);
    for (const [name, nano] of own) sums.set(name, (sums.get(name) ?? 0n) + nano);
    return sums;
  }

  #share(key: string, consumed: Readonly<Record<string, string>>): void {
    const sums = this.#shared.get(key) ?? new Map<string, bigint>();
    for (const [name, text] of Object.entries(consumed)) {
      sums.set(name, (sums.get(name) ?? 0n) + parseQuantity(text).nano);
    }
    this.#shared.set(key, sums);
  }
}
