/** Devices chosen so far by a search, and their total consumption, which every check of a device reads. */

import type { Quantity } from "../../../api/values/quantity.ts";
import type { Alternative } from "./claim-requests.ts";
import type { PoolDevice } from "./device-pools.ts";
import { countersOf } from "./pool-counters.ts";

export interface Choice {
  readonly claimIndex: number;
  readonly alternative: Alternative;
  readonly device: PoolDevice;
  /** Capacity taken of a shareable device; undefined for an exclusive one. */
  readonly consumed: ReadonlyMap<string, Quantity> | undefined;
}

const NONE: readonly Choice[] = [];

export class ChosenDevices {
  readonly #choices: Choice[] = [];
  readonly #byDevice = new Map<PoolDevice, Choice[]>();
  /** Sums of consumed counters. Further shares of a device add no counters. */
  readonly #counters = new Map<string, bigint>();

  get all(): readonly Choice[] {
    return this.#choices;
  }

  of(device: PoolDevice): readonly Choice[] {
    return this.#byDevice.get(device) ?? NONE;
  }

  counterOf(key: string): bigint {
    return this.#counters.get(key) ?? 0n;
  }

  add(choice: Choice): void {
    const { device } = choice;
    const known = this.#byDevice.get(device);
    this.#choices.push(choice);
    if (known !== undefined) {
      known.push(choice);
      return;
    }
    this.#byDevice.set(device, [choice]);
    for (const [key, amount] of countersOf(device)) this.#counters.set(key, this.counterOf(key) + amount);
  }

  /** Removes the last choice; undefined if at most `least` are left. */
  removeLast(least: number): Choice | undefined {
    const choice = this.#choices.length > least ? this.#choices.pop() : undefined;
    if (choice === undefined) return undefined;
    const { device } = choice;
    const known = this.#byDevice.get(device);
    known?.pop();
    if (known?.length !== 0) return choice;
    this.#byDevice.delete(device);
    for (const [key, amount] of countersOf(device)) this.#counters.set(key, this.counterOf(key) - amount);
    return choice;
  }
}
