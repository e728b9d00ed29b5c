/**
 * The packed form of subsets: every address and port once, addresses with the same ports together. Packed
 * subsets keep their order, because clients pack before they write and compare the stored object with their own.
 * Example: (a: 80), (b: 80), (a: 81), (b: 82), (a: 82) becomes (a, b: 80, 82), (a: 81).
 */

import { requestEntityTooLarge } from "../../api/errors/api-error.ts";
import type { EndpointAddress, EndpointPort, EndpointSubset } from "../../api/generated/types/core-v1.ts";
import { stringifyJson } from "../../api/json/json-text.ts";
import { draftCopy } from "../rules/draft-copy.ts";
import type { Draft } from "../rules/kind-rules.ts";

/** An object with more addresses is too large to be stored: each takes at least 16 bytes. */
const ADDRESSES_MAX = 200_000;

interface Packed {
  readonly ready: Map<string, EndpointAddress>;
  readonly notReady: Map<string, EndpointAddress>;
  readonly ports: EndpointPort[];
}

/** An address that is both ready and not ready for one port counts as not ready. */
export function repackSubsets(subsets: readonly EndpointSubset[]): Draft<EndpointSubset>[] {
  return groupByAddresses(groupByPort(subsets)).map(toSubset);
}

/** The addresses for each port; addresses without a port have an entry of their own. */
function groupByPort(subsets: readonly EndpointSubset[]): readonly Packed[] {
  const groups = new Map<string, Packed>();
  let addresses = 0;
  for (const { port, within } of portsOf(subsets)) {
    const key = within.join(",");
    const known = groups.get(key);
    if (known !== undefined) {
      if (port !== undefined) known.ports.push(port);
      continue;
    }
    const packed: Packed = { ready: new Map(), notReady: new Map(), ports: port === undefined ? [] : [port] };
    for (const at of within) {
      addresses += addAddresses(packed, subsets[at] ?? {});
      if (addresses > ADDRESSES_MAX) throw requestEntityTooLarge(`limit is ${ADDRESSES_MAX} addresses`);
    }
    for (const each of packed.notReady.keys()) packed.ready.delete(each);
    groups.set(key, packed);
  }
  return [...groups.values()];
}

interface PlacedPort {
  readonly port: EndpointPort | undefined;
  /** The subsets that have it. */
  readonly within: number[];
}

function portsOf(subsets: readonly EndpointSubset[]): Iterable<PlacedPort> {
  const placed = new Map<string, PlacedPort>();
  for (const [at, { ports = [] }] of subsets.entries()) {
    for (const port of ports.length === 0 ? [undefined] : ports) {
      const key = port === undefined ? "" : stringifyJson(port);
      const known = placed.get(key);
      if (known === undefined) placed.set(key, { port, within: [at] });
      else if (known.within.at(-1) !== at) known.within.push(at);
    }
  }
  return placed.values();
}

/** How many it added, those included that were there. */
function addAddresses(
  { ready, notReady }: Packed,
  { addresses = [], notReadyAddresses = [] }: EndpointSubset,
): number {
  for (const address of addresses) ready.set(addressKey(address), address);
  for (const address of notReadyAddresses) notReady.set(addressKey(address), address);
  return addresses.length + notReadyAddresses.length;
}

/** Ports with the same addresses make one subset. */
function groupByAddresses(byPort: readonly Packed[]): readonly Packed[] {
  const grouped = new Map<string, Packed>();
  for (const packed of byPort) {
    const key = `${sortedKeys(packed.ready)}|${sortedKeys(packed.notReady)}|${packed.ports.length === 0}`;
    const group = grouped.get(key);
    if (group === undefined) grouped.set(key, packed);
    else for (const port of packed.ports) group.ports.push(port);
  }
  return [...grouped.values()];
}

function toSubset({ ready, notReady, ports }: Packed): Draft<EndpointSubset> {
  return draftCopy({
    ...(ready.size > 0 ? { addresses: [...ready.values()] } : {}),
    ...(notReady.size > 0 ? { notReadyAddresses: [...notReady.values()] } : {}),
    ...(ports.length > 0 ? { ports } : {}),
  });
}

/** Includes the pod's uid, because pods on the host network of one node share an address. */
function addressKey({ ip, targetRef }: EndpointAddress): string {
  return `${ip}/${targetRef?.uid ?? ""}`;
}

function sortedKeys(map: ReadonlyMap<string, unknown>): string {
  return [...map.keys()].toSorted().join(",");
}
