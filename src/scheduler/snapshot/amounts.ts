/** Sums of resources as plain numbers. The three common resources are fields; the others are in a map that is mostly empty. */

import type { ResourceNumbers } from "../../resources/pod/pod-requests.ts";

export interface Amounts {
  readonly milliCpu: number;
  readonly memory: number;
  readonly ephemeralStorage: number;
  /** Extended resources and huge pages. */
  readonly others: ReadonlyMap<string, number>;
}

const FIELDS: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);
/** Counted by the number of pods, not by their requests. */
const PODS = "pods";
const NONE: ReadonlyMap<string, number> = new Map();

export function amountsOf(numbers: ResourceNumbers): Amounts {
  const others = [...numbers].filter(([name, amount]) => !FIELDS.has(name) && name !== PODS && amount > 0);
  return {
    milliCpu: numbers.get("cpu") ?? 0,
    memory: numbers.get("memory") ?? 0,
    ephemeralStorage: numbers.get("ephemeral-storage") ?? 0,
    others: others.length === 0 ? NONE : new Map(others),
  };
}

export function isNothing({ milliCpu, memory, ephemeralStorage, others }: Amounts): boolean {
  return milliCpu === 0 && memory === 0 && ephemeralStorage === 0 && others.size === 0;
}

/** A sum with addition and removal. */
export class AmountSum implements Amounts {
  milliCpu = 0;
  memory = 0;
  ephemeralStorage = 0;
  readonly others = new Map<string, number>();

  add(amounts: Amounts): void {
    this.#change(amounts, 1);
  }

  remove(amounts: Amounts): void {
    this.#change(amounts, -1);
  }

  clear(): void {
    this.milliCpu = 0;
    this.memory = 0;
    this.ephemeralStorage = 0;
    this.others.clear();
  }

  /** True while every addition can be undone exactly. */
  get isExact(): boolean {
    const most = Math.max(this.milliCpu, this.memory, this.ephemeralStorage, ...this.others.values());
    return most <= Number.MAX_SAFE_INTEGER;
  }

  #change(amounts: Amounts, sign: 1 | -1): void {
    this.milliCpu += sign * amounts.milliCpu;
    this.memory += sign * amounts.memory;
    this.ephemeralStorage += sign * amounts.ephemeralStorage;
    for (const [name, amount] of amounts.others) {
      const sum = (this.others.get(name) ?? 0) + sign * amount;
      if (sum === 0) this.others.delete(name);
      else this.others.set(name, sum);
    }
  }
}
