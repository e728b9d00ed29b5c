/** Devices that claims have, and how much of those that several may share. */

import type { AllocationResult } from "../../../api/generated/types/resource-v1.ts";
import { parseQuantity } from "../../../api/quantity.ts";
import { deviceKey } from "../../../resources/device/allocated-devices.ts";
import type { CapacitySums } from "./device-capacity.ts";

export class DevicesInUse {
  readonly #exclusive = new Set<string>();
  readonly #shared = new Map<string, Map<string, bigint>>();

  constructor(allocations: Iterable<AllocationResult>) {
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
    return this.#exclusive.has(key);
  }

  isUsed(key: string): boolean {
    return this.#exclusive.has(key) || this.#shared.has(key);
  }

  capacityOf(key: string): CapacitySums | undefined {
    return this.#shared.get(key);
  }

  #share(key: string, consumed: Readonly<Record<string, string>>): void {
    const sums = this.#shared.get(key) ?? new Map<string, bigint>();
    for (const [name, text] of Object.entries(consumed)) {
      sums.set(name, (sums.get(name) ?? 0n) + parseQuantity(text).nano);
    }
    this.#shared.set(key, sums);
  }
}
