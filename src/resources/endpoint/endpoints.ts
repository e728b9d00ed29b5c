/** Endpoints: the addresses of a Service. It predates EndpointSlice and is kept for clients that read it. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type { EndpointAddress, EndpointPort, Endpoints } from "../../api/generated/types/core-v1.ts";
import { legacyIpAddress } from "../../api/values/ip-address.ts";
import { dns1123Label, dns1123Subdomain, portNumber } from "../../api/values/names.ts";
import { checkNonSpecialIp, PROTOCOLS } from "../rules/address-rules.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind, type Draft } from "../rules/kind-rules.ts";
import { checkQualifiedName, checkRequiredChoice } from "../rules/value-rules.ts";
import { repackSubsets } from "./subset-packing.ts";

/** Upper bound of the addresses shown; the rest is shown as a count. */
const SHOWN_MAX = 3;

export const endpoints = defineKind<Endpoints>("v1", "Endpoints", {
  defaults({ subsets = [] }) {
    for (const { ports = [] } of subsets) {
      for (const port of ports) port.protocol ??= "TCP";
    }
  },

  prepareCreate: packSubsets,
  prepareUpdate: packSubsets,

  validate({ subsets = [] }, errors) {
    for (const [i, { addresses = [], notReadyAddresses = [], ports = [] }] of subsets.entries()) {
      const path = fieldPath("subsets").index(i);
      if (addresses.length + notReadyAddresses.length === 0) {
        errors.required(path, "must specify `addresses` or `notReadyAddresses`");
      }
      for (const [j, it] of addresses.entries()) checkAddress(it, path.child("addresses").index(j), errors);
      for (const [j, it] of notReadyAddresses.entries()) {
        checkAddress(it, path.child("notReadyAddresses").index(j), errors);
      }
      const isNameRequired = ports.length > 1;
      for (const [j, port] of ports.entries()) {
        if (isNameRequired && port.name === undefined)
          errors.required(path.child("ports").index(j).child("name"));
        checkPort(port, path.child("ports").index(j), errors);
      }
    }
  },

  cells: (it, now) => [it.metadata.name, subsetsText(it), ageText(it, now)],
});

/** Stores all forms of the same endpoints as one packed form. */
function packSubsets(draft: Draft<Endpoints>): void {
  if (draft.subsets !== undefined && isPackable(draft)) draft.subsets = repackSubsets(draft.subsets);
}

/** Packing would drop a subset without addresses, and validation must report it. */
function isPackable({ subsets = [] }: Endpoints): boolean {
  return subsets.every(
    ({ addresses = [], notReadyAddresses = [] }) => addresses.length + notReadyAddresses.length > 0,
  );
}

function checkAddress(it: EndpointAddress, path: FieldPath, errors: FieldErrors): void {
  errors.invalidFor(path.child("ip"), it.ip, legacyIpAddress(it.ip));
  if (it.hostname !== undefined)
    errors.invalidFor(path.child("hostname"), it.hostname, dns1123Label(it.hostname));
  if (it.nodeName !== undefined) {
    errors.invalidFor(path.child("nodeName"), it.nodeName, dns1123Subdomain(it.nodeName));
  }
  checkNonSpecialIp(it.ip, path.child("ip"), errors);
}

function checkPort(port: EndpointPort, path: FieldPath, errors: FieldErrors): void {
  if (port.name !== undefined) errors.invalidFor(path.child("name"), port.name, dns1123Label(port.name));
  errors.invalidFor(path.child("port"), port.port, portNumber(port.port));
  checkRequiredChoice({ path: path.child("protocol"), value: port.protocol, among: PROTOCOLS }, errors);
  if (port.appProtocol !== undefined) checkQualifiedName(port.appProtocol, path.child("appProtocol"), errors);
}

function subsetsText({ subsets = [] }: Endpoints): string {
  if (subsets.length === 0) return "<none>";
  const all = subsets.flatMap(({ addresses = [], ports = [] }) =>
    ports.length === 0
      ? addresses.map(({ ip }) => ip)
      : ports.flatMap(({ port }) =>
          addresses.map(({ ip }) => (ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`)),
        ),
  );
  return listText(all);
}

/** The first `SHOWN_MAX` items, and the number of the others. */
export function listText(all: readonly string[]): string {
  const shown = all.slice(0, SHOWN_MAX).join(",");
  return all.length > SHOWN_MAX ? `${shown} + ${all.length - SHOWN_MAX} more...` : shown;
}
