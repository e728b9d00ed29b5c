/** Reads the ServiceCIDR objects: the blocks from which Services get their addresses. */
import type { ServiceCIDR } from "../../../api/generated/types/networking-v1.ts";
import { cidrText, findCidr } from "../../../api/values/ip-address.ts";
import type { Cidr } from "../../../api/values/ip-address.ts";
import type { IpFamily } from "../../../resources/service/service-families.ts";
import { prefixEnd } from "../../../store/store.ts";
import type { View } from "../../../store/store.ts";
import { StoredObject } from "../../objects/stored-object.ts";
import { AddressRange } from "./address-range.ts";

const PREFIX = "/registry/servicecidrs/";

/** Name of the object that the server maintains. Its first family is the default family of the cluster. */
export const DEFAULT_SERVICE_CIDR = "kubernetes";

export interface ServiceRange {
  readonly block: Cidr;
  readonly addresses: AddressRange;
}

/** Blocks that new addresses are taken from, the server's own first. A ServiceCIDR in deletion is left out. */
export function serviceRanges(view: View): readonly ServiceRange[] {
  const found: { readonly isDefault: boolean; readonly ranges: readonly ServiceRange[] }[] = [];
  for (const entry of view.range(PREFIX, prefixEnd(PREFIX))) {
    const object = StoredObject.of(entry).object as ServiceCIDR;
    if (!isOpen(object)) continue;
    const ranges = (object.spec.cidrs ?? []).flatMap((text) => rangeOf(text));
    found.push({ isDefault: object.metadata.name === DEFAULT_SERVICE_CIDR, ranges });
  }
  const ordered = [
    ...found.filter(({ isDefault }) => isDefault),
    ...found.filter(({ isDefault }) => !isDefault),
  ];
  return ordered.flatMap(({ ranges }) => ranges);
}

/** Controllers set `Ready` on a new ServiceCIDR only later, so only an explicit `False` excludes it. */
function isOpen({ metadata, status }: ServiceCIDR): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  return !(status.conditions ?? []).some(({ type, status: is }) => type === "Ready" && is === "False");
}

function rangeOf(text: string): readonly ServiceRange[] {
  const block = findCidr(text);
  return block === undefined ? [] : [{ block, addresses: new AddressRange(block) }];
}

/** IP families of the cluster, the default one first. */
export function familiesOf(ranges: readonly ServiceRange[]): readonly IpFamily[] {
  return [...new Set(ranges.map(({ addresses }) => addresses.family))];
}

/** CIDRs of one family for error messages, for example `10.96.0.0/12`, joined by commas. */
export function rangesText(ranges: readonly ServiceRange[], family: IpFamily): string {
  return ranges
    .filter(({ addresses }) => addresses.family === family)
    .map(({ block }) => cidrText(block))
    .join(", ");
}
