/** EndpointSlice: some of the addresses of a Service. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type { Endpoint, EndpointPort, EndpointSlice } from "../../api/generated/types/discovery-v1.ts";
import { validateLabels } from "../../api/selectors/label-selector.ts";
import { findIpAddress } from "../../api/values/ip-address.ts";
import { dns1123Label, dns1123Subdomain, labelValue } from "../../api/values/names.ts";
import { checkNonSpecialIp, ipWarnings, PROTOCOLS } from "../rules/address-rules.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind, type Draft } from "../rules/kind-rules.ts";
import { addNew, checkQualifiedName, checkRequiredChoice, isSame } from "../rules/value-rules.ts";
import { listText } from "./endpoints.ts";

/** Limits that keep one slice, and a watch event for it, small. */
const ENDPOINTS_MAX = 1000;
const ADDRESSES_MAX = 100;
const PORTS_MAX = 20_000;
const TOPOLOGY_MAX = 16;
const HINTS_MAX = 8;

export const endpointSlice = defineKind<EndpointSlice>("discovery.k8s.io/v1", "EndpointSlice", {
  defaults({ ports }) {
    for (const port of ports) {
      port.name ??= "";
      port.protocol ??= "TCP";
    }
  },

  prepareCreate: dropTopology,
  prepareUpdate(draft, previous) {
    if (!isSame(draft.endpoints, previous.endpoints)) dropTopology(draft);
  },

  validate(it, errors) {
    const among = ["FQDN", "IPv4", "IPv6"];
    checkRequiredChoice({ path: fieldPath("addressType"), value: it.addressType, among }, errors);
    checkEndpoints(it, errors);
    checkPorts(it.ports, fieldPath("ports"), errors);
  },

  validateUpdate(next, previous, errors) {
    errors.immutable("addressType", next.addressType, previous.addressType);
  },

  isNewGeneration: (next, previous) => !isSame(next.metadata.labels, previous.metadata.labels),

  warnings: ({ addressType, endpoints }) => [
    ...(addressType === "FQDN" ? ["addressType: FQDN endpoints are deprecated"] : []),
    ...endpoints.flatMap(({ addresses }, i) =>
      addresses.flatMap((ip, j) =>
        ipWarnings(ip, fieldPath("endpoints").index(i).child("addresses").index(j)),
      ),
    ),
  ],

  cells: (it, now) => [
    it.metadata.name,
    it.addressType,
    listText(it.ports.map(({ name = "*", port }) => String(port ?? name))) || "<unset>",
    listText(it.endpoints.flatMap(({ addresses }) => addresses)) || "<unset>",
    ageText(it, now),
  ],
});

/** A field of a version that is no longer served: objects that have it from there keep it until their endpoints change. */
function dropTopology(draft: Draft<EndpointSlice>): void {
  draft.endpoints = draft.endpoints.map((endpoint) => {
    const { deprecatedTopology: _, ...others } = endpoint;
    return others;
  });
}

function checkEndpoints({ endpoints, addressType }: EndpointSlice, errors: FieldErrors): void {
  const path = fieldPath("endpoints");
  if (endpoints.length > ENDPOINTS_MAX) {
    errors.tooMany(path, endpoints.length, ENDPOINTS_MAX);
    return;
  }
  for (const [i, endpoint] of endpoints.entries()) {
    checkAddresses(endpoint, { addressType, path: path.index(i).child("addresses") }, errors);
    checkPlace(endpoint, path.index(i), errors);
  }
}

function checkAddresses(
  { addresses }: Endpoint,
  { addressType, path }: { readonly addressType: string; readonly path: FieldPath },
  errors: FieldErrors,
): void {
  if (addresses.length === 0) errors.required(path, "must contain at least 1 address");
  else if (addresses.length > ADDRESSES_MAX) errors.tooMany(path, addresses.length, ADDRESSES_MAX);
  for (const [i, address] of addresses.entries()) {
    if (addressType === "FQDN") checkDomain(address, path.index(i), errors);
    if (addressType !== "IPv4" && addressType !== "IPv6") continue;
    if (findIpAddress(address)?.family !== addressType) {
      errors.invalid(path.index(i), address, `must be a valid ${addressType} address`);
    } else {
      checkNonSpecialIp(address, path.index(i), errors);
    }
  }
}

function checkDomain(text: string, path: FieldPath, errors: FieldErrors): void {
  const name = text.replace(/\.$/, "");
  const problems = dns1123Subdomain(name);
  if (name === "") errors.required(path);
  else if (problems.length > 0) errors.invalid(path, name, problems.join(","));
  else if (name.split(".").length < 3) {
    errors.invalid(path, name, "should be a domain with at least three segments separated by dots");
  }
}

function checkPlace(endpoint: Endpoint, path: FieldPath, errors: FieldErrors): void {
  const { nodeName, hostname, deprecatedTopology = {}, hints } = endpoint;
  if (nodeName !== undefined) errors.invalidFor(path.child("nodeName"), nodeName, dns1123Subdomain(nodeName));
  const topology = path.child("deprecatedTopology");
  const count = Object.keys(deprecatedTopology).length;
  if (count > TOPOLOGY_MAX) errors.tooMany(topology, count, TOPOLOGY_MAX);
  validateLabels(deprecatedTopology, topology, errors);
  if (hostname !== undefined) errors.invalidFor(path.child("hostname"), hostname, dns1123Label(hostname));
  checkHints(hints?.forZones ?? [], path.child("hints", "forZones"), errors);
  checkHints(hints?.forNodes ?? [], path.child("hints", "forNodes"), errors);
}

function checkHints(hints: readonly { readonly name: string }[], path: FieldPath, errors: FieldErrors): void {
  if (hints.length > HINTS_MAX) {
    errors.tooMany(path, hints.length, HINTS_MAX);
    return;
  }
  const seen = new Set<string>();
  for (const [i, { name }] of hints.entries()) {
    const at = path.index(i).child("name");
    if (!addNew(seen, name)) errors.duplicate(at, name);
    errors.invalidFor(at, name, labelValue(name));
  }
}

function checkPorts(ports: readonly EndpointPort[], path: FieldPath, errors: FieldErrors): void {
  if (ports.length > PORTS_MAX) {
    errors.tooMany(path, ports.length, PORTS_MAX);
    return;
  }
  const names = new Set<string>();
  for (const [i, { name = "", protocol, appProtocol }] of ports.entries()) {
    const at = path.index(i);
    if (name !== "") errors.invalidFor(at.child("name"), name, dns1123Label(name));
    if (!addNew(names, name)) errors.duplicate(at.child("name"), name);
    checkRequiredChoice({ path: at.child("protocol"), value: protocol, among: PROTOCOLS }, errors);
    if (appProtocol !== undefined) checkQualifiedName(appProtocol, at.child("appProtocol"), errors);
  }
}
