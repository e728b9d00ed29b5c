/**
 * Finds Services and IPAddress objects that contradict each other, and repairs them. Our servers write both in one
 * transaction. A contradiction comes from a restored backup, from another server or from an edit of the IPAddress
 * objects.
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

/** A kube-apiserver creates the IPAddress shortly before it writes the Service. */
const GRACE_MS = 60_000;

export type AddressFault =
  /** The address of the Service has no IPAddress object. */
  | { readonly type: "unclaimed"; readonly address: string; readonly service: string }
  /** The IPAddress names a parent that does not have this address. */
  | { readonly type: "misnamed"; readonly address: string; readonly service: string }
  /** An IPAddress without a Service that has this address. */
  | { readonly type: "stray"; readonly address: string }
  /** Two Services have the address. Only an administrator can decide between them. */
  | { readonly type: "contested"; readonly address: string; readonly service: string };

export interface AddressFinding {
  readonly fault: AddressFault;
  /** Transaction that repairs the fault; it fails if a key changed meanwhile. Undefined if there is no repair. */
  readonly repair: Transaction | undefined;
}

export interface AddressInspection {
  /** One consistent snapshot, so that writes in flight are not reported as faults. */
  readonly view: View;
  readonly claims: AddressClaims;
  readonly registry: Registry;
  readonly now: number;
}

/** Yields a finding, or undefined for a step without one, so that callers can pause between steps. */
export function* inspectAddresses(inspection: AddressInspection): Generator<AddressFinding | undefined> {
  const { view, registry } = inspection;
  for (const entry of entriesOf(view, requireStored(registry, "", "services"))) {
    const service = StoredObject.of(entry).peek() as Service;
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
  // One transaction creates the IPAddress or replaces a wrong one: no other Service gets the address meanwhile.
  const compare = asSeen(view, [entry.key, claims.key(address), ...parentOf(claim)]);
  const repair = { compare, changes: [claims.put(address, service)] };
  return { fault: { type: claim === undefined ? "unclaimed" : "misnamed", ...fault }, repair };
}

function inspectClaim(entry: Entry, { view, now }: AddressInspection): AddressFinding | undefined {
  if (!isServiceClaim(entry) || isRightful(entry, view)) return undefined;
  const { metadata } = StoredObject.of(entry).peek();
  if (now - Date.parse(metadata.creationTimestamp ?? "") < GRACE_MS) return undefined;
  const compare = asSeen(view, [entry.key, ...parentOf(entry)]);
  const repair: Transaction = { compare, changes: [{ type: "delete", key: entry.key }] };
  return { fault: { type: "stray", address: metadata.name ?? "" }, repair };
}

/** Condition that the keys are unchanged since the inspection. */
function asSeen(view: View, keys: readonly string[]): readonly Compare[] {
  return keys.map((key) => ({ key, modRevision: view.get(key)?.modRevision ?? 0 }));
}

function parentOf(claim: Entry | undefined): readonly string[] {
  const key = claim === undefined ? undefined : parentKey(claim);
  return key === undefined ? [] : [key];
}

/** Whether the parent Service exists and has the address. A Service that cannot be decoded counts as having it. */
function isRightful(claim: Entry, view: View): boolean {
  const key = parentKey(claim);
  const entry = key === undefined ? undefined : view.get(key);
  if (entry === undefined) return false;
  const claimed = findIpAddress((StoredObject.of(claim).peek() as IPAddress).metadata.name);
  const service = findReadable(entry) as Service | undefined;
  if (service === undefined) return true;
  const owned = addressesOf(service).map(ipAddressText);
  return claimed !== undefined && owned.includes(ipAddressText(claimed));
}
