/** Truncates very large Endpoints objects. Pure. */
import type { EndpointAddress, EndpointSubset } from "../../api/generated/types/core-v1.ts";

/** Upper bound of addresses in one Endpoints object, as upstream's. */
const ADDRESSES_MAX = 1000;

export interface TruncatedSubsets {
  readonly subsets: readonly EndpointSubset[];
  /** Addresses were left out. */
  readonly isCut: boolean;
}

/** Ready addresses go first. Each subset keeps its share of the remaining room. */
export function truncateToCapacity(subsets: readonly EndpointSubset[]): TruncatedSubsets {
  const ready = subsets.map(({ addresses }) => addresses?.length ?? 0);
  const notReady = subsets.map(({ notReadyAddresses }) => notReadyAddresses?.length ?? 0);
  if (sum(ready) + sum(notReady) <= ADDRESSES_MAX) return { subsets, isCut: false };
  const readyShares = shares(ready, ADDRESSES_MAX);
  const notReadyShares = shares(notReady, Math.max(0, ADDRESSES_MAX - sum(ready)));
  const cut = subsets.map(({ addresses, notReadyAddresses, ports }, at) => ({
    ...part("addresses", addresses, readyShares[at]),
    ...part("notReadyAddresses", notReadyAddresses, notReadyShares[at]),
    ...(ports !== undefined && { ports }),
  }));
  const shown = cut.filter((subset) => "addresses" in subset || "notReadyAddresses" in subset);
  return { subsets: shown, isCut: true };
}

/** Shares are rounded up, so the last subsets may get less. */
function shares(counts: readonly number[], room: number): readonly number[] {
  const total = sum(counts);
  let left = room;
  return counts.map((count) => {
    const share = total <= room ? count : Math.min(left, Math.ceil((count / total) * room));
    left -= share;
    return share;
  });
}

function part(
  name: "addresses" | "notReadyAddresses",
  addresses: readonly EndpointAddress[] | undefined,
  share = 0,
): Pick<EndpointSubset, typeof name> {
  const shown = addresses?.slice(0, share) ?? [];
  return shown.length === 0 ? {} : { [name]: shown };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
