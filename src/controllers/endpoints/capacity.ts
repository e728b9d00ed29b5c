/** How much of very many addresses the older form of endpoints shows. Pure. */
import type { EndpointAddress, EndpointSubset } from "../../api/generated/types/core-v1.ts";

/** More than clients of this form can be expected to take; as upstream's. */
const ADDRESSES_MAX = 1000;

export interface Cut {
  readonly subsets: readonly EndpointSubset[];
  /** There are more addresses than are shown. */
  readonly isCut: boolean;
}

/** Ready ones go before all others; each subset keeps its share of those that must be cut. */
export function cutToCapacity(subsets: readonly EndpointSubset[]): Cut {
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

/** Rounded up, so the last ones may get less than their share. */
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
