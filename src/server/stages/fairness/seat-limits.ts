/** Divides the seats of the server between the priority levels. */
import type { PriorityLevelConfigurationSpec } from "../../../api/generated/types/flowcontrol-v1.ts";

export interface SeatLimits {
  /** Seats that the level always has. */
  readonly nominal: number;
  /** Seats of `nominal` that other levels may use while free. */
  readonly lendable: number;
  /** Seats that the level may use beyond its own. */
  readonly borrowable: number;
}

/** Divides in proportion to the shares; a level with any share gets at least one seat. */
export function seatLimits(
  specs: ReadonlyMap<string, PriorityLevelConfigurationSpec>,
  seats: number,
): ReadonlyMap<string, SeatLimits> {
  let sum = 0;
  for (const spec of specs.values()) sum += sharesOf(spec);
  const limits = new Map<string, SeatLimits>();
  for (const [name, spec] of specs) {
    const nominal = sum === 0 ? 0 : Math.ceil((seats * sharesOf(spec)) / sum);
    limits.set(name, {
      nominal,
      lendable: percentOf(nominal, lendablePercent(spec)),
      borrowable: borrowableOf(nominal, spec),
    });
  }
  return limits;
}

function sharesOf({ exempt, limited }: PriorityLevelConfigurationSpec): number {
  return limited?.nominalConcurrencyShares ?? exempt?.nominalConcurrencyShares ?? 0;
}

function lendablePercent({ exempt, limited }: PriorityLevelConfigurationSpec): number {
  return limited?.lendablePercent ?? exempt?.lendablePercent ?? 0;
}

function borrowableOf(nominal: number, { limited }: PriorityLevelConfigurationSpec): number {
  const percent = limited?.borrowingLimitPercent;
  return percent === undefined ? Infinity : percentOf(nominal, percent);
}

function percentOf(seats: number, percent: number): number {
  return Math.round((seats * percent) / 100);
}
