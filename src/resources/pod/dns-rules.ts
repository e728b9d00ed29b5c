/** Validates DNS settings, host names and host aliases of a pod. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import type { HostAlias, PodDNSConfig, PodSpec } from "../../api/generated/types/core-v1.ts";
import { legacyIpAddress } from "../../api/values/ip-address.ts";
import { dns1123Label, dns1123Subdomain } from "../../api/values/names.ts";
import { checkRequiredChoice } from "../rules/value-rules.ts";

const POLICIES = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
/** Limits of Linux's resolver. */
const NAMESERVERS_MAX = 3;
const SEARCHES_MAX = 32;
const SEARCH_CHARACTERS_MAX = 2048;

export function checkDns(spec: PodSpec, path: FieldPath, errors: FieldErrors): void {
  checkRequiredChoice({ path: path.child("dnsPolicy"), value: spec.dnsPolicy, among: POLICIES }, errors);
  const at = path.child("dnsConfig");
  if (spec.dnsPolicy === "None") {
    if (spec.dnsConfig === undefined) {
      return errors.required(at, "must provide `dnsConfig` when `dnsPolicy` is None");
    }
    if ((spec.dnsConfig.nameservers ?? []).length === 0) {
      const problem = "must provide at least one DNS nameserver when `dnsPolicy` is None";
      return errors.required(at.child("nameservers"), problem);
    }
  }
  if (spec.dnsConfig !== undefined) checkDnsConfig(spec.dnsConfig, at, errors);
}

function checkDnsConfig(config: PodDNSConfig, path: FieldPath, errors: FieldErrors): void {
  const { nameservers = [], searches = [], options = [] } = config;
  const servers = path.child("nameservers");
  if (nameservers.length > NAMESERVERS_MAX) {
    errors.invalid(servers, nameservers, `must not have more than ${NAMESERVERS_MAX} nameservers`);
  }
  for (const [i, server] of nameservers.entries()) {
    errors.invalidFor(servers.index(i), server, legacyIpAddress(server));
  }
  checkSearches(searches, path.child("searches"), errors);
  for (const [i, { name = "" }] of options.entries()) {
    if (name === "") errors.required(path.child("options").index(i), "must not be empty");
  }
}

function checkSearches(searches: readonly string[], path: FieldPath, errors: FieldErrors): void {
  if (searches.length > SEARCHES_MAX) {
    errors.invalid(path, searches, `must not have more than ${SEARCHES_MAX} search paths`);
  }
  if (searches.join(" ").length > SEARCH_CHARACTERS_MAX) {
    const problem = `must not have more than ${SEARCH_CHARACTERS_MAX} characters (including spaces) in the search list`;
    errors.invalid(path, searches, problem);
  }
  for (const [i, search] of searches.entries()) {
    if (search === ".") continue;
    const name = search.replace(/\.$/, "");
    // Search paths may contain underscores, as Service names in DNS do.
    errors.invalidFor(path.index(i), name, dns1123Subdomain(name.replaceAll("_", "a")));
  }
}

export function checkHostAliases(aliases: readonly HostAlias[], path: FieldPath, errors: FieldErrors): void {
  for (const [i, { ip, hostnames = [] }] of aliases.entries()) {
    errors.invalidFor(path.index(i).child("ip"), ip, legacyIpAddress(ip));
    for (const [j, name] of hostnames.entries()) {
      errors.invalidFor(path.index(i).child("hostnames").index(j), name, dns1123Subdomain(name));
    }
  }
}

export function checkHostname(spec: PodSpec, path: FieldPath, errors: FieldErrors): void {
  for (const field of ["hostname", "subdomain"] as const) {
    const name = spec[field];
    if (name !== undefined) errors.invalidFor(path.child(field), name, dns1123Label(name));
  }
  const { hostnameOverride } = spec;
  if (hostnameOverride === undefined) return;
  const at = path.child("hostnameOverride");
  errors.invalidFor(at, hostnameOverride, dns1123Subdomain(hostnameOverride));
  // Upper bound of a host name on Linux.
  if (hostnameOverride.length > 64) errors.tooLong(at, 64);
  if (spec.hostNetwork === true) errors.forbidden(at, "may not be specified when hostNetwork is true");
  if (spec.setHostnameAsFQDN === true)
    errors.forbidden(at, "may not be specified when setHostnameAsFQDN is true");
}
