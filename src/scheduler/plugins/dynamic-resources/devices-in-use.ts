/** Devices that claims have, and how much of those that several may share. */

import type { AllocationResult } from "../../../api/generated/types/resource-v1.ts";
import { parseQuantity } from "../../../api/values/quantity.ts";
import { deviceKey } from "../../../resources/device/allocated-devices.ts";
import type { CapacitySums } from "./device-capacity.ts";

export class DevicesInUse {
  /** Those of most claims, which stay the same for many pods; this one adds a few. */
  readonly #base: DevicesInUse | undefined;
  readonly #exclusive = new Set<string>();
  readonly #shared = new Map<string, Map<string, bigint>>();

  constructor(allocations: Iterable<AllocationResult>, base?: DevicesInUse) {
    this.#base = base;
    for (const { devices } of allocations) {
      for (const result of devices.results ?? []) {
        // Whoever only looks on takes nothing from others.
        if (result.adminAccess === true) continue;
        const key = deviceKey(result);
        if (result.shareID === undefined) this.#exclusive.add(key);
        else this.#share(key, result.consumedCapacity ?? {});
      }
    }
  }

  /** By somebody who shares it with nobody. */
  isTaken(key: string): boolean {
    return this.#exclusive.has(key) || this.#base?.isTaken(key) === true;
  }

  isUsed(key: string): boolean {
    return this.isTaken(key) || this.#shared.has(key) || this.#base?.isUsed(key) === true;
  }

  /** Undefined when nobody has a share of it. */
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
