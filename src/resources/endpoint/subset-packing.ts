/**
 * The packed form of subsets: every address and port once, addresses with the same ports together. What is packed
 * already stays as it is, order included, because clients pack before they write and compare with what they read.
 * Example: (a: 80), (b: 80), (a: 81), (b: 82), (a: 82) becomes (a, b: 80, 82), (a: 81).
 */

import type { EndpointAddress, EndpointPort, EndpointSubset } from "../../api/generated/types/core-v1.ts";
import { stringifyJson } from "../../api/json-text.ts";
import { draftCopy } from "../draft-copy.ts";
import type { Draft } from "../kind-rules.ts";

interface Packed {
  readonly ready: Map<string, EndpointAddress>;
  readonly notReady: Map<string, EndpointAddress>;
  readonly ports: EndpointPort[];
}

/** An address that is somewhere ready and elsewhere not, for the same port, is not ready. */
export function repackSubsets(subsets: readonly EndpointSubset[]): Draft<EndpointSubset>[] {
  return groupByAddresses(groupByPort(subsets)).map(toSubset);
}

/** For each port the addresses it can be reached at; an entry of its own stands for having no port. */
function groupByPort(subsets: readonly EndpointSubset[]): readonly Packed[] {
  const byPort = new Map<string, Packed>();
  for (const subset of subsets) {
    const ports = subset.ports ?? [];
    if (ports.length === 0) addAddresses(entryOf(byPort, undefined), subset);
    for (const port of ports) addAddresses(entryOf(byPort, port), subset);
  }
  for (const { ready, notReady } of byPort.values()) {
    for (const key of notReady.keys()) ready.delete(key);
  }
  return [...byPort.values()];
}

function entryOf(byPort: Map<string, Packed>, port: EndpointPort | undefined): Packed {
  const key = port === undefined ? "" : stringifyJson(port);
  const known = byPort.get(key);
  if (known !== undefined) return known;
  const entry: Packed = { ready: new Map(), notReady: new Map(), ports: port === undefined ? [] : [port] };
  byPort.set(key, entry);
  return entry;
}

function addAddresses(
  { ready, notReady }: Packed,
  { addresses = [], notReadyAddresses = [] }: EndpointSubset,
): void {
  for (const address of addresses) ready.set(addressKey(address), address);
  for (const address of notReadyAddresses) notReady.set(addressKey(address), address);
}

/** Ports with the very same addresses make one subset. */
function groupByAddresses(byPort: readonly Packed[]): readonly Packed[] {
  const grouped = new Map<string, Packed>();
  for (const packed of byPort) {
    const key = `${sortedKeys(packed.ready)}|${sortedKeys(packed.notReady)}|${packed.ports.length === 0}`;
    const group = grouped.get(key);
    if (group === undefined) grouped.set(key, packed);
    else group.ports.push(...packed.ports);
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

/** Two pods may have one address, when both are on the network of their node. */
function addressKey({ ip, targetRef }: EndpointAddress): string {
  return `${ip}/${targetRef?.uid ?? ""}`;
}

function sortedKeys(map: ReadonlyMap<string, unknown>): string {
  return [...map.keys()].toSorted().join(",");
}
