/**
 * Finds Services and claims of addresses that do not fit each other, and makes them fit. Our own servers write both in one
 * transaction; what is found here was left by a backup, by a server of another make, or by somebody who edited the claims.
 */
import type { Service } from "../../../api/generated/types/core-v1.ts";
import type { IPAddress } from "../../../api/generated/types/networking-v1.ts";
import { findIpAddress, ipAddressText } from "../../../api/values/ip-address.ts";
import type { IpAddress } from "../../../api/values/ip-address.ts";
import { prefixEnd } from "../../../store/store.ts";
import type { Compare, Entry, Transaction, View } from "../../../store/store.ts";
import { requireStored } from "../../objects/registry.ts";
import type { Registry, StoredResource } from "../../objects/registry.ts";
import { findReadable, StoredObject } from "../../objects/stored-object.ts";
import { prefixOf } from "../../objects/versions.ts";
import { isClaimOf, isServiceClaim, parentKey } from "./address-claim.ts";
import type { AddressClaims } from "./address-claim.ts";
import { addressesOf } from "./cluster-addresses.ts";

/** A kube-apiserver claims an address a moment before it writes the Service. */
const GRACE_MS = 60_000;

export type AddressFault =
  /** A Service without the claim of its address. */
  | { readonly type: "unclaimed"; readonly address: string; readonly service: string }
  /** A Service whose address is claimed for somebody who does not have it. */
  | { readonly type: "misnamed"; readonly address: string; readonly service: string }
  /** A claim of nobody, or of a Service that has no such address, where no other Service has it. */
  | { readonly type: "stray"; readonly address: string }
  /** Two Services have it. Only people can say whose it is. */
  | { readonly type: "contested"; readonly address: string; readonly service: string };

export interface AddressFinding {
  readonly fault: AddressFault;
  /** What mends it, if nothing changed meanwhile; undefined when nothing does. */
  readonly repair: Transaction | undefined;
}

export interface AddressInspection {
  /** One consistent state: nothing is found that was only on its way. */
  readonly view: View;
  readonly claims: AddressClaims;
  readonly registry: Registry;
  readonly now: number;
}

/** What is wrong, at most one finding for each look at an entry; undefined where nothing is. For callers who take breaks. */
export function* inspectAddresses(inspection: AddressInspection): Generator<AddressFinding | undefined> {
  const { view, registry } = inspection;
  for (const entry of entriesOf(view, requireStored(registry, "", "services"))) {
    const service = StoredObject.of(entry).glimpse() as Service;
    for (const address of addressesOf(service)) yield inspectAddress(address, { entry, service }, inspection);
    yield undefined;
  }
  for (const entry of entriesOf(view, requireStored(registry, "networking.k8s.io", "ipaddresses"))) {
    yield inspectClaim(entry, inspection);
  }
}

function entriesOf(view: View, resource: StoredResource): Iterable<Entry> {
  const prefix = prefixOf(resource, "");
  return view.range(prefix, prefixEnd(prefix));
}

interface Seen {
  readonly entry: Entry;
  readonly service: Service;
}

function inspectAddress(
  address: IpAddress,
  { entry, service }: Seen,
  { view, claims }: AddressInspection,
): AddressFinding | undefined {
  const fault = {
    address: ipAddressText(address),
    service: `${service.metadata.namespace ?? ""}/${service.metadata.name}`,
  };
  const claim = claims.find(view, address);
  if (claim !== undefined && (isClaimOf(claim, service) || findReadable(claim) === undefined))
    return undefined;
  if (claim !== undefined && isRightful(claim, view)) {
    return { fault: { type: "contested", ...fault }, repair: undefined };
  }
  // In one step, also over a claim of somebody who has no right to it: nobody else gets the address meanwhile.
  const compare = asSeen(view, [entry.key, claims.key(address), ...parentOf(claim)]);
  const repair = { compare, changes: [claims.put(address, service)] };
  return { fault: { type: claim === undefined ? "unclaimed" : "misnamed", ...fault }, repair };
}

function inspectClaim(entry: Entry, { view, now }: AddressInspection): AddressFinding | undefined {
  if (!isServiceClaim(entry) || isRightful(entry, view)) return undefined;
  const { metadata } = StoredObject.of(entry).glimpse();
  if (now - Date.parse(metadata.creationTimestamp ?? "") < GRACE_MS) return undefined;
  const compare = asSeen(view, [entry.key, ...parentOf(entry)]);
  const repair: Transaction = { compare, changes: [{ type: "delete", key: entry.key }] };
  return { fault: { type: "stray", address: metadata.name ?? "" }, repair };
}

/** That the keys are as they were looked at. */
function asSeen(view: View, keys: readonly string[]): readonly Compare[] {
  return keys.map((key) => ({ key, modRevision: view.get(key)?.modRevision ?? 0 }));
}

function parentOf(claim: Entry | undefined): readonly string[] {
  const key = claim === undefined ? undefined : parentKey(claim);
  return key === undefined ? [] : [key];
}

/** Whether the Service that it names is there and has the address. Of a Service that cannot be read nothing else can be said. */
function isRightful(claim: Entry, view: View): boolean {
  const key = parentKey(claim);
  const entry = key === undefined ? undefined : view.get(key);
  if (entry === undefined) return false;
  const claimed = findIpAddress((StoredObject.of(claim).glimpse() as IPAddress).metadata.name);
  const service = findReadable(entry) as Service | undefined;
  if (service === undefined) return true;
  const owned = addressesOf(service).map(ipAddressText);
  return claimed !== undefined && owned.includes(ipAddressText(claimed));
}
